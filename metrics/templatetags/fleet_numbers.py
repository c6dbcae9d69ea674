"""Format numbers of checkpoints and workers."""

from datetime import UTC, datetime

from django import template

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
