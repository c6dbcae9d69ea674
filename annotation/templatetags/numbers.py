"""Numbers and times as pages print them: fixed decimals, a real minus sign, a dash for nothing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import template

from core import numbers, text
from core.numbers import NOTHING

register = template.Library()
register.filter("counted", text.pluralize)
register.filter(numbers.decimals)
pvalue = register.filter("pvalue", numbers.p_value_cell)


@register.filter
def duration(seconds: float | None) -> str:
    """Write seconds as `8 s`, `4 min`, `2 h 5 min` or `3 d 4 h`; a dash for None."""
    if seconds is None:
        return NOTHING
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


@register.filter
def milliseconds(value: int | None) -> str:
    """The same for milliseconds."""
    return NOTHING if value is None else duration(value / 1000)


@register.filter
def interval(value: Sequence[float | None] | None, places: int = 2) -> str:
    """Low and high, which come first, as `[0.41, 0.63]`; empty without an interval."""
    return numbers.interval(value, places)


@register.filter
def share(value: Any) -> str:
    """A share as `92% of 12`; a dash where there was nothing to pass."""
    return NOTHING if value.share is None else f"{100 * value.share:.0f}% of {value.of:,}"


@register.filter
def ago(then: datetime | None, now: datetime) -> str:
    """How long before `now` something was; a dash for never."""
    return NOTHING if then is None else f"{duration((now - then).total_seconds())} ago"
