"""Cells of tables: their places, how many there may be, and one vocabulary of missing scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from metaeval.messages import Message, message

# Cells of a table, as it is read and after its columns became rows: more take too much memory.
MOST_CELLS = 10_000_000
# Words for a missing score that people, pandas, R and spreadsheets use, in any case.
MISSING_WORDS = frozenset(
    ("", "-", "–", "—", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "missing")
)


def too_many_cells(n: int) -> Message | None:
    """Return the message that refuses a table of `n` cells, or None if they are within the limit.

    A wide table is counted as what it becomes: with a row for each score and all other columns.
    """
    if n <= MOST_CELLS:
        return None
    return message(
        "table.too-many-cells",
        "With a row for each score the table has {n} cells; the limit is {limit}. Split the file "
        "by rows, or remove columns that are not needed.",
        n=n,
        limit=MOST_CELLS,
    )


class SplitLine(int):
    """The number of a line that became several rows, in one of these rows.

    `columns` are those of the file in which the cells of the row stand, by the row's own columns.
    """

    columns: Mapping[str, str]

    def __new__(cls, number: int, columns: Mapping[str, str]) -> SplitLine:
        """Return a number with its columns."""
        line = super().__new__(cls, number)
        line.columns = columns
        return line


def parse_number(cell: object) -> float | None:
    """Return a cell as a number, nan for a missing one, None for anything else.

    The number may be infinite. `1_000` and `True`, which only Python reads as numbers, give None.

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
    """Return a cell as a finite score, nan for a missing one, None for anything else.

    An infinite value is a missing score: it has no mean and no correlation.

    Examples
    --------
    >>> read_score("None"), read_score("inf"), read_score("three")
    (nan, nan, None)
    """
    value = parse_number(cell)
    return math.nan if value is not None and math.isinf(value) else value


def is_missing(cell: object) -> bool:
    """Return True for a cell without a score: empty, a word for a missing one, or infinite."""
    value = read_score(cell)
    return value is not None and math.isnan(value)


def count_infinite(cells: Iterable[object]) -> int:
    """Return how many cells hold an infinite value."""
    return sum(value is not None and math.isinf(value) for value in map(parse_number, cells))
