"""Error spans of many texts as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, IntArray, one_length, one_of
from metaeval.messages import data_error
from metaeval.results import ShortRepr

# Infer from word boundaries whether the ends of spans include their last character.


@dataclass(frozen=True)
class EndsAtWords:
    """How many of ``n`` spans end where a word ends, read either way."""

    n: int
    included: int
    excluded: int

    @property
    def are_included(self) -> bool | None:
        """Whether ends include the last character; None if the counts are too close."""
        if abs(self.included - self.excluded) * 10 < self.n:
            return None
        return self.included > self.excluded


def ends_at_words(ends: Iterable[tuple[str, int]]) -> EndsAtWords:
    """Count, over (text, end) as given, the ends at word boundaries under both readings.

    An end is at a boundary if no blank precedes it and no letter or digit follows it. Appraise
    stores the position of the last character, mt-metrics-eval the position after it.
    """
    n = included = excluded = 0
    for text, end in ends:
        n += 1
        included += _is_boundary(text, end + 1)
        excluded += _is_boundary(text, end)
    return EndsAtWords(n, included, excluded)


def _is_boundary(text: str, end: int) -> bool:
    if not 0 < end <= len(text):
        return False
    return not text[end - 1].isspace() and not text[end : end + 1].isalnum()


SEVERITIES = ("minor", "major", "critical")
SIDES = ("target", "source", "missing")
MISSING = SIDES.index("missing")
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class SpanTable(ShortRepr):
    """n spans over ``n_items`` texts; in an item without spans nothing was marked.

    ``item``, ``start``, ``end``, ``side`` and ``severity`` are int64 (n,). A span is
    [start, end) in Unicode code points; start = end marks no character. ``side`` and ``severity``
    are places in `SIDES` and `SEVERITIES`; any other severity (undecided) is -1.
    """

    n_items: int
    item: IntArray
    start: IntArray
    end: IntArray
    side: IntArray
    severity: IntArray

    @classmethod
    def of(
        cls,
        n_items: int,
        item: ArrayLike,
        start: ArrayLike,
        end: ArrayLike,
        severity: Sequence[str],
        side: Sequence[str] | None = None,
    ) -> SpanTable:
        """Return a table of columns of one length.

        Raises DataError, naming the row, for an item outside 0 … n_items - 1, a negative start,
        an end before its start, and an unknown side.
        """
        sides = ["target"] * len(severity) if side is None else list(side)
        item, start, end = (np.asarray(column, dtype=np.int64) for column in (item, start, end))
        one_length(item=item, start=start, end=end, severity=severity, side=sides)
        wrong = (item < 0) | (item >= n_items) | (start < 0) | (end < start)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise data_error(
                "data.span",
                "Span {row:d} cannot be from {start:d} to {end:d} in item {item:d}.",
                row=row,
                start=start[row],
                end=end[row],
                item=item[row],
            )
        for each in set(sides):
            one_of("side", each, SIDES)
        codes = _codes(sides, SIDES), _codes([each.lower() for each in severity], SEVERITIES)
        return cls(n_items, item, start, end, *codes)

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[Mapping[str, Any]]]) -> SpanTable:
        """Return a table of one list of spans an item, each with start, end, severity and side.

        A start of ``"missing"`` puts a span on the side of that name. Raises what `of` does, and
        DataError for a span without a start, an end or a severity.
        """
        columns = [
            (item, *_fields(item, span)) for item, spans in enumerate(lists) for span in spans
        ]
        items, starts, ends, severities, sides = zip(*columns, strict=True) if columns else [()] * 5
        return cls.of(len(lists), items, starts, ends, severities, sides)

    def __len__(self) -> int:
        return len(self.item)

    def where(self, mask: BoolArray) -> SpanTable:
        """Return the spans of a mask, of the same items."""
        columns = (self.item, self.start, self.end, self.side, self.severity)
        return SpanTable(self.n_items, *(column[mask] for column in columns))

    def usable(self, sides: Sequence[str] = SIDES[:2]) -> BoolArray:
        """Return which spans can be compared: on these sides, over characters, of known severity.

        Spans of missing text and of undecided severity are not usable, as in the WMT25 task.
        """
        codes = [SIDES.index(side) for side in sides]
        return np.isin(self.side, codes) & (self.end > self.start) & (self.severity > UNKNOWN)

    def clipped(self, lengths: ArrayLike) -> SpanTable:
        """Return the spans cut at the end of the texts of their items; `lengths` (n_items,)."""
        most = np.asarray(lengths, dtype=np.int64)[self.item]
        start, end = np.minimum(self.start, most), np.minimum(self.end, most)
        return SpanTable(self.n_items, self.item, start, end, self.side, self.severity)

    def taken(self, items: ArrayLike) -> SpanTable:
        """Return the spans of some items, which may repeat, in their order."""
        chosen = np.asarray(items, dtype=np.int64)
        order = np.argsort(self.item, kind="stable")
        counts = np.bincount(self.item, minlength=self.n_items)
        rows, owner = ranges(np.cumsum(counts)[chosen] - counts[chosen], counts[chosen])
        rows = order[rows]
        columns = (self.start, self.end, self.side, self.severity)
        return SpanTable(len(chosen), owner, *(column[rows] for column in columns))


def ranges(first: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the integers of many ranges [first, first + count), and the range of each."""
    owner = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    return np.arange(int(counts.sum())) - (ends - counts - first)[owner], owner


def _codes(values: Sequence[str], names: Sequence[str]) -> IntArray:
    place = {name: number for number, name in enumerate(names)}
    return np.array([place.get(value, UNKNOWN) for value in values], dtype=np.int64)


def _fields(item: int, span: Mapping[str, Any]) -> tuple[int, int, str, str]:
    try:
        severity, side = str(span["severity"]), str(span.get("side") or "target")
        if "missing" in (span["start"], side):
            return 0, 0, severity, "missing"
        return int(span["start"]), int(span["end"]), severity, side
    except (KeyError, TypeError, ValueError) as error:
        raise data_error(
            "data.no-span",
            "Item {item:d} has a span without a position or severity: {span}.",
            item=item,
            span=str(dict(span)),
        ) from error
