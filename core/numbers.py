"""Write numbers as pages, figures, tables and files show them (one rule for all).

In prose and figures a coefficient has no zero before the point (`.61`, `metaeval.messages`); in
tables and files it has one (`0.61`). The minus sign is −, and an unknown number is a dash.
"""

import math
from collections.abc import Sequence

from metaeval.messages import MINUS, coefficient, p_value

NOTHING = "–"
__all__ = ["NOTHING", "bare", "bare_interval", "bare_p_value", "coefficient", "decimals",
           "interval", "is_known", "p_value", "p_value_cell", "short", "signed"]  # fmt: skip


def is_known(value: object) -> bool:
    """Return whether a value is a number other than nan."""
    return isinstance(value, int | float) and not math.isnan(value)


def decimals(value: object, places: int = 3) -> str:
    """Return a number for a table or file; a dash for None and nan.

    >>> decimals(-0.12345), decimals(-0.0, 0), decimals(None)
    ('−0.123', '0', '–')
    """
    return f"{value:z.{places}f}".replace("-", MINUS) if is_known(value) else NOTHING


def signed(value: float, places: int = 3) -> str:
    """Return a difference for a table or file, with its sign.

    >>> signed(0.0512), signed(-0.0512, 2)
    ('+0.051', '−0.05')
    """
    return f"{value:+.{places}f}".replace("-", MINUS)


def interval(ends: Sequence[float | None] | None, places: int = 3) -> str:
    """Return an interval for a table or file, `[0.411, 0.630]`; empty without one.

    >>> interval((-0.1, 0.25), 2), interval((None, 0.2)), interval(None)
    ('[−0.10, 0.25]', '', '')
    """
    if ends is None or None in ends[:2]:
        return ""
    return f"[{', '.join(decimals(end, places) for end in ends[:2])}]"


def bare(value: float | None, places: int = 2) -> str:
    """Return a number for prose or a figure, `.61`; a dash for None and nan.

    >>> bare(0.614), bare(-0.5, 3), bare(None)
    ('.61', '−.500', '–')
    """
    return coefficient(value, places) if value is not None and is_known(value) else NOTHING


def bare_interval(low: float | None, high: float | None, places: int = 2) -> str:
    """Return an interval for prose or a figure, `[.41, .63]`; empty without one."""
    if low is None or high is None:
        return ""
    return f"[{coefficient(low, places)}, {coefficient(high, places)}]"


def p_value_cell(value: float | None) -> str:
    """Return a p-value for a table or file, `0.034` or `< 0.001`; a dash for None and nan.

    Three decimals show on which side of 0.05 a value is.
    """
    return "< 0.001" if value is not None and value < 0.001 else decimals(value)


def bare_p_value(value: float | None) -> str:
    """Return a p-value for a figure, `.034` or `< .001`; a dash for None and nan."""
    return "< .001" if value is not None and value < 0.001 else bare(value, 3)


def short(value: float, places: int | None = None) -> str:
    """Return a value or a tick of a figure, on any scale: `.64`, `−.5`, `72.1`, `0`.

    >>> short(0.642), short(-0.5, 1), short(72.14), short(0.0)
    ('.64', '−.5', '72.1', '0')
    """
    if places is None:
        places = 2 if abs(value) < 10 else 1
    text = coefficient(value, places)
    return text if any(digit in "123456789" for digit in text) else "0"
