"""JSON files of other tools: read with every problem placed, by file, path and key."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.uploads.checks import character
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.problems import Place, Report
from metaeval.messages import Message, message

ESCAPES = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
TABLES = (".csv", ".tsv", ".jsonl")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    dict: "an object",
    list: "a list",
    type(None): "null",
}


def read_json(file: InputFile, report: Report, *, is_checked: bool = True) -> Any:
    """Return what a JSON file holds, or None with the reason reported.

    Readers that check every text themselves, and name its place in their words, say so.
    """
    text = read_text(file, report)
    if text is None:
        return None
    try:
        values = parse(text)
    except json.JSONDecodeError as error:
        report.error(_no_json(file.name, error), Place(file.name, error.lineno))
    except (ValueError, RecursionError) as error:
        report.error(
            message("json.unusable", "This JSON cannot be used: {reason}.", reason=str(error)),
            Place(file.name),
        )
    else:
        for path, sign in unstorable(values) if is_checked and ESCAPES.search(text) else ():
            refusal = message(
                "json.character",
                "The text contains the character {character}, which is not allowed.",
                character=character(sign),
            )
            report.error(refusal, Place(file.name, None, path))
        return values
    return None


def _no_json(name: str, error: json.JSONDecodeError) -> Message:
    if name.lower().endswith(TABLES):
        return message(
            "json.is-table",
            "This file is not JSON. Use Import › A table of judgments, or import_judgments.",
        )
    return message(
        "json.invalid",
        "This file is not JSON: {reason} at character {column}.",
        reason=error.msg,
        column=error.colno,
    )


def parse(text: str) -> Any:
    """Return what JSON says. Raises ValueError for what is none, and for NaN and infinities."""
    return json.loads(text, parse_constant=_refuse)


def unstorable(values: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and character of texts and names that no database holds: NUL, half a surrogate.

    In UTF-8 they can only be written as escapes, which a file is searched for first (ESCAPES).
    """
    waiting = [(path, values)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}".lstrip("."), each) for key, each in value.items()]
            waiting += [(path, key) for key in value]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(value)]
        elif isinstance(value, str) and (found := UNSTORABLE.search(value)):
            yield path, found[0]


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


@dataclass(frozen=True)
class Keys:
    """An object of a JSON file, which knows where it stands when a value is wrong."""

    values: Mapping[str, Any]
    file: str
    where: str
    report: Report

    def place(self, key: str = "") -> Place:
        """Where a value stands: file, and the path to it."""
        return Place(self.file, None, ", ".join(part for part in (self.where, key) if part))

    def error(self, key: str, message: str) -> None:
        """Report something about a value."""
        self.report.error(message, self.place(key))

    def get(self, key: str, *types: type, default: Any = None, required: bool = True) -> Any:
        """Return a value of one of these types; else the default, with the reason reported.

        True and false are no numbers here.
        """
        if key not in self.values:
            if required:
                self.error(key, f"the key “{key}” is missing")
            return default
        value = self.values[key]
        if type(value) not in types:
            wanted = " or ".join(dict.fromkeys(NAMES[each] for each in types))
            self.error(key, f"“{key}” is {NAMES[type(value)]}, not {wanted}")
            return default
        return value

    def name(self, key: str, *, required: bool = True) -> str:
        """Return an id: text, or a whole number written as text."""
        value = self.get(key, str, int, default="", required=required)
        text = str(value).strip()
        if required and isinstance(self.values.get(key), str) and not text:
            self.error(key, f"“{key}” is empty")
        return text

    def text(self, key: str) -> str:
        """Return a text as it stands."""
        text: str = self.get(key, str, default="")
        return text

    def whole(self, key: str, low: int, high: int) -> int:
        """Return a whole number in a range, `low` where it is none."""
        value: int = self.get(key, int, default=low)
        if not low <= value <= high:
            self.error(key, f"“{key}” is {value}, not from {low} to {high}")
            return low
        return value
