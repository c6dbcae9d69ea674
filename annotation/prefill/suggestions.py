"""Suggested errors of one item: which are shown, and what annotators do with them.

An item stores ``{"spans": [[side, start, end, severity, category, role], …], "known": [side,
start, end] or null}``. The role of a span is empty, ``planted`` for a false error, or ``withheld``
for a suggestion of the known error, which is hidden in the condition `withheld`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from annotation.models import SuggestionFate
from annotation.protocols import Span
from metaeval.messages import Message, message

Fate, Origin = SuggestionFate.Fate, SuggestionFate.Origin
PLANTED, WITHHELD = "planted", "withheld"


class Condition(StrEnum):
    """Which suggestions are shown; campaigns without a trial use NONE and show all real ones."""

    NONE = ""
    BLANK = "blank"
    PREFILLED = "prefilled"
    PLANTED = "planted"
    WITHHELD = "withheld"

    @property
    def label(self) -> Message:
        """The condition in words."""
        return CONDITIONS[self]


CONDITIONS = {
    Condition.NONE: message("condition.none", "without trial"),
    Condition.BLANK: message("condition.blank", "blank"),
    Condition.PREFILLED: message("condition.prefilled", "prefilled"),
    Condition.PLANTED: message("condition.planted", "planted"),
    Condition.WITHHELD: message("condition.withheld", "withheld"),
}
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
    """Return the sort key of marked errors: by position, which does not reveal their origin."""
    return span.side == "source", span.start, span.end, span.severity, span.category


def key_of(span: SpanLike) -> Key:
    """Return all fields of a span."""
    return span.side, span.start, span.end, span.severity, span.category


def as_stored(spans: Iterable[Span]) -> dict[str, Any] | None:
    """Return what an item stores for real suggestions; None without any."""
    rows = [[*key_of(span), ""] for span in spans]
    return {"spans": rows, "known": None} if rows else None


def offered(stored: Mapping[str, Any] | None, condition: str) -> tuple[Suggestion, ...]:
    """Return the suggestions that are shown under a condition, by position."""
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
    """Return what was done to a suggestion; position counts before severity and category."""
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
    """Return the fate of every suggestion, unsaved.

    `offers` gives, for each span, the number of the suggestion that it was.
    """
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
    """Return the spans that count as judgments: all that were not planted."""
    if not shown:
        return tuple(spans)
    planted = {n for n, each in enumerate(shown) if each.origin == Origin.PLANTED}
    return tuple(span for span, n in zip(spans, offers, strict=True) if n not in planted)


def marked(spans: Iterable[SpanLike], stored: Iterable[SuggestionFate]) -> list[Marked]:
    """Return the spans that an annotator submitted, with the numbers of their suggestions."""
    left = [fate for fate in stored if fate.fate != Fate.DELETED]
    numbers: dict[Key, int | None] = {key_of(fate): fate.number for fate in left}
    keys = [key_of(span) for span in spans]
    keys += [key_of(fate) for fate in left if fate.origin == Origin.PLANTED]
    found = [(Span(*key), numbers.get(key)) for key in keys]
    return sorted(found, key=lambda each: in_order(each[0]))
