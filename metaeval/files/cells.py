"""Cells of tables as numbers: one vocabulary of missing scores for every file and every door."""

from __future__ import annotations

import math
from collections.abc import Iterable

# Words by which people, pandas, R and spreadsheets say that there is no score, in any case.
MISSING_WORDS = frozenset(
    ("", "-", "–", "—", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "missing")
)


def parse_number(cell: object) -> float | None:
    """Return a cell as a number; nan where it says that there is none, None for anything else.

    The number may be infinite. What Python alone reads as a number is none: `1_000` and `True`.

    Examples
    --------
    >>> parse_number(" 0.5 "), parse_number("n/a"), parse_number("good"), parse_number("-inf")
    (0.5, nan, None, -inf)
    """
    if cell is None:
        return math.nan
    if isinstance(cell, bool) or (isinstance(cell, str) and "_" in cell):
        return None
    try:
        return float(cell)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        is_missing = isinstance(cell, str) and cell.strip().casefold() in MISSING_WORDS
        return math.nan if is_missing else None


def read_score(cell: object) -> float | None:
    """Return a cell as a finite score, nan where it is missing, None where it is no number.

    An infinite value is a missing score: no mean and no correlation is made of it.

    Examples
    --------
    >>> read_score("None"), read_score("inf"), read_score("three")
    (nan, nan, None)
    """
    value = parse_number(cell)
    return math.nan if value is not None and math.isinf(value) else value


def is_missing(cell: object) -> bool:
    """Return True where a cell holds no score: an empty one, a word for none, an infinite value."""
    value = read_score(cell)
    return value is not None and math.isnan(value)


def count_infinite(cells: Iterable[object]) -> int:
    """Return how many cells hold an infinite value."""
    return sum(value is not None and math.isinf(value) for value in map(parse_number, cells))
