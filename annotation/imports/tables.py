"""Read published tables: tab-separated, with a header row, without quoting."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ValidationError

from annotation.uploads.problems import Place
from core.messages import invalid
from metaeval.messages import Message, message

Value = TypeVar("Value")


class Row(dict[str, str]):
    """One row by column name, with its place for messages about wrong values."""

    def __init__(self, cells: Mapping[str, str], place: Place) -> None:
        super().__init__(cells)
        self.place = place

    def whole(self, column: str) -> int:
        """Return a whole number; raises ValidationError naming file, row and column."""
        try:
            return int(self[column])
        except ValueError:
            raise self.error(
                message(
                    "published.not-whole", "{cell} is not a whole number.", cell=self.cell(column)
                )
            ) from None

    def real(self, column: str) -> float:
        """Return a decimal number; raises ValidationError naming file, row and column."""
        try:
            return float(self[column])
        except ValueError:
            raise self.error(
                message("published.not-a-number", "{cell} is not a number.", cell=self.cell(column))
            ) from None

    def find(self, column: str, among: Mapping[str, Value]) -> Value:
        """Return what the cell names; raises ValidationError if it names nothing known."""
        try:
            return among[self[column]]
        except KeyError:
            raise self.error(
                message("published.unknown", "{cell} is unknown.", cell=self.cell(column))
            ) from None

    def cell(self, column: str) -> Message:
        """Return place and content of a cell, for messages."""
        place = self.place._replace(field=column).label
        if not self[column]:
            return message("published.empty-cell", "{place}: an empty cell", place=place)
        return message("published.cell", "{place}: “{text}”", place=place, text=self[column][:80])

    def error(self, text: Message) -> ValidationError:
        """Return the error to raise for a cell."""
        return ValidationError([text])


def read_table(path: Path, *columns: str) -> Iterator[Row]:
    """Yield the rows. Lines end with LF only, so texts may hold any other character.

    Raises ValidationError with file, row or column if the file is missing, is not UTF-8, lacks one
    of `columns`, or has a row of another width.
    """
    if not path.is_file():
        raise invalid(
            "published.no-file",
            "The file {path} does not exist. Set TOUCHSTONE_DATA or pass --data.",
            path=str(path),
        )
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            yield from _rows(path.name, lines, columns)
    except UnicodeDecodeError as error:
        raise invalid(
            "published.not-utf-8",
            "{file} is not UTF-8 (byte {byte:d}).",
            file=path.name,
            byte=error.start,
        ) from error


def _rows(name: str, lines: Iterator[str], columns: tuple[str, ...]) -> Iterator[Row]:
    header = next(lines, "").rstrip("\n").split("\t")
    if missing := [column for column in columns if column not in header]:
        raise invalid(
            "published.no-columns",
            "{file} lacks the columns {columns}.",
            file=name,
            columns=missing,
        )
    for number, line in enumerate(lines, start=2):
        cells = line.rstrip("\n").split("\t")
        if len(cells) != len(header):
            raise invalid(
                "published.other-width",
                "{file}, row {row:d}: {n} cells, but {columns} columns.",
                file=name,
                row=number,
                n=len(cells),
                columns=len(header),
            )
        yield Row(dict(zip(header, cells, strict=True)), Place(name, number))
