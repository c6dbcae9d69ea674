"""Rows of an answer, as dictionaries or as a pandas data frame."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class Table(list[dict[str, Any]]):
    """Rows as dictionaries, in the order of the server."""

    def frame(self) -> pandas.DataFrame:
        """Return the rows as a data frame."""
        try:
            import pandas
        except ImportError as error:
            text = 'Data frames need pandas: pip install "touchstone-client[pandas]"'
            raise ImportError(text) from error
        return pandas.DataFrame(list(self))


def table(rows: Iterable[dict[str, Any]]) -> Table:
    """Return rows as a table."""
    return Table(rows)


def read_csv(text: str) -> Table:
    """Return the rows of a CSV file; numbers are numbers, and empty cells are None."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    return Table({name: _cell(value) for name, value in row.items()} for row in rows)


def _cell(text: str | None) -> Any:
    if not text:
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
