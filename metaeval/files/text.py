"""Reading and writing line-based files: UTF-8, LF, errors that name file, line and field."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path


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


def number(path: Path, line: int, field: str, text: str, *, empty: str = "") -> float:
    """Return a finite number, or nan for ``empty``."""
    if text.strip() == empty:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise FormatError(path, line, f"field {field}: expected a number, got {text!r}")
    return value


def plain_number(value: float, *, empty: str = "") -> str:
    """Return the shortest text that reads back as the same number; nan is ``empty``."""
    if math.isnan(value):
        return empty
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


class Table:
    """A table with a header, tab-separated (no quoting) or separated by any white space.

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
        cells = [line.split() for line in lines] if blanks else self._tabbed(lines)
        self.header = [name.strip() for name in cells[0]]
        while self.header and not self.header[-1]:
            self.header.pop()
        self.columns: dict[str, int] = {}
        self._find(required, optional)
        self.rows: list[tuple[int, list[str]]] = []
        for position, row in enumerate(cells[1:], start=2):
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
        """Return a number; an empty field is nan."""
        return number(self.path, line, name, row[self.columns[name]])

    def numbers(self, name: str) -> list[float]:
        """Return a column of numbers; an empty field is nan."""
        column = self.columns[name]
        try:
            values = [float(row[column] or "nan") for _, row in self.rows]
        except ValueError:
            values = [math.nan] * len(self.rows)
        # Whatever is no finite number is looked at again: white space alone is empty, too.
        return [
            value if math.isfinite(value) else self.number(line, row, name)
            for value, (line, row) in zip(values, self.rows, strict=True)
        ]

    @staticmethod
    def _tabbed(lines: list[str]) -> list[list[str]]:
        return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
