"""Place dots with intervals, one per row, in percent of the row's width.

Percentages let a drawing take any width without being scaled.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.numbers import short
from dashboards.charts.style import ACCENT, ENDS, INK, NAME, Spec, number
from metaeval.messages import Message, message

# Positions of the smallest and the largest end; a value is written to the right of them.
LEFT, RIGHT = 3.0, 80.0
STEPS = (1, 2, 2.5, 5)
MOST_TICKS = 5
# More ticks would overlap in a panel on a phone.
FEW_TICKS = 3


@dataclass(frozen=True)
class Tick:
    """A tick of the axis: position and text."""

    x: float
    text: str


@dataclass(frozen=True)
class Dot:
    """One mark with its interval; an undefined one has none."""

    x: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""
    ends: str = ""

    @property
    def after(self) -> float:
        """Position of the value's text: after the interval."""
        return max(each for each in (self.x, self.high, 0.0) if each is not None)


@dataclass(frozen=True)
class Axis:
    """A range of values with its ticks."""

    low: float
    high: float
    ticks: Sequence[Tick]

    def place(self, value: float) -> float:
        """Return the position of a value, in percent of the width."""
        return place(value, self.low, self.high)

    def dot(self, value: float | None, low: float | None, high: float | None) -> Dot:
        """Return the mark of a value with its interval."""
        if value is None:
            return Dot()
        if low is None or high is None:
            return Dot(self.place(value), text=short(value))
        ends = f"{short(low)} to {short(high)}"
        return Dot(self.place(value), self.place(low), self.place(high), short(value), ends)


def place(value: float, low: float, high: float) -> float:
    """Return the position of a value of a range, in percent of the width."""
    share = 0.5 if high == low else (value - low) / (high - low)
    return round(LEFT + share * (RIGHT - LEFT), 2)


def axis(values: Iterable[float | None], most: int = MOST_TICKS) -> Axis | None:
    """Return an axis that covers all values, with at most `most` ticks; None without a value."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    if low == high:
        low, high = low - 0.05, high + 0.05
    values, places = ticks(low, high, most)
    return Axis(low, high, [Tick(place(v, low, high), short(v, places)) for v in values])


def ticks(low: float, high: float, most: int = MOST_TICKS) -> tuple[list[float], int]:
    """Return round values within a range, and how many decimals they need."""
    power = math.floor(math.log10((high - low) / most))
    sizes = [(step, power + shift) for shift in (-1, 0, 1) for step in STEPS]
    step, power = next(each for each in sizes if len(_within(low, high, *each)) <= most)
    places = max(0, -power + (step == 2.5))
    return _within(low, high, step, power), places


def _within(low: float, high: float, step: float, power: int) -> list[float]:
    """Return all multiples of a step in a range."""
    size = step * 10.0**power
    first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
    return [round(n * size, 10) for n in range(first, last + 1)]


# Metrics and systems as lines of dots with intervals, for pages.


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


# Draw dots with intervals, best on top: the form of all figures that compare metrics or systems.
#
# The position is the value, a line the interval, and a band the cluster. The best are dark, the
# rest gray. Values are next to the marks, so there is no legend.


BAND, REST = "#eef1f5", "#5d6a7a"
ROW = 20


@dataclass(frozen=True)
class Dotted:
    """One line of a figure; `group` numbers its cluster, None where there is none."""

    label: Message | str
    value: float | None
    low: float | None = None
    high: float | None = None
    group: int | None = None
    is_best: bool = False
    note: Message | None = None


def panel(
    rows: Sequence[Dotted],
    title: Message | str,
    *,
    width: int,
    has_names: bool = True,
    from_zero: bool = False,
) -> Spec:
    """Return a panel of a figure: one line per row, in the order given."""
    order = [row.label for row in rows]
    labels = {} if has_names else {"axis": None}
    y = {"field": "label", "type": "nominal", "sort": order, "title": None,
         "scale": {"domain": order}, **labels}  # fmt: skip
    colour = {"condition": {"test": "datum.best", "value": ACCENT}, "value": REST}
    scale = {"zero": from_zero, "nice": False, "padding": 8}

    def x(name: str) -> Spec:
        axis = {"tickCount": 4, "format": "~g", "grid": True}
        return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}

    tooltip = [
        {"field": "label", "title": NAME},
        number("value", title),
        *(number(field, end) for field, end in ENDS.items()),
    ]
    return {
        "width": width,
        "height": {"step": ROW},
        "data": {"values": [_value(row) for row in rows]},
        "encoding": {"y": y},
        "layer": [
            {"transform": [{"filter": "datum.band"}],
             "mark": {"type": "rect", "color": BAND, "height": {"band": 1}},
             "encoding": {"x": {"value": 0}, "x2": {"value": width}}},
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x("low"), "x2": {"field": "high"}, "color": colour,
                          "tooltip": tooltip}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
             "encoding": {"x": x("value"), "color": colour, "tooltip": tooltip}},
            {"mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 11, "color": INK},
             "encoding": {"x": x("after"), "text": {"field": "text", "type": "nominal"}}},
        ],
    }  # fmt: skip


def _value(row: Dotted) -> Spec:
    text: Message | str = "" if row.value is None else short(row.value)
    if row.note:
        text = message("figure.noted", "{value} {note}", value=text, note=row.note)
    return {
        "label": row.label,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "after": row.value if row.high is None else row.high,
        "text": text,
        "band": row.group is not None and row.group % 2 == 0,
        "best": row.is_best,
    }
