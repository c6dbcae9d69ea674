"""Numbers for prose: without the zero before the point."""

from typing import Protocol

from django import template

from core import numbers
from core.numbers import NOTHING, decimals
from dashboards.report.people import Range

register = template.Library()


class Interval(Protocol):
    """The ends of an interval; None where there is none."""

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


@register.filter
def bare(value: float | None) -> str:
    """`.62`; a dash for None."""
    return numbers.bare(value)


@register.filter
def within(cell: Interval) -> str:
    """The interval of a cell: `[.56, .68]`; empty where there is none."""
    return numbers.bare_interval(cell.low, cell.high)


@register.filter
def bare3(value: float | None) -> str:
    """The same with three decimals, as averages and printed tables are quoted: `.493`."""
    return numbers.bare(value, 3)


@register.filter
def ranged(value: Range, places: int = 1) -> str:
    """`52.3 [41.0, 60.5]`; a dash where nobody has a number."""
    if value.mean is None:
        return NOTHING
    return f"{decimals(value.mean, places)} {numbers.interval((value.low, value.high), places)}"
