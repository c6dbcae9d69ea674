"""Rows of an answer, as dictionaries or as a pandas data frame."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class Table(list[dict[str, Any]]):
    """Rows as dictionaries, in the order of the server; without rows, `columns` has their names."""

    def __init__(self, rows: Iterable[dict[str, Any]] = (), columns: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.columns = list(self[0] if self else columns)

    def frame(self) -> pandas.DataFrame:
        """Return the rows as a data frame, which has the columns also without rows."""
        try:
            import pandas
        except ImportError as error:
            text = 'Data frames need pandas: pip install "touchstone-client[pandas]"'
            raise ImportError(text) from error
        return pandas.DataFrame(list(self), columns=None if self else self.columns)


def read_csv(text: str) -> Table:
    """Return the rows of a CSV file; numbers are numbers, and empty cells are None."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    columns = rows.fieldnames or ()
    return Table(({name: _cell(row[name]) for name in columns} for row in rows), columns)


def _cell(text: str | None) -> Any:
    if not text:
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
