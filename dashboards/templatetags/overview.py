"""Format numbers in table cells."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from core import numbers
from core.numbers import NOTHING, decimals

register = template.Library()


@register.simple_tag
def cell(value: float | None, places: int = 3) -> SafeString:
    """Return a table cell with a number, which `sort.js` sorts by its full value."""
    text = f"{value:,}" if isinstance(value, int) else decimals(value, places)
    full = "" if value is None else f"{value:.5g}"
    # Numbers alone: a page has a thousand of them.
    return mark_safe(f'<td class="num" data-value="{full}">{text}</td>')  # noqa: S308


@register.filter
def estimate(value: Sequence[Any] | None, places: int = 3) -> str:
    """Format `[0.5, [0.4, 0.6]]` as `0.500 [0.400, 0.600]`."""
    if value is None or value[0] is None:
        return NOTHING
    number, interval = value
    return f"{decimals(number, places)} {numbers.interval(interval, places)}".rstrip()


@register.filter
def bounds(row: Any, places: int = 3) -> str:
    """Format the `low` and `high` of a row in brackets."""
    return numbers.interval((row.low, row.high), places)


@register.filter
def percent(share: float | None) -> str:
    """Format `0.9` as `90%`."""
    return NOTHING if share is None else f"{share:.0%}"


@register.filter
def percents(interval: Sequence[float] | None) -> str:
    """Format `[0.8, 0.95]` as `[80, 95]`."""
    return numbers.interval([100 * end for end in interval], 0) if interval else ""


@register.filter
def change(row: Any, places: int = 3) -> str:
    """Format the `difference` of a row with sign and interval: `Δ +0.012 [−0.010, 0.030]`."""
    number = decimals(row.difference, places)
    sign = "" if number.startswith(("−", NOTHING)) else "+"
    ends = numbers.interval((row.difference_low, row.difference_high), places)
    return f"Δ {sign}{number} {ends}".rstrip()
