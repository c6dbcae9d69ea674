"""CSV cells that a spreadsheet would run as a formula, made harmless on export.

Nothing is changed in the database: texts are stored as they were uploaded. The rule is OWASP's
("CSV Injection"): cells that begin with = + - @ tab or carriage return get a leading apostrophe.
"""

import re

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
