"""Data and the protocol that a judge needs of its run: pure, for web and workers."""

import contextvars
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from extensions.judges.prompts import Template
from metaeval.messages import message
from metrics.options import OptionError


@dataclass(frozen=True)
class Endpoint:
    """A server that the site's admin declared; `key_variable` is the variable with its key.

    Prices are in `currency` per million tokens, as of `priced_on`. `timeout` is in seconds, for a
    whole reply.
    """

    name: str
    url: str
    key_variable: str = ""
    connections: int = 8
    allow_private: bool = False
    prompt_price: float = 0.0
    completion_price: float = 0.0
    currency: str = "USD"
    priced_on: str = ""
    timeout: float = 120.0

    @property
    def is_paid(self) -> bool:
        """Whether a token costs anything."""
        return self.prompt_price > 0 or self.completion_price > 0

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what tokens cost, in `currency`."""
        spent = prompt_tokens * self.prompt_price + completion_tokens * self.completion_price
        return spent / 1e6


@dataclass(frozen=True)
class Question:
    """One request: `key` is a SHA-256 of endpoint, body and pass; `labels` those of its outputs."""

    key: str
    body: Mapping[str, Any]
    labels: tuple[str, ...] = ()

    @property
    def n_characters(self) -> int:
        """Characters of the prompt."""
        return sum(len(message["content"]) for message in self.body["messages"])


@dataclass(frozen=True)
class Reply:
    """What a server sent, as it came. `is_new` where this run has paid for it."""

    status: int
    body: str
    seconds: float = 0.0
    is_new: bool = False


class JudgeContext(Protocol):
    """Endpoint and template of a judge, and the store of its replies."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint of the judge."""
        ...

    @property
    def template(self) -> Template:
        """The template of the judge."""
        ...

    def language(self, code: str) -> str:
        """Return the English name of a language."""
        ...

    def key(self) -> str:
        """The key of the endpoint; empty where it needs none."""
        ...

    def stored(self, keys: Sequence[str]) -> Mapping[str, Sequence[Reply]]:
        """Return the stored replies, the oldest first, by the keys of their questions."""
        ...

    def store(self, replies: Sequence[tuple[Question, Reply]]) -> Sequence[int]:
        """Store replies and count their costs, in one transaction; return their prompt tokens."""
        ...

    def note(self, *, reread: int = 0, lost: int = 0) -> None:
        """Count replies that were read without a call, and calls without a reply."""
        ...

    def left(self) -> tuple[float | None, float | None]:
        """Return what is left of the budget: tokens, money; None without a limit."""
        ...

    def report(self) -> None:
        """Store a report on the verdicts of the run so far."""
        ...

    def connections(self) -> Any:
        """Return a context that holds as many of the endpoint's connections as are free.

        Its value is their number, at least 1.
        """
        ...

    def keep_connections(self) -> None:
        """Extend the hold on the connections."""
        ...


@runtime_checkable
class NeedsContext(Protocol):
    """A metric that needs a context before it has a signature."""

    def attach(self, context: JudgeContext) -> None:
        """Use a context."""
        ...


def _unknown(name: str) -> Endpoint:
    problem = message("judge.no-endpoint", "There is no endpoint “{endpoint}”.", endpoint=name)
    raise OptionError(problem, "endpoint")


# Finds an endpoint by its name in the settings, which this module cannot read.
find_endpoint: contextvars.ContextVar[Callable[[str], Endpoint]] = contextvars.ContextVar(
    "find_endpoint", default=_unknown
)
