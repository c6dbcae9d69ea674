"""What is suggested in one item, what of it somebody is shown, and what became of each.

An item stores ``{"spans": [[side, start, end, severity, category, role], …], "known": [side,
start, end] or null}``. The role of a span is empty, ``planted`` for an error that is none,
``withheld`` for one that stands for the known error and is left out where that is withheld.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from annotation.models import SuggestionFate
from annotation.protocols import Span

Fate, Origin = SuggestionFate.Fate, SuggestionFate.Origin
PLANTED, WITHHELD = "planted", "withheld"


class Condition(StrEnum):
    """Which suggestions are shown; a campaign without a trial has none and shows all real ones."""

    NONE = ""
    BLANK = "blank"
    PREFILLED = "prefilled"
    PLANTED = "planted"
    WITHHELD = "withheld"


HIDDEN = {
    Condition.NONE: {PLANTED},
    Condition.PREFILLED: {PLANTED},
    Condition.PLANTED: set(),
    Condition.WITHHELD: {PLANTED, WITHHELD},
}


@dataclass(frozen=True)
class Suggestion:
    """An error as it is shown, and whether it was planted."""

    span: Span
    origin: str


class SpanLike(Protocol):
    """A span, or a row that has one."""

    @property
    def side(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def severity(self) -> str: ...
    @property
    def category(self) -> str: ...


Key = tuple[str, int, int, str, str]
Marked = tuple[Span, int | None]


def in_order(span: Span) -> tuple[bool, int, int, str, str]:
    """The order in which marked errors are listed: by place, which tells no origin."""
    return span.side == "source", span.start, span.end, span.severity, span.category


def key_of(span: SpanLike) -> Key:
    """All fields of a span."""
    return span.side, span.start, span.end, span.severity, span.category


def as_stored(spans: Iterable[Span]) -> dict[str, Any] | None:
    """Return what an item stores for suggestions, all of them real; None for none."""
    rows = [[*key_of(span), ""] for span in spans]
    return {"spans": rows, "known": None} if rows else None


def offered(stored: Mapping[str, Any] | None, condition: str) -> tuple[Suggestion, ...]:
    """Return what is shown of an item's suggestions under a condition, in the order of places."""
    if not stored or condition == Condition.BLANK:
        return ()
    hidden = HIDDEN[Condition(condition)]
    shown = [
        Suggestion(Span(*about), Origin.PLANTED if role == PLANTED else Origin.SUGGESTED)
        for *about, role in stored["spans"]
        if role not in hidden
    ]
    return tuple(sorted(shown, key=lambda each: in_order(each.span)))


def fate_of(shown: Span, left: Span | None) -> SuggestionFate.Fate:
    """Name what was done to a suggestion; its place says more than its severity or category."""
    if left is None:
        return Fate.DELETED
    if (shown.side, shown.start, shown.end) != (left.side, left.start, left.end):
        return Fate.MOVED
    if shown.severity != left.severity:
        return Fate.SEVERITY
    return Fate.KEPT if shown.category == left.category else Fate.CATEGORY


def fates(
    shown: Sequence[Suggestion], spans: Sequence[Span], offers: Sequence[int | None]
) -> list[SuggestionFate]:
    """Return the fate of every suggestion, unsaved; `offers` tell of each span which one it was."""
    pairs = zip(spans, offers, strict=True) if shown else ()
    left = {n: span for span, n in pairs if n is not None}
    return [
        SuggestionFate(
            number=n,
            origin=each.origin,
            fate=fate_of(each.span, left.get(n)),
            **_fields(left.get(n, each.span)),
        )
        for n, each in enumerate(shown)
    ]


def _fields(span: Span) -> dict[str, Any]:
    return dict(zip(("side", "start", "end", "severity", "category"), key_of(span), strict=True))


def judged(
    shown: Sequence[Suggestion], spans: Sequence[Span], offers: Sequence[int | None]
) -> tuple[Span, ...]:
    """Return the spans that are somebody's judgment: all that were not planted."""
    if not shown:
        return tuple(spans)
    planted = {n for n, each in enumerate(shown) if each.origin == Origin.PLANTED}
    return tuple(span for span, n in zip(spans, offers, strict=True) if n not in planted)


def marked(spans: Iterable[SpanLike], kept: Iterable[SuggestionFate]) -> list[Marked]:
    """Put together what an annotator left: spans with the number of the suggestion they were."""
    left = [fate for fate in kept if fate.fate != Fate.DELETED]
    numbers: dict[Key, int | None] = {key_of(fate): fate.number for fate in left}
    keys = [key_of(span) for span in spans]
    keys += [key_of(fate) for fate in left if fate.origin == Origin.PLANTED]
    found = [(Span(*key), numbers.get(key)) for key in keys]
    return sorted(found, key=lambda each: in_order(each[0]))
