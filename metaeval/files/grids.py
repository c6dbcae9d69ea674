"""Text and workbooks to a header and rows of cells: TSV, CSV and XLSX as programs write them.

What pandas, R and spreadsheets leave around a table is taken off, and said: `sep=` above it, title
rows, quotation marks, columns without a name, empty columns and rows behind it. Every row keeps the
line that it begins on.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from itertools import islice
from typing import Any

from metaeval.files.decoding import Remark, split_lines
from metaeval.files.names import is_known

TSV, CSV, XLSX = "tsv", "csv", "xlsx"
# Characters. A paragraph has some thousand; what is longer is a file whose line ends were lost.
LONGEST_CELL = 100_000
# Lines above a header that are no part of the table.
MOST_TITLES = 5
# What openpyxl, zipfile and the parsers of XML raise for a broken file: XML's are SyntaxErrors.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, SyntaxError, ArithmeticError),
    *(AttributeError, LookupError, RuntimeError, TypeError, ValueError),
)
# Bytes of a workbook that was unpacked: an archive of 1 MB may hold a thousand times as much. A row
# is as wide as the place of its last cell says, so a few bytes stand for thousands of cells.
LARGEST_WORKBOOK, MOST_CELLS = 400_000_000, 10_000_000
SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
DEFAULT = {TSV: "\t", CSV: ","}
SEPARATOR = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
Line = tuple[int, list[str]]


class GridError(ValueError):
    """A table cannot be read on from `row`."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


@dataclass
class Grid:
    """A header in line `first`, rows of as many cells, and what was done to get them.

    `torn` are rows of another number of cells, with that number; `blank` are empty lines between
    rows. `separator` is what parts the cells of a text.
    """

    kind: str
    header: list[str] = field(default_factory=list)
    rows: list[Line] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    first: int = 1
    separator: str = ""
    torn: list[tuple[int, int]] = field(default_factory=list)
    blank: list[int] = field(default_factory=list)

    def note(self, message: str, row: int | None = None) -> None:
        """Add something that was done."""
        self.remarks.append(Remark("note", message, row))

    def warn(self, message: str, row: int | None = None) -> None:
        """Add something that a person should look at."""
        self.remarks.append(Remark("warning", message, row))


def read_separated(text: str, kind: str) -> Grid:
    """Return the table in a TSV or CSV text. Raises GridError where quoting makes no sense.

    Examples
    --------
    >>> grid = read_separated("sep=;\\nsegment;score;\\n1;0.5;\\n", CSV)
    >>> grid.header, grid.rows
    (['segment', 'score'], [(3, ['1', '0.5'])])
    """
    grid, first = Grid(kind), 1
    head, _, rest = text.partition("\n")
    if stated := SEPARATOR.fullmatch(head):
        grid.separator, text, first = stated[1], rest, 2
        grid.note(f"“{head.strip()}” says what separates cells")
    else:
        grid.separator = _separator(head, kind)
        if grid.separator != DEFAULT[kind]:
            grid.note(f"cells are separated by {SEPARATORS[grid.separator]}", 1)
    if grid.separator == "\t":
        lines = _tabs(grid, text, first)
    else:
        lines = list(quoted_lines(text, grid.separator, first))
    _fill(grid, lines)
    return grid


def read_workbook(data: bytes) -> Grid:
    """Return the first table of an XLSX workbook. Raises GridError for anything else."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise GridError("to read workbooks, install openpyxl; or save the file as CSV") from None
    grid = Grid(XLSX)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST_WORKBOOK:
                raise GridError("the workbook is too large. Export the table as CSV")
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = [(sheet.title, _cells(sheet)) for sheet in book.worksheets]
    except GridError:
        raise
    except BROKEN:
        raise GridError("this is no workbook that can be read. Export the table as CSV") from None
    filled = [(title, lines) for title, lines in sheets if any(cells for _, cells in lines)]
    if filled:
        others = ", ".join(f"“{title}”" for title, _ in filled[1:])
        if others:
            grid.warn(f"the sheet “{filled[0][0]}” is read, and not {others}")
        _fill(grid, filled[0][1])
    return grid


def _cells(sheet: Any) -> list[Line]:
    """Return the rows by number, empty ones too; what is stated of the sheet's size is ignored."""
    sheet.reset_dimensions()
    lines, n_cells = [], 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        n_cells += len(row)
        if n_cells > MOST_CELLS:
            raise GridError("the workbook is too large. Export the table as CSV", number)
        cells = [_written(value) for value in row]
        lines.append((number, cells if any(map(str.strip, cells)) else []))
    return lines


def _written(value: Any) -> str:
    """Return the cell of a workbook as it would stand in a CSV."""
    if value is None:
        return ""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def _separator(header: str, kind: str) -> str:
    """Return what stands between cells: another sign only where the header has none of the usual.

    Where the name of a file does not fit its contents, its contents are right.
    """
    others = (sign for sign in SEPARATORS if sign in header)
    return DEFAULT[kind] if DEFAULT[kind] in header else next(others, DEFAULT[kind])


def quoted_lines(text: str, separator: str = ",", first: int = 1) -> Iterator[Line]:
    """Yield the cells of a CSV with the line that each row begins on, none where all are empty.

    Raises GridError where the quoting makes no sense.
    """
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    number = 0
    try:
        for cells in reader:
            yield first + number, cells if any(map(str.strip, cells)) else []
            number = reader.line_num
    except csv.Error as error:
        raise GridError(
            f"the CSV cannot be read from here on ({error}). Is a quotation mark not closed or not "
            "doubled?",
            first + number,
        ) from None


def _tabs(grid: Grid, text: str, first: int) -> list[Line]:
    """Split at tabs; quotation marks are part of texts unless the file shows that it quotes."""
    lines: list[Line] = [
        (number, line.split("\t") if line.strip() else [])
        for number, line in enumerate(split_lines(text), first)
    ]
    if '"' not in text:
        return lines
    width = len(lines[0][1])
    if any(cells and len(cells) != width for _, cells in lines):
        # A quoted cell may hold tabs and line ends.
        try:
            quoted = list(quoted_lines(text, "\t", first))
        except GridError:
            quoted = []
        if quoted and all(len(cells) in (0, width) for _, cells in quoted):
            grid.note("cells stand between quotation marks, which are taken off")
            return quoted
    _unquote(grid, lines)
    return lines


def _unquote(grid: Grid, lines: list[Line]) -> None:
    """Take off the quotation marks of columns in which they are those of a program."""
    header = next((cells for _, cells in lines if cells), [])
    is_quoted_header = all(map(_is_closed, header)) and len(header) > 1
    named = []
    for column, title in enumerate(header):
        cells = [row[column] for _, row in lines[1:] if column < len(row)]
        marked = [cell for cell in cells if '"' in cell]
        if is_quoted_header or _are_quoted(marked, len(cells)):
            taken = all(map(_is_closed, marked))
            for _, row in lines if taken else lines[:1]:
                if column < len(row) and _is_closed(row[column]):
                    row[column] = row[column][1:-1].replace('""', '"')
            named.append(title.strip('"'))
        elif doubled := [n for n, row in lines if column < len(row) and _doubles(row[column])]:
            grid.warn(
                f"{len(doubled):,} cells of “{title}” are in quotation marks with doubled ones "
                "inside, and others have marks of their own: all are kept as they stand",
                doubled[0],
            )
    if named:
        columns = ", ".join(f"“{name}”" for name in named[:10])
        grid.note(f"quotation marks around the cells of {columns} are taken off")


def _is_closed(cell: str) -> bool:
    """Whether a cell stands between quotation marks, with those inside doubled."""
    is_between = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return is_between and '"' not in cell[1:-1].replace('""', "")


def _doubles(cell: str) -> bool:
    return _is_closed(cell) and '""' in cell[1:-1]


def _are_quoted(marked: Sequence[str], n_cells: int) -> bool:
    """Whether the marks of a column are a program's: around all cells, or doubled where needed."""
    is_whole = len(marked) == n_cells > 1
    return (
        bool(marked) and all(map(_is_closed, marked)) and (is_whole or any(map(_doubles, marked)))
    )


def _fill(grid: Grid, lines: Sequence[Line]) -> None:
    """Find the header among lines, and give every row its number of cells."""
    start = _header_at(grid, lines)
    if start is None:
        return
    grid.first, header = lines[start][0], [cell.strip() for cell in lines[start][1]]
    rows = lines[start + 1 :]
    longest = max((len(cells) for _, cells in rows), default=0)
    header = _without_remark(grid, header, longest)
    filled = [cells for _, cells in rows if cells]
    if _has_row_names(filled, len(header)):
        header = ["", *header]
    kept = [column for column, name in enumerate(header) if name]
    _say_unnamed(grid, header, filled)
    grid.header = [header[column] for column in kept]
    is_whole = len(kept) == len(header)
    least = kept[-1] + 1 if kept else 0
    blank: list[int] = []
    for number, cells in rows:
        if not cells:
            blank.append(number)
            continue
        grid.blank += blank
        blank.clear()
        if len(cells) > len(header) and not any(map(str.strip, cells[len(header) :])):
            cells = cells[: len(header)]
        if least <= len(cells) <= len(header):
            grid.rows.append((number, cells if is_whole else [cells[column] for column in kept]))
        else:
            grid.torn.append((number, len(cells)))


def _has_row_names(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether R numbered the rows in a column that the header does not have."""
    return bool(rows) and all(
        len(cells) == width + 1 and cells[0] == str(number) for number, cells in enumerate(rows, 1)
    )


def _header_at(grid: Grid, lines: Sequence[Line]) -> int | None:
    """Return which line is the header: titles above it fill one cell, and the rows several."""
    filled = [n for n, (_, cells) in enumerate(lines[: MOST_TITLES + 20]) if cells]
    counts = [sum(bool(cell.strip()) for cell in lines[n][1]) for n in filled]
    titles = next((place for place, count in enumerate(counts) if count > 1), 0)
    is_table = titles and counts[titles] == len(lines[filled[titles]][1])
    if not is_table or titles > MOST_TITLES:
        return filled[0] if filled else None
    if not _are_titles(lines, filled, titles):
        return filled[0]
    shown = next(cell for cell in lines[filled[0]][1] if cell.strip())
    grid.warn(f"what stands above the header is left out: “{shown.strip()[:60]}”", lines[0][0])
    return filled[titles]


def _are_titles(lines: Sequence[Line], filled: Sequence[int], titles: int) -> bool:
    """Whether a header that is known as such stands below, over rows of its width."""
    header = lines[filled[titles]][1]
    below = [len(lines[n][1]) for n in islice(filled, titles + 1, titles + 5)]
    above = [cell for n in filled[:titles] for cell in lines[n][1] if cell.strip()]
    is_header = any(map(is_known, header)) and not any(map(is_known, above))
    return is_header and all(count == len(header) for count in below)


def _without_remark(grid: Grid, header: list[str], longest: int) -> list[str]:
    """Take a comment off the end of a header: Marot writes its documentation there."""
    if longest == len(header) - 1 and header[-1].startswith("#"):
        grid.note(f"“{header[-1][:60]}” at the end of the header is no column", grid.first)
        return header[:-1]
    return header


def _say_unnamed(grid: Grid, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for column, name in enumerate(header):
        if name:
            continue
        cells = [row[column] for row in islice(rows, 1_000) if column < len(row)]
        shown = ", ".join(cell.strip()[:20] for cell in cells if cell.strip())[:60]
        if shown:
            grid.warn(f"column {column + 1} is without a name and left out: {shown}", grid.first)
        else:
            grid.note(f"column {column + 1} is empty, and left out", grid.first)
