"""Numbers and lists in sentences, numbers read from text, and CSV cells that no spreadsheet runs.

A cell that a spreadsheet would run as a formula is made harmless on export. Nothing is changed in
the database: texts are stored as they were uploaded. The rule is OWASP's ("CSV Injection"): cells
that begin with = + - @ tab or carriage return get a leading apostrophe.
"""

import re
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


DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def neutralise(value: object) -> str:
    """Return the cell to write for a value; numbers, also negative ones, stay numbers.

    >>> neutralise("=1+1"), neutralise(-1.5), neutralise("-1.5"), neutralise(None)
    ("'=1+1", '-1.5', '-1.5', '')
    """
    text = "" if value is None else str(value)
    if text.startswith(DANGEROUS) and not NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def restore(cell: str) -> str:
    """Return the value that `neutralise` made a cell of.

    >>> restore(neutralise("=1+1")), restore("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(DANGEROUS) else cell
