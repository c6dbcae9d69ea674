"""Format numbers of a run."""

import math
from datetime import UTC, datetime

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext

register = template.Library()
UNITS = ("KiB", "MiB", "GiB", "TiB")


@register.filter("bytes")
def in_bytes(count: int | None) -> str:
    """Write bytes with at most three figures, in powers of 1024: `1.35 GiB`; empty for None."""
    if count is None:
        return ""
    if count < 1024:
        return f"{count} B"
    size, unit = float(count), 0
    while size >= 1024 and unit < len(UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.3g} {UNITS[unit - 1]}" if size < 999.5 else f"{size:,.0f} {UNITS[unit - 1]}"


@register.filter
def moment(seconds: float | None) -> datetime | None:
    """Turn seconds since 1970 into a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@register.filter
def duration(seconds: float | None) -> str:
    """Write seconds as `8 s`, `3 min 20 s` or `2 h 5 min`; empty for None."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return gettext("%(seconds)d s") % {"seconds": whole}
    if minutes < 60:
        return gettext("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": rest}
    parts = {"hours": minutes // 60, "minutes": minutes % 60}
    return gettext("%(hours)d h %(minutes)d min") % parts


@register.filter
def rate(per_second: float | None) -> str:
    """Write contents per second with at least two figures: `4,536/s`, `0.35/s`."""
    if per_second is None:
        return ""
    return f"{per_second:,.0f}/s" if per_second >= 10 else f"{per_second:.2g}/s"


@register.filter
def money(amount: float) -> str:
    """Write an amount with two decimals, or as many as its first two digits need: `0.0042`."""
    digits = 2 if amount == 0 else max(2, 1 - math.floor(math.log10(abs(amount))))
    return number_format(round(amount, digits), digits)


@register.filter
def percent(ratio: object) -> str:
    """Write a length ratio as `80%`."""
    return f"{float(str(ratio)) * 100:g}%"


@register.filter
def share(of_one: float) -> str:
    """Write a share as `12.5%`."""
    return f"{of_one * 100:.1f}%"
