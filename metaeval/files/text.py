"""Reading and writing files of lines and tables: errors that name file, line and field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.files.cells import read_score
from metaeval.files.decoding import Note, UndecodableError, decode, lines_of, split_lines
from metaeval.files.grids import (
    CSV,
    SEPARATOR,
    TSV,
    Grid,
    GridError,
    read_separated,
)
from metaeval.files.names import column_of
from metaeval.files.parquet import is_parquet, read_parquet
from metaeval.files.workbooks import is_workbook, read_workbook
from metaeval.messages import Message, MessageError, message, truncated
from metaeval.results import MissingDataWarning, Notes


class FormatError(MessageError, ValueError):
    """A file does not have the expected format; `message` is without file and line."""

    def __init__(self, path: Path, line: int | None, message: Message) -> None:
        super().__init__(message)
        self.path, self.line = path, line
        where = f"{path}" if line is None else f"{path}, line {line}"
        self.args = (f"{where}: {self.message}",)


EMPTY = ("", "None")
# The encoding that a person stated for files that are no Unicode.
STATED_ENCODING = ContextVar("STATED_ENCODING", default="")
# Rows of a part of a table, each about 1 KB of memory, and of the start that shows the header.
PART, START = 20_000, 100
NO_FILE = message("file.missing", "The file does not exist.")


def read_text(path: Path) -> str:
    """Return the text of a file; warn where its encoding was guessed.

    Raises FormatError if there is no such file, or it is not text.
    """
    try:
        decoded = decode(path.read_bytes(), encoding=STATED_ENCODING.get())
    except FileNotFoundError:
        raise FormatError(path, None, NO_FILE) from None
    except UndecodableError as error:
        raise FormatError(path, error.row, error.message) from None
    _warn(path, decoded.notes)
    return decoded.text


def read_lines(path: Path, *, without: str | None = None) -> list[str]:
    """Return the lines without trailing white space (or ``without``).

    U+2028 and its like are part of a text, not line endings.
    """
    return [line.rstrip(without) for line in split_lines(read_text(path))]


def _warn(path: Path, notes: Iterable[Note]) -> None:
    for note in notes:
        if note.severity != "warning":
            continue
        if note.row:
            text = message(
                "file.note-at-line", "{file}, line {line:d}: {note}",
                file=path.name, line=note.row, note=note.message,
            )  # fmt: skip
        else:
            text = message("file.note", "{file}: {note}", file=path.name, note=note.message)
        Notes().warn(MissingDataWarning(text))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines with LF, making the folder if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))


def number(path: Path, line: int, field: str, text: str) -> float:
    """Return a finite number, or nan for a missing one (`read_score`)."""
    value = read_score(text)
    if value is None:
        refusal = message(
            "field.no-number",
            "Field {field}: expected a number, got “{text}”.",
            field=field,
            text=text,
        )
        raise FormatError(path, line, refusal)
    return value


def numbers(path: Path, field: str, lines: Iterable[int], cells: Sequence[str]) -> FloatArray:
    """Do what `number` does for many cells and their lines, in a tenth of the time."""
    values = np.full(len(cells), math.nan)
    if "_" not in "".join(cells):
        try:
            values = np.array(cells, np.float64)
        except ValueError:
            with suppress(ValueError):
                values = np.array(["nan" if cell in EMPTY else cell for cell in cells], np.float64)
    # Cells that are not finite numbers are read again: words for missing scores are known there.
    again = [n for n in np.flatnonzero(~np.isfinite(values)).tolist() if cells[n] not in EMPTY]
    if again:
        line_of = list(lines)
        values[again] = [number(path, line_of[n], field, cells[n]) for n in again]
    return values


def plain_number(value: float, *, empty: str = "") -> str:
    """Return the shortest text that reads back as the same number; nan is ``empty``."""
    if math.isnan(value):
        return empty
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def plain_numbers(values: FloatArray, *, empty: str = "") -> list[str]:
    """Return the same texts of many numbers (n,), in a fifth of the time."""
    if not len(values):
        return []
    is_whole = (np.abs(values) < 1e15) & (values == np.rint(values))
    if is_whole.all():
        return list(map(str, values.astype(np.int64).tolist()))
    texts = repr((values + 0.0).tolist())[1:-1].split(", ")
    for place in np.flatnonzero(is_whole).tolist():
        texts[place] = texts[place][:-2]
    for place in np.flatnonzero(np.isnan(values)).tolist():
        texts[place] = empty
    return texts


class Table:
    """A table with a header: text or workbook (`metaeval.files.grids`), Parquet, or blanks between.

    A first line with a comma and without a tab is that of a CSV file. ``required`` and ``optional``
    name columns in any case: fields of `metaeval.files.names` by all their names, and alternatives
    joined by ``|``; up to ``unnamed`` more fields than the header has may follow. A row with fewer
    is refused: the file was cut off, since missing scores are empty fields.
    """

    def __init__(
        self,
        path: str | Path,
        required: Sequence[str],
        *,
        optional: Sequence[str] = (),
        blanks: bool = False,
        unnamed: int = 0,
    ) -> None:
        self.path = Path(path)
        grid = _parted(self.path) if blanks else _grid(self.path)
        if not grid.header:
            raise FormatError(self.path, None, message("file.empty", "The file is empty."))
        self.header = grid.header
        self.columns: dict[str, int] = {}
        self._find(required, optional)
        self.rows = grid.rows
        for line, count in grid.torn:
            if not len(self.header) <= count <= len(self.header) + unnamed:
                raise FormatError(self.path, line, self._wrong_length(count))

    @classmethod
    def parts(
        cls, path: str | Path, required: Sequence[str], *, optional: Sequence[str] = ()
    ) -> Iterator[Table]:
        """Yield the table some rows at a time, which takes little memory; at least one part.

        A file that needs more than splitting lines at tabs is one part.
        """
        if not _is_plain(Path(path)):
            yield cls(path, required, optional=optional)
            return
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            table = cls.__new__(cls)
            table.path, table.columns, table.rows = Path(path), {}, []
            table.header = next(file).removesuffix("\n").split("\t")
            table._find(required, optional)
            lines = enumerate(file, start=2)
            is_last = False
            while not is_last:
                table = copy(table)
                table.rows = [
                    (number, line.removesuffix("\n").split("\t"))
                    for number, line in islice(lines, PART)
                ]
                is_last = len(table.rows) < PART
                yield table

    def _wrong_length(self, count: int) -> Message:
        known = {"expected": len(self.header), "n": count}
        if count > len(self.header):
            return message("table.fields", "Expected {expected} fields, got {n}.", **known)
        return message(
            "table.field-missing",
            "Expected {expected} fields, got {n}: field {field} is missing.",
            field=self.header[count],
            **known,
        )

    def _find(self, required: Sequence[str], optional: Sequence[str]) -> None:
        known = {name.lower(): index for index, name in enumerate(self.header)}
        if len(known) != len(self.header):
            raise FormatError(
                self.path, 1, message("table.columns-twice", "A column occurs twice.")
            )
        for name in (*required, *optional):
            match = next((option for option in name.split("|") if option.lower() in known), None)
            match = match or column_of(name.split("|")[0], self.header) or None
            if match is not None:
                self.columns[name.split("|")[0]] = known[match.lower()]
            elif name in required:
                raise FormatError(self.path, 1, no_column(name.split("|"), self.header))

    def _title(self, name: str) -> str:
        """Return a column as the file writes it, or by its meaning if the file does not name it."""
        column = self.columns[name]
        return self.header[column] if column < len(self.header) else name

    def text(self, line: int, row: list[str], name: str) -> str:
        """Return a field that must not be empty."""
        value = row[self.columns[name]].strip()
        if not value:
            empty = message("field.empty", "Field {field} is empty.", field=self._title(name))
            raise FormatError(self.path, line, empty)
        return value

    def texts(self, name: str) -> list[str]:
        """Return a column of fields that must not be empty."""
        column = self.columns[name]
        found = [row[column].strip() for _, row in self.rows]
        if not all(found):
            self.text(*self.rows[found.index("")], name)
        return found

    def number(self, line: int, row: list[str], name: str) -> float:
        """Return a number; a missing one is nan."""
        return number(self.path, line, self._title(name), row[self.columns[name]])

    def numbers(
        self, name: str, rows: Sequence[tuple[int, list[str]]] | None = None
    ) -> list[float]:
        """Return a column of numbers, of all rows or some; missing ones are nan."""
        column, rows = self.columns[name], self.rows if rows is None else rows
        cells = [row[column] for _, row in rows]
        found = numbers(self.path, self._title(name), (line for line, _ in rows), cells)
        return cast("list[float]", found.tolist())


def no_column(names: Sequence[str], header: Sequence[str]) -> Message:
    """Return the message about a column that a table lacks under all its names."""
    return message(
        "table.no-column",
        "The table has no column {column}. Its columns are {header}.",
        column="/".join(names),
        header=truncated(header, 20),
    )


def _grid(path: Path) -> Grid:
    try:
        data = path.read_bytes() if path.is_file() else b""
        if is_workbook(path.name, data):
            book = read_workbook(data)
            grid = next(iter(book.tables), Grid(book.kind))
            if len(grid.parts) > 1 and not column_of("system", grid.header):
                grid.header[0] = "system"
        elif is_parquet(data):
            grid = read_parquet(data)
        else:
            text = read_text(path)
            head = text.partition("\n")[0]
            is_csv = "\t" not in head and ("," in head or SEPARATOR.fullmatch(head.strip()))
            grid = read_separated(text, CSV if is_csv else TSV)
    except GridError as error:
        raise FormatError(path, error.row, error.message) from None
    _warn(path, grid.notes)
    return grid


def _is_plain(path: Path) -> bool:
    """Return whether a table needs no more than splitting lines at tabs."""
    try:
        with path.open("rb") as file:
            decoded = decode(b"".join(islice(file, START)))
        grid = read_separated(decoded.text, TSV)
        cells = [line.split("\t") for line in lines_of(decoded.text)]
        if decoded.notes or grid.notes or [grid.header, *(row for _, row in grid.rows)] != cells:
            return False
        n_tabs = len(grid.header) - 1
        with path.open(encoding="utf-8", newline="\n") as file:
            return n_tabs > 0 and all(
                line.count("\t") == n_tabs and not ('"' in line or "\r" in line or line.isspace())
                for line in file
            )
    except (OSError, UnicodeError, UndecodableError, GridError):
        return False


def _parted(path: Path) -> Grid:
    """Read fields separated by white space; rows may be longer than the header."""
    lines = list(enumerate(map(str.split, read_lines(path)), start=1))
    header = lines[0][1] if lines else []
    rows = [(line, cells) for line, cells in lines[1:] if cells]
    torn = [(line, len(cells)) for line, cells in rows if len(cells) != len(header)]
    return Grid("", header, rows, torn=torn)
