"""What a judge needs of its surroundings, as data and a protocol: pure, for web and workers."""

import contextvars
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from extensions.judges.prompts import Template


@dataclass(frozen=True)
class Endpoint:
    """A server that the site's admin declared; `key_variable` names what holds the key.

    Prices are in `currency` for a million tokens, as of `priced_on`. `timeout` is in seconds, for
    a whole reply.
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


class Desk(Protocol):
    """Where a judge finds its endpoint and template, and keeps what it is told."""

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
        """Return the replies there are, the oldest first, by the keys of their questions."""
        ...

    def store(self, replies: Sequence[tuple[Question, Reply]]) -> Sequence[int]:
        """Keep replies and count what they cost, in one transaction; return their prompt tokens."""
        ...

    def note(self, *, reread: int = 0, lost: int = 0) -> None:
        """Count replies that were read without a call, and calls without a reply."""
        ...

    def left(self) -> tuple[float | None, float | None]:
        """Return what is left of the budget: tokens, money; None without a limit."""
        ...

    def report(self) -> None:
        """Say what the verdicts of the run look like so far."""
        ...

    def connections(self) -> Any:
        """Return a context that holds as many of the endpoint's connections as are free.

        Its value is their number, at least 1.
        """
        ...

    def keep_connections(self) -> None:
        """Say that they are still in use."""
        ...


@runtime_checkable
class NeedsDesk(Protocol):
    """A metric that must be given a desk before its signature is asked for."""

    def sit(self, desk: Desk) -> None:
        """Take a desk."""
        ...


def _unknown(name: str) -> Endpoint:
    raise ValueError(f"Endpoint: there is no endpoint {name!r}.")


# Who is asked for an endpoint by its name: the settings know, which this module does not.
find_endpoint: contextvars.ContextVar[Callable[[str], Endpoint]] = contextvars.ContextVar(
    "find_endpoint", default=_unknown
)
