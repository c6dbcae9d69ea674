"""Counts in English, numbers in text, and CSV cells that are safe in spreadsheets.

A cell that a spreadsheet would run as a formula is neutralised on export. The database stores texts
as they were uploaded. The rule is OWASP's ("CSV Injection"): cells that begin with = + - @ tab or
carriage return get a leading apostrophe. Cells that have one already get another, so that all can
be restored.
"""

import re


def pluralize(n: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 system`, `12,345 systems`.

    `many` is the plural, by default `one` with an s.
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def whole(text: str, digits: int = 9) -> int | None:
    """Return the number that a text of decimal digits in any script represents, or None.

    More than `digits` digits give None, because `int` raises ValueError for thousands of digits.
    """
    return int(text) if text.isdecimal() and len(text) <= digits else None


def key(text: str) -> int:
    """Return the primary key in a text, or 0, which is not the key of any row."""
    return whole(text, 18) or 0


DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def neutralise(value: object) -> str:
    """Return the cell to write for a value; numbers, also negative ones, stay numbers.

    >>> neutralise("=1+1"), neutralise(-1.5), neutralise("-1.5"), neutralise(None)
    ("'=1+1", '-1.5', '-1.5', '')
    """
    text = "" if value is None else str(value)
    if text.lstrip("'").startswith(DANGEROUS) and not NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def restore(cell: str) -> str:
    """Return the original value of a cell that `neutralise` wrote.

    >>> restore(neutralise("=1+1")), restore(neutralise("'=1+1")), restore("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(DANGEROUS) else cell
