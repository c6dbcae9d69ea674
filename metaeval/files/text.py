"""Reading and writing files of lines and tables: errors that name file, line and field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from metaeval.files.cells import read_score
from metaeval.files.decoding import Remark, UndecodableError, decode, split_lines
from metaeval.files.grids import (
    CSV,
    SEPARATOR,
    TSV,
    Grid,
    GridError,
    read_separated,
    read_workbook,
)
from metaeval.files.names import column_of
from metaeval.results import MissingDataWarning, Notes


class FormatError(ValueError):
    """A file does not have the expected format."""

    def __init__(self, path: Path, line: int | None, message: str) -> None:
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {message}")
        self.path, self.line, self.message = path, line, message


def read_text(path: Path) -> str:
    """Return the text of a file; what was done to its encoding is a warning where it is doubtful.

    Raises FormatError where there is no such file, or it is no text.
    """
    try:
        decoded = decode(path.read_bytes())
    except FileNotFoundError:
        raise FormatError(path, None, "there is no such file") from None
    except UndecodableError as error:
        raise FormatError(path, error.row, str(error)) from None
    _say(path, decoded.remarks)
    return decoded.text


def read_lines(path: Path, *, without: str | None = None) -> list[str]:
    """Return the lines without trailing white space (or ``without``).

    U+2028 and its like are part of a text, not line ends.
    """
    return [line.rstrip(without) for line in split_lines(read_text(path))]


def _say(path: Path, remarks: Iterable[Remark]) -> None:
    for remark in remarks:
        if remark.severity == "warning":
            where = f"{path.name}, line {remark.row}" if remark.row else path.name
            Notes().warn(MissingDataWarning(f"{where}: {remark.message}."))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines with LF, making the folder if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))


def number(path: Path, line: int, field: str, text: str) -> float:
    """Return a finite number, or nan where the text says that there is none (`read_score`)."""
    value = read_score(text)
    if value is None:
        raise FormatError(path, line, f"field {field}: expected a number, got {text!r}")
    return value


def numbers(path: Path, field: str, lines: Iterable[int], cells: Sequence[str]) -> list[float]:
    """Return what `number` does of many cells and their lines, in a fifth of the time."""
    empty = ("", "None")
    values = [math.nan] * len(cells)
    if "_" not in "".join(cells):
        with suppress(ValueError):
            values = list(map(float, cells))
            if all(map(math.isfinite, values)):
                return values
        with suppress(ValueError):
            values = [math.nan if cell in empty else float(cell) for cell in cells]
    # Whatever is no finite number is looked at again: words for missing scores are read there.
    return [
        value if math.isfinite(value) or cell in empty else number(path, line, field, cell)
        for value, line, cell in zip(values, lines, cells, strict=True)
    ]


def plain_number(value: float, *, empty: str = "") -> str:
    """Return the shortest text that reads back as the same number; nan is ``empty``."""
    if math.isnan(value):
        return empty
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


class Table:
    """A table with a header: TSV, CSV or XLSX (`metaeval.files.grids`), or parted by white space.

    A first line with a comma and without a tab is that of a CSV file. ``required`` and ``optional``
    name columns in any case: fields of `metaeval.files.names` by all their names, and alternatives
    joined by ``|``; up to ``unnamed`` more fields than the header has may follow. A row with fewer
    is refused: a file that was cut off is no file with missing scores, which are empty fields.
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
            raise FormatError(self.path, None, "the file is empty")
        self.header = grid.header
        self.columns: dict[str, int] = {}
        self._find(required, optional)
        self.rows = grid.rows
        for line, count in grid.torn:
            if not len(self.header) <= count <= len(self.header) + unnamed:
                raise FormatError(self.path, line, self._wrong_length(count))

    def _wrong_length(self, count: int) -> str:
        counts = f"expected {len(self.header)} fields, got {count}"
        if count > len(self.header):
            return counts
        return f"{counts}: field {self.header[count]} is not there"

    def _find(self, required: Sequence[str], optional: Sequence[str]) -> None:
        known = {name.lower(): index for index, name in enumerate(self.header)}
        if len(known) != len(self.header):
            raise FormatError(self.path, 1, "a column occurs twice")
        for name in (*required, *optional):
            match = next((option for option in name.split("|") if option.lower() in known), None)
            match = match or column_of(name.split("|")[0], self.header) or None
            if match is not None:
                self.columns[name.split("|")[0]] = known[match.lower()]
            elif name in required:
                choice = name.replace("|", " or ")
                raise FormatError(self.path, 1, f"no column {choice}; found {self.header}")

    def text(self, line: int, row: list[str], name: str) -> str:
        """Return a field that must not be empty."""
        value = row[self.columns[name]].strip()
        if not value:
            raise FormatError(self.path, line, f"field {name}: empty")
        return value

    def number(self, line: int, row: list[str], name: str) -> float:
        """Return a number; a missing one is nan."""
        return number(self.path, line, name, row[self.columns[name]])

    def numbers(self, name: str) -> list[float]:
        """Return a column of numbers; missing ones are nan."""
        column = self.columns[name]
        lines = [line for line, _ in self.rows]
        return numbers(self.path, name, lines, [row[column] for _, row in self.rows])


def _grid(path: Path) -> Grid:
    try:
        if path.is_file() and (data := path.read_bytes()).startswith(b"PK\x03\x04"):
            grid = read_workbook(data)
        else:
            text = read_text(path)
            head = text.partition("\n")[0]
            is_csv = "\t" not in head and ("," in head or SEPARATOR.fullmatch(head.strip()))
            grid = read_separated(text, CSV if is_csv else TSV)
    except GridError as error:
        raise FormatError(path, error.row, str(error)) from None
    _say(path, grid.remarks)
    return grid


def _parted(path: Path) -> Grid:
    """Read fields separated by white space; rows may be longer than the header."""
    lines = list(enumerate(map(str.split, read_lines(path)), start=1))
    header = lines[0][1] if lines else []
    rows = [(line, cells) for line, cells in lines[1:] if cells]
    torn = [(line, len(cells)) for line, cells in rows if len(cells) != len(header)]
    return Grid("", header, rows, torn=torn)
