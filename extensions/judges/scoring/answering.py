"""Turn questions into verdicts: read stored replies, ask the rest, at most twice."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from extensions.judges import prompts
from extensions.judges.client import Client, StoppedError
from extensions.judges.context import Endpoint, JudgeContext, Question, Reply
from extensions.judges.prompts import Template
from extensions.judges.request_pool import Answered, RequestPool, TokenBudget
from extensions.judges.scoring import reading
from extensions.judges.scoring.reading import SEVERITIES, SIDES, UnusableError, Verdict
from metaeval.messages import Message, message
from metrics.base import MetricError
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
            "messages": self.template.messages(values, labels),
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
        schema = schema_of(self.template.asks_for(labels), labels)
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


# Number of times a run asks a question before its reply counts as missing.
ATTEMPTS = 2
# Number of questions looked up in one query.
READ_AT_ONCE = 512
NO_BUDGET = message(
    "judge.budget-spent",
    "The run stopped because its budget is spent. The answers are stored, and a new run continues "
    "from there.",
)
Read = Callable[[Question, Reply], Verdict]


@dataclass
class Answers:
    """Verdicts by the keys of their questions, unusable replies, and the error that ended it."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    unusable: dict[str, Message] = field(default_factory=dict)
    error: MetricError | None = None


def read_reply(template: Template) -> Read:
    """Return the function that reads replies to a template."""

    def read(question: Question, reply: Reply) -> Verdict:
        text = reading.content_of(reply.status, reply.body)
        kind = template.asks_for(question.labels)
        return reading.read(kind, text, template.classes or question.labels)

    return read


class Source(Protocol):
    """Questions that come while others are asked."""

    def more(self, n: int) -> Sequence[Question]:
        """Return about n further questions; none if no more come."""
        ...

    def finish(self, keys: Iterable[str]) -> None:
        """Take the keys of questions that have a verdict or only unusable replies."""
        ...


class Asking:
    """Ask questions as they come. `found` holds the answers so far."""

    def __init__(self, context: JudgeContext, client: Client, read: Read, limit: int) -> None:
        self.context, self.client, self.read = context, client, read
        self.limit = limit
        self.found = Answers()
        self._n_asked: dict[str, int] = {}
        self._open: set[str] = set()

    def ask(self, source: Source) -> None:
        """Answer every question of a source, from stored replies or by asking."""
        while not self.found.error and (questions := source.more(READ_AT_ONCE)):
            if open_ := self._stored(source, questions):
                with self.context.connections() as n:
                    self._ask(source, open_, n)

    def forget(self, key: str) -> None:
        """Drop a verdict that is no longer needed; its reply is stored."""
        self.found.verdicts.pop(key, None)
        self.found.unusable.pop(key, None)

    def _stored(self, source: Source, questions: Sequence[Question]) -> list[Question]:
        """Read stored replies; return the questions that have to be asked."""
        unique = {question.key: question for question in questions if not self._is_known(question)}
        stored = self.context.stored(list(unique))
        open_ = [q for key, q in unique.items() if not self._is_answered(q, stored.get(key, ()))]
        self._open |= {question.key for question in open_}
        if n_read := len(unique) - len(open_):
            self.context.note(reread=n_read)
        source.finish(q.key for q in questions if q.key not in self._open)
        return open_

    def _is_known(self, question: Question) -> bool:
        key = question.key
        return key in self._open or key in self.found.verdicts or key in self.found.unusable

    def _is_answered(self, question: Question, replies: Sequence[Reply]) -> bool:
        """Take the first usable reply; return True if there is one, or no attempt is left."""
        for reply in replies:
            if self._take(question, reply):
                return True
        self._n_asked[question.key] = sum(reply.is_new for reply in replies)
        is_enough = self._n_asked[question.key] >= ATTEMPTS
        if not is_enough:
            self.found.unusable.pop(question.key, None)
        return is_enough

    def _take(self, question: Question, reply: Reply) -> bool:
        try:
            self.found.verdicts[question.key] = self.read(question, reply)
        except UnusableError as error:
            self.found.unusable[question.key] = error.message
            return False
        self.found.unusable.pop(question.key, None)
        return True

    def _ask(self, source: Source, questions: Sequence[Question], n: int) -> None:
        budget = TokenBudget(self.context.endpoint, self.limit)
        budget.fill(*self.context.left())
        pool = RequestPool(self.client, budget, questions, n)
        lost, beat = self.client.lost, self.context.keep_connections
        try:
            for answered in pool.answers(beat):
                self._store(answered, budget)
                source.finish([q.key for q, answer in answered if self._receive(q, answer, pool)])
                if (n_wanted := pool.n_wanted) and not self.found.error:
                    pool.extend(self._stored(source, source.more(n_wanted)))
        except Exception:
            for answered in pool.rest(beat):
                self._store(answered, budget)
            raise
        finally:
            self.context.note(lost=self.client.lost - lost)

    def _store(self, answered: Sequence[Answered], budget: TokenBudget) -> None:
        """Store replies before anything else is done with them."""
        replies = [(q, answer) for q, answer in answered if isinstance(answer, Reply)]
        if replies:
            tokens = self.context.store(replies)
            budget.fill(*self.context.left())
        counted = iter(tokens if replies else ())
        for question, answer in answered:
            budget.settle(question, next(counted) if isinstance(answer, Reply) else 0)

    def _receive(self, question: Question, answer: Reply | Exception, pool: RequestPool) -> bool:
        """Take an answer; return True if its question is finished."""
        if isinstance(answer, Reply):
            self._n_asked[question.key] = self._n_asked.get(question.key, 0) + 1
            if not self._take(question, answer) and self._n_asked[question.key] < ATTEMPTS:
                self.found.unusable.pop(question.key)
                pool.extend([question])
                return False
            self._open.discard(question.key)
            del self._n_asked[question.key]
            return True
        pool.stop()
        if isinstance(answer, StoppedError):
            self.found.error = self.found.error or MetricError(NO_BUDGET, permanent=True)
        elif isinstance(answer, MetricError):
            self.found.error = answer
        else:
            raise answer
        return False
