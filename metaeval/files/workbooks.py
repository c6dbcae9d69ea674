"""Workbooks to tables: XLSX and ODS, sheet by sheet.

Sheets with the same columns are one table with the names of the sheets in a column. Which of the
others are read depends on the import, or a person chooses them.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from typing import Any
from xml.parsers import expat

from metaeval.files.cells import MOST_CELLS, is_missing, parse_number
from metaeval.files.grids import (
    LARGEST_WORKBOOK,
    ODS,
    TOO_LARGE,
    UNREADABLE,
    XLSX,
    Grid,
    GridError,
    Line,
    fill,
)
from metaeval.files.names import (
    METRIC_SCORES,
    NAMES,
    PLACES,
    RATED,
    TEST_SET,
    column_of,
    fields_of,
    is_field,
    is_known,
    plain,
)
from metaeval.files.opendocument import SPREADSHEET, Merged, Sheets
from metaeval.messages import message, plural, truncated

# The column with the names of sheets.
SHEET = "sheet"
# Columns by which a sheet of texts belongs to one of ratings, and the fields that it has.
KEYS = ("segment", *NAMES["segment"], "item", *NAMES["item"], *PLACES)
TEXTS = ("source", "reference", "output")
ARCHIVE = b"PK\x03\x04"
# Bytes at the start of an archive with the type of an ODS, and at its end with the names of files.
MIMETYPE, DIRECTORY = 200, 65_536
# What openpyxl, zipfile and the XML parsers raise for a broken file; those of XML are SyntaxErrors.
BROKEN = (
    *(
        zipfile.BadZipFile,
        zlib.error,
        expat.ExpatError,
        EOFError,
        OSError,
        SyntaxError,
        ArithmeticError,
    ),
    *(AttributeError, LookupError, RuntimeError, TypeError, ValueError),
)
# A character that XML may not hold, or a carriage return (ECMA-376, part 1, 22.9.2.19).
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^>]*?ref="([A-Z]+\d+:[A-Z]+\d+)"')


@dataclass(frozen=True)
class Workbook:
    """The tables of a workbook: each of one sheet, or of sheets with the same columns.

    `kind` is that of the file, `sheets` are the names of all sheets with content, and `tables`
    those that were read.
    """

    kind: str
    sheets: list[str] = field(default_factory=list)
    tables: list[Grid] = field(default_factory=list)


def is_workbook(name: str, data: bytes) -> bool:
    """Return True for XLSX and ODS, whatever the name, and for archives that are called so."""
    if not data.startswith(ARCHIVE):
        return False
    is_named = name.lower().endswith((".xlsx", ".xlsm", ".ods"))
    return is_named or SPREADSHEET in data[:MIMETYPE] or b"xl/workbook." in data[-DIRECTORY:]


def read_workbook(
    data: bytes, *, has_names: bool = True, chosen: Sequence[str] = (), door: str = ""
) -> Workbook:
    """Return the tables of an XLSX or ODS workbook. Raises GridError for anything else.

    Without `chosen` sheets, the first table with most of the fields that only the import (`door`)
    reads is read, with all that have its columns; with ratings also a sheet of their texts. The
    others are named in a note, or in a warning if they are tables.
    """
    found: dict[str, Grid] = {}
    kind = ODS if SPREADSHEET in data[:MIMETYPE] else XLSX
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST_WORKBOOK:
                raise GridError(TOO_LARGE)
            for title, lines, merged in (
                Sheets(archive, MOST_CELLS) if kind == ODS else _xlsx(data, archive)
            ):
                if any(cells for _, cells in lines):
                    grid = found[title] = Grid(kind, parts=[(0, title)])
                    _fill_merged(grid, lines, merged)
                    # A workbook ends a row at its last cell with content.
                    fill(grid, lines, has_names=has_names, pads=True)
                    grid.n_lines = lines[-1][0]
    except GridError:
        raise
    except BROKEN:
        raise GridError(UNREADABLE) from None
    return Workbook(kind, list(found), _chosen(found, chosen, door) if found else [])


def _chosen(found: dict[str, Grid], chosen: Sequence[str], door: str) -> list[Grid]:
    """Return the tables of sheets. Raises GridError for a chosen sheet that does not exist."""
    if absent := [title for title in chosen if title not in found]:
        refusal = message(
            "workbook.no-sheet",
            "The workbook has no sheet “{sheet}”. Its sheets are {sheets}.",
            sheet=absent[0],
            sheets=truncated(list(found), 30),
        )
        raise GridError(refusal)
    tables = [title for title, grid in found.items() if _is_table(grid)]
    first = max((found[title] for title in tables or found), key=lambda grid: _n_own(grid, door))
    wanted = chosen or [
        title
        for title, grid in found.items()
        if _key(grid) == _key(first) or (door in RATED and _has_texts_of(first, grid))
    ]
    groups: dict[tuple[str, ...], list[Grid]] = {}
    for title in found:
        if title in wanted:
            groups.setdefault(_key(found[title]), []).append(found[title])
    joined = [_joined(alike) for alike in groups.values()]
    if others := [title for title in found if title not in wanted]:
        text = message(
            "workbook.sheets",
            "Sheets read: {sheets}. Sheets not read: {others}. To read others, choose them "
            "(command line: --column “(sheets)=NAME/NAME”; API: columns).",
            sheets=truncated([title for title in found if title in wanted]),
            others=truncated(others),
        )
        (joined[0].warn if {*others} & {*tables} else joined[0].note)(text)
    return joined


def _is_table(grid: Grid) -> bool:
    """Return True for several columns over rows, one of them known: no title page or legend."""
    is_wide = len(grid.header) > 1 and bool(grid.rows)
    return is_wide and (any(map(is_known, grid.header)) or grid.header[0] == "column 1")


def _n_own(grid: Grid, door: str) -> int:
    """Return how many columns have a field that an import reads and test sets do not.

    Of a test set it is the columns with texts, of metric scores also others with numbers.
    """
    names = {
        plain(name)
        for field in fields_of(door)
        if (field.name in TEXTS if door == TEST_SET else TEST_SET not in field.imports)
        for name in field.names
    }
    named = sum(plain(column) in names for column in grid.header)
    if door != METRIC_SCORES:
        return named
    others = [place for place, column in enumerate(grid.header) if not is_field(column)]
    return named + sum(
        any(parse_number(cell) is not None and not is_missing(cell) for cell in column)
        for column in ([cells[place] for _, cells in grid.rows] for place in others)
    )


def _has_texts_of(judged: Grid, grid: Grid) -> bool:
    """Return True for a sheet with the texts of another's rows, which both number alike."""
    judged_texts, texts = (
        {field for field in TEXTS if column_of(field, each.header)} for each in (judged, grid)
    )
    shared = {*map(plain, judged.header)} & {*map(plain, grid.header)}
    return bool(texts) and not judged_texts and not shared.isdisjoint(map(plain, KEYS))


def _key(grid: Grid) -> tuple[str, ...]:
    """Return the columns by which sheets are alike: in any order, unless two have one name."""
    names = list(map(plain, grid.header))
    return tuple(sorted(names) if len({*names}) == len(names) else names)


def _joined(alike: Sequence[Grid]) -> Grid:
    """Return sheets with the same columns as one table, its lines counted on."""
    first = alike[0]
    if len(alike) == 1:
        return first
    column = next(name for name in (SHEET, "name of the sheet") if name not in first.header)
    whole = replace(first, header=[column, *first.header], rows=[], notes=[], torn=[], blank=[],
                    parts=[], n_lines=0)  # fmt: skip
    for grid in alike:
        before, ((_, title),) = whole.n_lines, grid.parts
        names = [plain(name) for name in grid.header]
        own = list(map(plain, first.header))
        places = [names.index(name) if names != own else n for n, name in enumerate(own)]
        whole.parts.append((before, title))
        whole.rows += [
            (before + number, [title, *(cells[place] for place in places)])
            for number, cells in grid.rows
        ]
        whole.notes += [
            note if note.row is None else note._replace(row=before + note.row)
            for note in grid.notes
        ]
        whole.torn += [(before + number, n_cells) for number, n_cells in grid.torn]
        whole.blank += [before + number for number in grid.blank]
        whole.n_lines += grid.n_lines
    return whole


def _xlsx(
    data: bytes, archive: zipfile.ZipFile
) -> Iterator[tuple[str, list[Line], Iterable[Merged]]]:
    """Yield name, rows and merged cells of the sheets of an XLSX workbook."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        lacking = message(
            "workbook.no-reader", "Install openpyxl to read workbooks, or save the file as CSV."
        )
        raise GridError(lacking) from None
    n_cells = 0
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    if not book.worksheets:  # A workbook by the strict schema has other namespaces.
        raise GridError(UNREADABLE)
    for sheet in book.worksheets:
        lines = _cells(sheet, MOST_CELLS - n_cells)
        n_cells += sum(len(cells) for _, cells in lines)
        yield sheet.title, lines, _merged(archive, sheet)


def _cells(sheet: Any, most: int) -> list[Line]:
    """Return the rows by number, empty ones too; the size that the sheet states is ignored.

    Raises GridError beyond `most` cells.
    """
    sheet.reset_dimensions()
    lines, n_cells = [], 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        n_cells += len(row)
        if n_cells > most:
            raise GridError(TOO_LARGE, number)
        cells = [_written(value) for value in row]
        lines.append((number, cells if any(map(str.strip, cells)) else []))
    return lines


def _merged(archive: zipfile.ZipFile, sheet: Any) -> Iterator[Merged]:
    """Yield the column, the first and the last row of cells that are merged down, from 1."""
    from openpyxl.utils import range_boundaries

    rest = b""
    with archive.open(sheet._worksheet_path.lstrip("/")) as file:
        while chunk := file.read(1 << 20):
            rest, end = rest + chunk, 0
            for found in MERGED.finditer(rest):
                end = found.end()
                column, first, _, last = range_boundaries(found[1].decode())
                if last > first:
                    yield column, first, last
            rest = rest[max(rest.rfind(b"<"), end) :]


def _fill_merged(grid: Grid, lines: list[Line], merged: Iterable[Merged]) -> None:
    """Give cells that are merged down the text of the first, with a note."""
    n_filled = 0
    for column, first, last in merged:
        above = lines[first - 1][1] if first <= len(lines) else []
        text = above[column - 1] if column <= len(above) else ""
        for place in range(first, min(last, len(lines)) if text else first):
            number, cells = lines[place]
            if cells:
                cells = [*cells, *[""] * (column - len(cells))]
                cells[column - 1] = text
                lines[place] = number, cells
                n_filled += 1
    if n_filled:
        grid.note(
            plural(
                "workbook.merged",
                "{n} cell that is merged with the one above has its text.",
                "{n} cells that are merged with the one above have its text.",
                n=n_filled,
            )
        )


def _written(value: Any) -> str:
    """Return the cell of a workbook as a CSV would have it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return ESCAPED.sub(lambda found: chr(int(found[1], 16)), value) if "_x" in value else value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)
