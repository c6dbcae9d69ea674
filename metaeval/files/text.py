"""Reading and writing line-based files: UTF-8, LF, errors that name file, line and field."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from metaeval.files.cells import read_score


class FormatError(ValueError):
    """A file does not have the expected format."""

    def __init__(self, path: Path, line: int | None, message: str) -> None:
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {message}")
        self.path, self.line, self.message = path, line, message


def read_lines(path: Path, *, without: str | None = None) -> list[str]:
    """Return the lines, split at LF only, without trailing white space (or ``without``).

    U+2028 and its like are part of a text, not line ends.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise FormatError(path, None, "there is no such file") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise FormatError(path, line, "not UTF-8") from None
    lines = text.removeprefix("\ufeff").split("\n")
    if lines and not lines[-1].strip():
        lines.pop()
    return [line.rstrip(without) for line in lines]


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
    """A table with a header: tab-separated (no quoting), CSV, or separated by any white space.

    A first line with a comma and without a tab is that of a CSV file, with quotation marks.
    ``required`` and ``optional`` name columns in any case, alternatives joined by ``|``; up to
    ``unnamed`` more fields than the header has may follow. A row with fewer is refused: a file
    that was cut off is no file with missing scores, which are empty fields.
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
        # A tab at the end of a line begins an empty field.
        lines = read_lines(self.path, without=None if blanks else " \r")
        if not lines:
            raise FormatError(self.path, None, "the file is empty")
        if blanks:
            cells = list(enumerate(map(str.split, lines), start=1))
        else:
            cells = self._separated(lines)
        self.header = [name.strip() for name in cells[0][1]]
        while self.header and not self.header[-1]:
            self.header.pop()
        self.columns: dict[str, int] = {}
        self._find(required, optional)
        self.rows: list[tuple[int, list[str]]] = []
        for position, row in cells[1:]:
            if not row or row == [""]:
                continue
            while len(row) > len(self.header) and not row[-1]:
                row = row[:-1]
            if not len(self.header) <= len(row) <= len(self.header) + unnamed:
                raise FormatError(self.path, position, self._wrong_length(row))
            self.rows.append((position, row))

    def _wrong_length(self, row: list[str]) -> str:
        counts = f"expected {len(self.header)} fields, got {len(row)}"
        if len(row) > len(self.header):
            return counts
        return f"{counts}: field {self.header[len(row)]} is not there"

    def _find(self, required: Sequence[str], optional: Sequence[str]) -> None:
        known = {name.lower(): index for index, name in enumerate(self.header)}
        if len(known) != len(self.header):
            raise FormatError(self.path, 1, "a column occurs twice")
        for name in (*required, *optional):
            match = next((option for option in name.split("|") if option.lower() in known), None)
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

    def _separated(self, lines: list[str]) -> list[tuple[int, list[str]]]:
        """Return the fields of every row with the number of its last line."""
        if "\t" in lines[0] or "," not in lines[0]:
            rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        else:
            # Quoted fields may hold line ends.
            rows = csv.reader((f"{line}\n" for line in lines), strict=True)
        try:
            return [(rows.line_num, row) for row in rows]
        except csv.Error as error:
            raise FormatError(self.path, rows.line_num, f"this is no CSV: {error}") from None
