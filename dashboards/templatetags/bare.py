"""Correlations without the zero before the point, and what goes with them."""

from typing import Protocol

from django import template

from annotation.templatetags.numbers import NOTHING, decimals
from dashboards.report.people import Range
from dashboards.results.answer import number

register = template.Library()


class Interval(Protocol):
    """The ends of an interval; None where there is none."""

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


@register.filter
def bare(value: float | None) -> str:
    """`.62`; a dash for nothing."""
    return NOTHING if value is None else number(value)


@register.filter
def within(cell: Interval) -> str:
    """The interval of a cell: `[.56, .68]`; empty where there is none."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{number(cell.low)}, {number(cell.high)}]"


@register.filter
def bare3(value: float | None) -> str:
    """The same with three decimals, as averages and printed tables are quoted: `.493`."""
    return NOTHING if value is None else decimals(value).replace("0.", ".", 1)


@register.filter
def ranged(value: Range, places: int = 1) -> str:
    """`52.3 [41.0, 60.5]`; a dash where nobody has a number."""
    if value.mean is None:
        return NOTHING
    ends = ", ".join(decimals(end, places) for end in (value.low, value.high))
    return f"{decimals(value.mean, places)} [{ends}]"
