"""Read files as rows of named cells: text and workbooks (`metaeval.files`), Parquet, and JSON.

JSON may be an object a line, a list of objects, or an object that holds one such list. Objects in
cells become columns of their own, `refs.refA`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import compress
from pathlib import PurePath
from typing import Any

from annotation.uploads.files import InputFile, add_notes, decode, read_bytes
from annotation.uploads.problems import SHEETS, Place, Report
from annotation.uploads.tables.objects import EMPTY_ROW, field_twice, objects_in, stays_whole
from core.work.kinds import READING, blocks
from metaeval.files.decoding import lines_of
from metaeval.files.grids import (
    CSV,
    LONGEST_CELL,
    TSV,
    Grid,
    GridError,
    read_separated,
)
from metaeval.files.names import is_known, plain
from metaeval.files.parquet import is_parquet, parquet_rows
from metaeval.files.workbooks import is_workbook, read_workbook
from metaeval.messages import Message, message, plural, printable, truncated

JSON = "jsonl"
# An output, or the system that made it.
MT = "mt"
EXTENSIONS = {
    ".tsv": TSV, ".tab": TSV, ".csv": CSV, ".jsonl": JSON, ".ndjson": JSON, ".json": JSON,
}  # fmt: skip
LONGEST_TEXT = LONGEST_CELL
# JSON within the quotation marks of a program that quotes: no text begins so, and it is read.
QUOTED_JSON = ('"[{""', '"{""')
MOST_COLUMNS = 1_000
# How files begin that have tables for other programs.
NO_TABLES = (
    (re.compile(r"<(!doctype html|html|table|head|meta|style)\b", re.IGNORECASE), "HTML"),
    (
        re.compile(r"<\?xml[^>]*>\s*(<\?[^>]*>\s*)*<([a-z]+:)?workbook\b", re.IGNORECASE),
        "XML of Excel",
    ),
    (re.compile(r"\\(begin|documentclass|usepackage)\b"), "LaTeX"),
    (re.compile(r"(---\s+)?- [\w\"' -]+:\s"), "YAML"),
    (re.compile(r"\d+ \|\|\| .*\|\|\| "), "an n-best list"),
)
# Characters of a cell that is shown, and the rows among which one is looked for.
SAMPLE, SAMPLED = 60, 50
Row = dict[str, Any]
# Types of cells that have no cells within.
ATOMS = frozenset({str, int, float, bool})
NO_CELLS: tuple[int, list[str]] = (0, [])


class Cells(Sequence[tuple[int, Row]]):
    """Rows of a grid, held by column until somebody goes through them as dictionaries.

    Most of what reads a large table asks for columns alone. Rows by number are copies; those of a
    loop are the rows from then on, and may be changed.
    """

    def __init__(self, lines: Sequence[int], columns: Mapping[str, Sequence[Any]]) -> None:
        self.lines = lines
        self._columns: Mapping[str, Sequence[Any]] = columns
        self._rows: list[tuple[int, Row]] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        if self._rows is None:
            self._rows, self._columns = self._of(slice(None)), {}
        return iter(self._rows)

    def __getitem__(self, place: Any) -> Any:
        if self._rows is not None:
            return self._rows[place]
        if isinstance(place, slice):
            return self._of(place)
        return self.lines[place], {name: cells[place] for name, cells in self._columns.items()}

    def _of(self, places: slice) -> list[tuple[int, Row]]:
        rows = zip(*(cells[places] for cells in self._columns.values()), strict=True)
        cells = (dict(zip(self._columns, row, strict=True)) for row in rows)
        return list(zip(self.lines[places], cells, strict=True))

    def column(self, name: str) -> Sequence[Any]:
        """Return the cells of a column, None where there are none."""
        if self._rows is not None:
            return [row.get(name) for _, row in self._rows]
        return self._columns.get(name) or [None] * len(self)

    def renamed(self, fields: Mapping[str, str]) -> Sequence[tuple[int, Row]]:
        """Return the rows with these columns alone, under other names."""
        if self._rows is not None:
            return _renamed(self._rows, fields)
        return Cells(self.lines, {name: self._columns[c] for c, name in fields.items()})

    def with_rows(self, wanted: Sequence[bool]) -> Sequence[tuple[int, Row]]:
        """Return the rows that are wanted."""
        if self._rows is not None:
            return list(compress(self._rows, wanted))
        columns = {name: list(compress(each, wanted)) for name, each in self._columns.items()}
        return Cells(list(compress(self.lines, wanted)), columns)


def _renamed(rows: Iterable[tuple[int, Row]], fields: Mapping[str, str]) -> list[tuple[int, Row]]:
    return [
        (line, {name: row[column] for column, name in fields.items() if column in row})
        for line, row in rows
    ]


@dataclass
class Table:
    """Rows by column name; an absent cell is absent from its row's dictionary.

    `titles` are the columns as the file writes them, `separator` is what parts the cells of a text,
    `skipped` are the lines of rows that a person skips, `sheets` those of a workbook that it joins,
    whose names are in the first column.
    """

    file: str
    columns: list[str] = field(default_factory=list)
    rows: Sequence[tuple[int, Row]] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    separator: str = ""
    first: int = 1
    skipped: Sequence[int] = ()
    sheets: Sequence[str] = ()

    @property
    def head(self) -> Place:
        """The row with the names of the columns."""
        return Place(self.file, self.first)

    @property
    def lines(self) -> Sequence[int]:
        """The line of every row."""
        return self.rows.lines if isinstance(self.rows, Cells) else [line for line, _ in self.rows]

    def column(self, name: str) -> Sequence[Any]:
        """Return the cells of a column, None where there are none."""
        if isinstance(self.rows, Cells):
            return self.rows.column(name)
        return [row.get(name) for _, row in self.rows]

    def n_unfolded(self, groups: Iterable[Iterable[str]]) -> int:
        """Return how many rows there are with one for each group of columns in each row.

        A list in a cell has several.
        """
        return sum(
            max((len(cell) for cell in cells if isinstance(cell, list)), default=1)
            for group in groups
            for cells in zip(*map(self.column, group), strict=True)
        )

    def with_columns(self, fields: Mapping[str, str]) -> Table:
        """Return the table with these columns alone, under other names but with their titles."""
        rows, known = self.rows, self.titles
        own = rows.renamed(fields) if isinstance(rows, Cells) else _renamed(rows, fields)
        titles = {**known, **{name: known[c] for c, name in fields.items() if c in known}}
        return replace(self, columns=list(fields.values()), rows=own, titles=titles)

    def with_rows(self, wanted: Sequence[bool]) -> Table:
        """Return the table with the rows that are wanted."""
        rows = self.rows
        own = rows.with_rows(wanted) if isinstance(rows, Cells) else list(compress(rows, wanted))
        return replace(self, rows=own)

    @property
    def samples(self) -> dict[str, str]:
        """The beginning of the first cell of each column that is not empty."""
        found: dict[str, str] = {}
        for _, row in self.rows[:SAMPLED]:
            cells = {c: str(cell)[:SAMPLE] for c, cell in row.items() if cell not in (None, "")}
            found = cells | found
        return found

    @property
    def constants(self) -> frozenset[str]:
        """A column `mt` that has one text in all of several rows: the name of the system."""
        named = {c: self.column(c) for c in self.columns if plain(c) == MT and len(self.rows) > 1}
        return frozenset(
            column
            for column, cells in named.items()
            if isinstance(cells[0], str) and all(cell == cells[0] for cell in cells)
        )


def read_table(file: InputFile, report: Report) -> Table | None:
    """Read the table in a file, or None with the reason reported."""
    data = read_bytes(file, report)
    if data is None:
        return None
    if is_binary(file.name, data):
        table = next(iter(binary_tables(file.name, data, report)), None)
    else:
        text = decode(file.name, data, report)
        table = None if text is None else parse(file.name, text, report)
    return table and without_skipped(table, report)


def binary_tables(
    name: str, data: bytes, report: Report, *, has_names: bool = True, door: str = ""
) -> list[Table]:
    """Return the tables of a Parquet file or a workbook; what is wrong goes to the report."""
    try:
        if is_parquet(data):
            table = _of_objects(name, parquet_rows(data), report, "Parquet")
            return [table] if table else []
        chosen = [sheet for sheet in report.choice(name, SHEETS).split("/") if sheet]
        book = read_workbook(data, has_names=has_names, chosen=chosen, door=door)
    except GridError as error:
        report.error(error.message, Place(name, error.row))
        return []
    read = [title for grid in book.tables for _, title in grid.parts]
    report.saw(name, format=book.kind.upper(), sheets=book.sheets, sheets_read=read)
    tables = []
    for grid in book.tables or [Grid(book.kind)]:
        # Several tables need names of their own.
        file = f"{name} [{grid.parts[0][1]}]" if len(book.tables) > 1 else name
        if len(book.sheets) > 1:
            report.name_sheets(file, [(n, f"{name} [{title}]") for n, title in grid.parts])
        if table := of_grid(file, partial(replace, grid), report):
            table.sheets = [title for _, title in grid.parts] if len(grid.parts) > 1 else ()
            tables.append(table)
    return tables


def is_binary(name: str, data: bytes) -> bool:
    """Return True for tables that are no text: Parquet files, and workbooks."""
    return is_parquet(data) or is_workbook(name, data)


def format_of(name: str, text: str) -> str:
    """Return `tsv`, `csv` or `jsonl`, by the file name or else by the first line."""
    known = EXTENSIONS.get(PurePath(name).suffix.lower())
    if known:
        return known
    first = next(lines_of(text), "")
    if first.lstrip().startswith(("{", "[")):
        return JSON
    return TSV if "\t" in first else CSV


def parse(name: str, text: str, report: Report, *, has_names: bool = True) -> Table | None:
    """Return the rows of a table, or None with the reason reported."""
    if not text.strip():
        report.error(message("file.empty", "The file is empty."), Place(name))
        return None
    if found := next((each for sign, each in NO_TABLES if sign.match(text[:1_000].lstrip())), None):
        refusal = message(
            "table.other",
            "This is {kind}, which is not read. Save the table as CSV, TSV, XLSX or JSON.",
            kind=found,
        )
        report.error(refusal, Place(name))
        return None
    kind = format_of(name, text)
    if kind == JSON:
        return _of_objects(name, objects_in(name, text, report), report)
    return of_grid(name, lambda: read_separated(text, kind, has_names=has_names), report)


def without_skipped(table: Table, report: Report) -> Table:
    """Return a table without the rows that a person skips, which it then names.

    Errors in the table name columns as its header does.
    """
    report.name_columns(table.file, table.titles)
    if report.skips and (gone := report.skips.remove(table.file, table.lines)):
        table.skipped = sorted(gone)
        return table.with_rows([line not in gone for line in table.lines])
    return table


def require_rows(table: Table, report: Report) -> None:
    """Report a table without rows, unless an error of the file explains that already."""
    name = printable(table.file)
    if not table.rows and all(error.place.file != name for error in report.errors):
        text = message("table.no-rows", "The table has a header but no rows.")
        report.error(text, Place(table.file))


def of_grid(name: str, read: Callable[[], Grid], report: Report) -> Table | None:
    """Return the table in a grid of cells, or None with the reason reported."""
    try:
        grid = read()
    except GridError as error:
        report.error(error.message, Place(name, error.row))
        return None
    add_notes(name, grid.notes, report)
    if not grid.header:
        report.error(message("table.none", "The file does not contain a table."), Place(name))
        return None
    table = Table(
        name,
        [column_name(cell) for cell in grid.header],
        titles=_titles(grid.header),
        separator=grid.separator,
        first=grid.first,
    )
    report.name_columns(name, table.titles)
    if not _check_header(table, grid, report):
        return None
    _report_uneven(table, grid, report)
    table.rows = _by_column(table, grid)
    if any(max(map(len, table.column(c)), default=0) > LONGEST_TEXT for c in table.columns):
        fits = [not _is_too_long(row, Place(name, line), report) for line, row in table.rows]
        table = table.with_rows(fits)
    report.saw(name, format=grid.kind.upper(), separator=grid.separator, rows=len(table.rows))
    return table


def _by_column(table: Table, grid: Grid) -> Cells:
    """Take the cells out of the rows of a grid, which are held once."""
    columns: list[list[str]] = [[] for _ in table.columns]
    lines: list[int] = []
    for places in blocks(READING, len(grid.rows)):
        for n, column in enumerate(columns):
            column += [cells[n] for _, cells in grid.rows[places]]
        lines += [line for line, _ in grid.rows[places]]
        grid.rows[places] = [NO_CELLS] * (places.stop - places.start)
    return Cells(lines, dict(zip(table.columns, columns, strict=True)))


def _report_uneven(table: Table, grid: Grid, report: Report) -> None:
    if grid.blank:
        report.error_in_rows(EMPTY_ROW, table.file, grid.blank)
    by_width: dict[int, list[int]] = {}
    for number, width in grid.torn:
        by_width.setdefault(width, []).append(number)
    for width, numbers in by_width.items():
        text = plural(
            "table.cells",
            "The row has {n} cell; the header has {header}.",
            "The row has {n} cells; the header has {header}.",
            n=width,
            header=grid.width or len(grid.header),
        )
        report.error_in_rows(text, table.file, numbers)


def _is_too_long(
    row: Row, place: Place, report: Report, titles: Mapping[str, str] | None = None
) -> bool:
    """Refuse texts that would take seconds each; such files have lost their line endings."""
    texts = [cell for cell in row.values() if type(cell) is str]
    if len(max(texts, key=len, default="")) <= LONGEST_TEXT:
        return False
    long = [(c, len(v)) for c, v in row.items() if isinstance(v, str) and len(v) > LONGEST_TEXT]
    for column, length in long:
        title = (titles or {}).get(column, column)
        report.error(too_long(length), place._replace(field=title))
    return bool(long)


def _titles(names: Iterable[str]) -> dict[str, str]:
    return {column_name(name): name.strip() for name in names}


def too_long(characters: int) -> Message:
    """Return the message that refuses a text."""
    return message(
        "text.too-long",
        "The text has {characters} characters; the limit is {limit}. Check that the line endings "
        "were not lost.",
        characters=characters,
        limit=LONGEST_TEXT,
    )


@lru_cache(maxsize=4096)  # JSON and Parquet name them in every row
def column_name(name: str) -> str:
    """Return a column name without outer blanks, its fixed part in lower case."""
    name = name.strip()
    head, mark, rest = name.partition(":")
    if mark and head.lower() == "system":
        return f"system:{rest.strip()}"
    if name.lower().startswith("reference_"):
        return f"reference_{name[10:]}"
    head, mark, rest = name.partition(".")
    return f"{head.lower()}{mark}{rest}"


def _check_header(table: Table, grid: Grid, report: Report) -> bool:
    before = len(report.errors)
    if not _fits(table, report):
        return False
    for name in sorted(n for n, times in Counter(table.columns).items() if times > 1):
        if is_known(name):
            text = message(
                "table.column-twice",
                "The column “{column}” occurs twice. Rename one of them.",
                column=name,
            )
            report.error(text, table.head)
        else:
            _number(name, table, grid, report)
    name = table.columns[0]
    if len(table.columns) == 1 and any(sign in name for sign in ";,\t"):
        text = (
            message(
                "table.no-tabs",
                "The header “{header}” is a single column. Separate cells by tabs, as the file "
                "name’s ending says.",
                header=name[:60],
            )
            if grid.kind == TSV
            else message(
                "table.no-commas",
                "The header “{header}” is a single column. Separate cells by commas, as the file "
                "name’s ending says.",
                header=name[:60],
            )
        )
        report.error(text, table.head)
    return len(report.errors) == before


def _number(name: str, table: Table, grid: Grid, report: Report) -> None:
    """Number the columns of one name, which no reader knows, from the second on."""
    places = [place for place, column in enumerate(table.columns) if column == name]
    numbers = (n for n in itertools.count(2) if f"{name} {n}" not in table.columns)
    for place in places[1:]:
        number = next(numbers)
        table.columns[place] = f"{name} {number}"
        table.titles[table.columns[place]] = f"{grid.header[place]} {number}"
    text = message(
        "table.columns-numbered",
        "{n} columns are called “{column}”. From the second on, they are called {columns}.",
        n=len(places),
        column=name,
        columns=truncated([table.titles[table.columns[place]] for place in places[1:]]),
    )
    report.warn(text, table.head)


def _fits(table: Table, report: Report) -> bool:
    if len(table.columns) > MOST_COLUMNS:
        text = message(
            "table.too-many-columns",
            "The table has {n} columns; the limit is {limit}. Put each output in its own row, with "
            "the columns segment, system and output.",
            n=len(table.columns),
            limit=MOST_COLUMNS,
        )
        report.error(text, table.head)
    return len(table.columns) <= MOST_COLUMNS


def _of_objects(
    name: str, rows: Iterable[tuple[int, Row]], report: Report, kind: str = "JSON"
) -> Table | None:
    columns: dict[str, str] = {}
    found: list[tuple[int, Row]] = []
    keys: list[str] = []
    titles: dict[str, str] = {}
    for number, row in rows:
        if list(row) == keys and ATOMS.issuperset(map(type, row.values())):
            cells = dict(zip(titles, row.values(), strict=True))
        else:
            titles = {}
            if (flat := _cells_of(row, titles, report, Place(name, number))) is None:
                continue
            cells, keys = flat, list(row) if list(row) == list(titles.values()) else []
        found.append((number, cells))
        is_long = _is_too_long(cells, Place(name, number), report, titles)
        if not is_long and not titles.keys() <= columns.keys():
            columns = columns | {c: title for c, title in titles.items() if c not in columns}
        if len(columns) > MOST_COLUMNS:
            break
    table = Table(name, list(columns), found, columns)
    report.saw(name, format=kind, rows=len(table.rows))
    is_read = bool(table.rows) or not report.errors
    return table if is_read and _fits(table, report) else None


def _cells_of(
    row: Mapping[str, Any], titles: dict[str, str], report: Report, place: Place
) -> Row | None:
    """Return an object as a row, or None; two keys that differ in case alone are one column."""
    cells: Row = {}
    for title, value in flat(row):
        column = column_name(title)
        if column in titles:
            report.error(field_twice(column), place)
            return None
        titles[column] = title
        if value is not None:
            cells[column] = value
    return cells


def flat(row: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the cells of an object, those of objects within by their path.

    What `stays_whole` is read by what knows its layout.
    """
    for key, value in row.items():
        title = f"{path}{key}"
        if isinstance(value, dict) and value and depth < 3 and not stays_whole(key):
            yield from flat(value, f"{title}.", depth + 1)
        else:
            yield title, value
