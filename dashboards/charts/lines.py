"""Metrics and systems as lines of dots with intervals, for pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dashboards.charts.dots import FEW_TICKS, Axis, Dot, axis


class Marked(Protocol):
    """A value with its interval."""

    @property
    def value(self) -> float | None: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True)
class Drawn:
    """One line: its object, its marks in both panels, and its rank if it begins a cluster."""

    line: Any
    ours: Dot
    theirs: Dot
    numeral: int | None
    is_banded: bool


@dataclass(frozen=True)
class Chart:
    """Lines on one or two axes; `theirs` is None where there is one panel."""

    ours: Axis | None
    theirs: Axis | None
    lines: Sequence[Drawn]


def axis_of(marks: Sequence[Marked], most: int | None = None) -> Axis | None:
    """Return an axis that covers all values and intervals."""
    ends = (each for mark in marks for each in (mark.value, mark.low, mark.high))
    return axis(ends) if most is None else axis(ends, most)


def dot(found: Axis | None, mark: Marked) -> Dot:
    """Return the drawing of a mark."""
    return found.dot(mark.value, mark.low, mark.high) if found else Dot()


def chart(lines: Sequence[Any], second: Sequence[Marked] = ()) -> Chart:
    """Return metrics, best first, with their ranks; `second` are their marks in a second panel."""
    ours, theirs = axis_of(lines), axis_of(second)
    starts = {line.rank: line.key for line in reversed(lines) if line.rank}
    others = [dot(theirs, mark) for mark in second] or [Dot()] * len(lines)
    drawn = [
        Drawn(
            line,
            dot(ours, line),
            other,
            line.rank if starts.get(line.rank) == line.key else None,
            is_banded=line.rank is not None and line.rank % 2 == 0,
        )
        for line, other in zip(lines, others, strict=True)
    ]
    return Chart(ours, theirs, drawn)


def narrow(lines: Sequence[Marked]) -> tuple[Axis | None, list[Dot]]:
    """Return an axis with few ticks, and the marks on it."""
    found = axis_of(lines, FEW_TICKS)
    return found, [dot(found, line) for line in lines]
