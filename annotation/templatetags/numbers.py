"""Format numbers and times for pages: fixed decimals, a minus sign, a dash for missing values."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import template
from django.utils.translation import gettext as _

from core import numbers, text
from core.numbers import NOTHING
from metaeval.messages import MINUS

register = template.Library()
register.filter("counted", text.pluralize)
register.filter(numbers.decimals)
pvalue = register.filter("pvalue", numbers.p_value_cell)
register.filter(numbers.p_value)


@register.filter
def minus(text: str) -> str:
    """Write the minus sign of a number that Django has formatted."""
    return text.replace("-", MINUS)


@register.filter
def duration(seconds: float | None) -> str:
    """Return seconds as `8 s`, `4 min`, `2 h 5 min`, `3 d 4 h` or `12 d`; a dash for None."""
    if seconds is None:
        return NOTHING
    whole = max(0, round(seconds))
    if whole < 60:
        return _("%(seconds)d s") % {"seconds": whole}
    minutes = round(whole / 60)
    if minutes < 60:
        return _("%(minutes)d min") % {"minutes": minutes}
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    if hours >= 7 * 24:
        return _("%(days)d d") % {"days": hours // 24}
    return _("%(days)d d %(hours)d h") % {"days": hours // 24, "hours": hours % 24}


@register.filter
def milliseconds(value: int | None) -> str:
    """Return milliseconds as `duration` does."""
    return NOTHING if value is None else duration(value / 1000)


@register.filter
def interval(value: Sequence[float | None] | None, places: int = 2) -> str:
    """Return the first two numbers as an interval, `[0.41, 0.63]`; empty without one."""
    return numbers.interval(value, places)


@register.filter
def share(value: Any) -> str:
    """Return a share as `92% of 12`; a dash if the total is 0."""
    if value.share is None:
        return NOTHING
    text = _("%(percent)s of %(n)s")
    return text % {"percent": f"{value.share:.0%}", "n": f"{value.of:,}"}


@register.filter
def ago(then: datetime | None, now: datetime) -> str:
    """Return how long before `now` something happened; a dash for None."""
    if then is None:
        return NOTHING
    return _("%(time)s ago") % {"time": duration((now - then).total_seconds())}
