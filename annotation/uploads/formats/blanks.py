"""Read tables separated by blanks, as R's `write.table` and Google's mean scores."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from annotation.uploads.formats.base import Content, Import
from annotation.uploads.tables.rows import Table, of_grid
from metaeval.files.decoding import split_lines
from metaeval.files.grids import CSV, Grid
from metaeval.files.names import is_known
from metaeval.messages import message

# Possessive: a quotation mark that nothing closes is looked for once.
CELL = re.compile(r'"(?P<quoted>[^"]*+)"(?=\s|$)|\S++')


def _cells(line: str) -> list[str]:
    return [found["quoted"] or found[0].strip('"') for found in CELL.finditer(line)]


def is_table(name: str, text: str) -> bool:
    """Return True if the header has known names and no other separator, and rows have its width.

    Rows may have one cell more: the names that R gives them.
    """
    head, _, rest = text.partition("\n")
    columns = _cells(head)
    if (
        len(columns) < 2
        or any(sign in head for sign in "\t,;<{[")
        or not any(map(is_known, columns))
    ):
        return False
    widths = {len(_cells(line)) for line in split_lines(rest) if line.strip()}
    return widths in ({len(columns)}, {len(columns) + 1})


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the tables."""
    for content in contents:
        table = of_grid(content.name, partial(_grid, content.text), to.report)
        if table is not None:
            yield table


def _grid(text: str) -> Grid:
    lines = enumerate(split_lines(text), 1)
    (first, header), *rows = [(number, _cells(line)) for number, line in lines if line.strip()]
    n_names = len(rows[0][1]) - len(header)
    grid = Grid(CSV, header, [(number, cells[n_names:]) for number, cells in rows], first=first)
    if n_names:
        grid.note(message("format.row-names", "The names of the rows were skipped."))
    return grid
