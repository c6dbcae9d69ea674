"""Build requests as data: bodies of chat completions, schemas of answers, keys."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from extensions.judges import prompts
from extensions.judges.context import Endpoint, Question
from extensions.judges.prompts import Template
from extensions.judges.scoring.reading import SEVERITIES, SIDES
from metrics.options import Options

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def schema_of(kind: str, labels: Sequence[str]) -> dict[str, Any]:
    """Return the strict JSON schema of an answer."""
    if kind == prompts.SCORE:
        return _object({"score": {"type": "number"}})
    if kind == prompts.PAIRS:
        return _object({"better": {"type": "string", "enum": ["A", "B", "tie"]}})
    if kind == prompts.LISTS:
        return _object({"ranks": _object({label: {"type": "integer"} for label in labels})})
    error = {
        "side": {"type": "string", "enum": list(SIDES)},
        **{name: {"type": "string"} for name in ("span", "context", "category")},
        "severity": {"type": "string", "enum": list(SEVERITIES)},
    }
    return _object({"errors": {"type": "array", "items": _object(error)}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


class QuestionBuilder:
    """Build the questions of one judge; with `has_schema` the server gets a JSON schema."""

    def __init__(
        self, endpoint: Endpoint, template: Template, options: Options, *, has_schema: bool
    ) -> None:
        self.endpoint, self.template, self.options = endpoint, template, options
        self.has_schema = has_schema

    def question(
        self, values: Mapping[str, str], number: int, labels: Sequence[str] = ()
    ) -> Question:
        """Return the question of one pass, counted from 0, about texts."""
        options = self.options
        body: dict[str, Any] = {
            "model": options["model"],
            "messages": self.template.messages(values),
            str(options["limit_name"]): options["limit"],
        }
        if options["sampling"] == "sent":
            body |= {"temperature": options["temperature"], "top_p": options["top_p"]}
            body["seed"] = seed_of(int(options["seed"]), number)
        if self.has_schema:
            body["response_format"] = self.response_format(labels)
        return Question(key_of(self.endpoint, body, number), body, tuple(labels))

    def response_format(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return the part of a request that asks for an answer of the schema."""
        schema = schema_of(self.template.kind, labels)
        named = {"name": "judgment", "strict": True, "schema": schema}
        return {"type": "json_schema", "json_schema": named}


def key_of(endpoint: Endpoint, body: Mapping[str, Any], number: int) -> str:
    """Return 64 digits that change with the endpoint, anything in the body, and the pass."""
    text = json.dumps([endpoint.name, endpoint.url, body, number], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def seed_of(seed: int, number: int) -> int:
    """Return the seed of a pass: the given one for the first, others by hash."""
    if not number:
        return seed
    digest = hashlib.sha256(f"{seed}:{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
