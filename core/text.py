"""Numbers and lists in sentences, and numbers read from text."""

from collections.abc import Sequence


def pluralize(n: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 system`, `12,345 systems`.

    `many` is the plural, by default `one` with an s.
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def join_truncated(names: Sequence[str], limit: int = 5) -> str:
    """Join the first names: `a, b, c and 4 more`."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def whole(text: str, digits: int = 9) -> int | None:
    """Return the number that a text of decimal digits in any script means, or None.

    More than `digits` digits give None: `int` raises ValueError for some thousand.
    """
    return int(text) if text.isdecimal() and len(text) <= digits else None


def key(text: str) -> int:
    """Return the primary key that a text names, or 0, which no row has."""
    return whole(text, 18) or 0
