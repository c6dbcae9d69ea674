"""Format numbers for prose: without the zero before the point."""

from django import template

from core import numbers
from core.numbers import NOTHING, decimals
from dashboards.report.parts import Range

register = template.Library()


@register.filter
def bare(value: float | None) -> str:
    """Format as `.62`; a dash for None."""
    return numbers.bare(value)


@register.filter
def bare3(value: float | None) -> str:
    """Format with three decimals: `.493`."""
    return numbers.bare(value, 3)


@register.filter
def ranged(value: Range, places: int = 1) -> str:
    """Format as `52.3 [41.0, 60.5]`; a dash if nobody has a number."""
    if value.mean is None:
        return NOTHING
    return f"{decimals(value.mean, places)} {numbers.interval((value.low, value.high), places)}"
