"""Reading the published tables: tab-separated, one header row, no quoting."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ValidationError

Value = TypeVar("Value")


class Row(dict[str, str]):
    """One row by column name, which knows where it stands when a value is wrong."""

    def __init__(self, cells: Mapping[str, str], place: str) -> None:
        super().__init__(cells)
        self.place = place

    def whole(self, column: str) -> int:
        """Return a whole number; raises ValidationError naming file, row and column."""
        try:
            return int(self[column])
        except ValueError:
            raise self.error(column, "is no whole number") from None

    def real(self, column: str) -> float:
        """Return a decimal number; raises ValidationError naming file, row and column."""
        try:
            return float(self[column])
        except ValueError:
            raise self.error(column, "is no number") from None

    def find(self, column: str, among: Mapping[str, Value]) -> Value:
        """Return what the cell names; raises ValidationError if it names nothing known."""
        try:
            return among[self[column]]
        except KeyError:
            raise self.error(column, "is not known") from None

    def error(self, column: str, what: str) -> ValidationError:
        """Return the error to raise for a cell."""
        return ValidationError(f"{self.place}, {column}: {self[column]!r} {what}.")


def read_table(path: Path, *columns: str) -> Iterator[Row]:
    """Yield the rows. Lines end with LF only, so texts may hold any other character.

    Raises ValidationError naming file, row or column where the file is missing, is not UTF-8,
    lacks one of `columns`, or has a row of another width.
    """
    if not path.is_file():
        raise ValidationError(f"{path}: no such file. Set TOUCHSTONE_DATA or pass --data.")
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            yield from _rows(path.name, lines, columns)
    except UnicodeDecodeError as error:
        raise ValidationError(f"{path.name}: byte {error.start} is not UTF-8.") from error


def _rows(name: str, lines: Iterator[str], columns: tuple[str, ...]) -> Iterator[Row]:
    header = next(lines, "").rstrip("\n").split("\t")
    if missing := [column for column in columns if column not in header]:
        raise ValidationError(f"{name}: no column {', '.join(missing)}.")
    for number, line in enumerate(lines, start=2):
        cells = line.rstrip("\n").split("\t")
        if len(cells) != len(header):
            raise ValidationError(
                f"{name}, row {number}: {len(cells)} cells, but {len(header)} columns."
            )
        yield Row(dict(zip(header, cells, strict=True)), f"{name}, row {number}")
