"""Read large TSV and CSV in blocks, with their cells on disk: memory holds one block of a column.

A block is read as a file of its own, under the header. Where the blocks differ in anything but
their rows, such as in notes on quotation marks, and where one has an error, only the whole file
shows how to read it.
"""

from __future__ import annotations

import marshal
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from annotation.uploads.files import InputFile, decode, too_large
from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import Cells, Table, format_of, is_binary, parse
from core.work.kinds import READING, tell
from metaeval.files.grids import CSV, TSV
from metaeval.messages import printable

# Smaller files are read as a whole. Blocks are of this many bytes, and CSV has no longer cells.
SMALL, BLOCK, LONGEST = 4 * 1024**2, 512 * 1024, 4 * 1024**2


class Spool:
    """A temporary file, which ends with the last column that is in it."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115  # see __del__

    def __del__(self) -> None:
        self._file.close()

    def write(self, cells: list[Any]) -> tuple[int, int]:
        """Return where a list of plain values was written, and its size."""
        place = self._file.seek(0, 2)
        return place, self._file.write(marshal.dumps(cells))

    def read(self, place: int, size: int) -> list[Any]:
        """Return the list that was written there."""
        self._file.seek(place)
        cells: list[Any] = marshal.loads(self._file.read(size))  # noqa: S302  # our own
        return cells


class Spooled(Sequence[Any]):
    """A column of plain cells in a temporary file, in blocks."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._starts: list[int] = []
        self._places: list[tuple[int, int]] = []
        self._n = 0
        self._block: tuple[int, list[Any]] = (-1, [])

    def append(self, cells: list[Any]) -> None:
        """Add the cells of a block."""
        self._starts.append(self._n)
        self._places.append(self._spool.write(cells))
        self._n += len(cells)

    def _at(self, number: int) -> list[Any]:
        if self._block[0] != number:
            self._block = number, self._spool.read(*self._places[number])
        return self._block[1]

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self._at, range(len(self._starts))))

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            numbers = range(self._n)[place]
            return list(self) if len(numbers) == self._n else [self[n] for n in numbers]
        place = range(self._n)[place]
        number = bisect_right(self._starts, place) - 1
        return self._at(number)[place - self._starts[number]]


def in_blocks(
    file: InputFile, report: Report, is_usual: Callable[[str, str], bool]
) -> Table | None:
    """Return the table of a large file, or None where it has to be read as a whole.

    `is_usual` gets the name and the beginning of the text, and returns whether it is a table.
    """
    if file.size < SMALL or too_large(file.size):
        return None
    with file.open() as stream:
        head = stream.readline(LONGEST)
        first: tuple[object, ...] = ()
        spool, columns = Spool(), {}
        n_lines, lines, table = 1, array("q"), None
        for block in _blocks(stream, is_quoted=b"\t" not in head):
            own = Report()
            own.chosen = report.chosen
            data = head + block
            text = None if is_binary(file.name, data) else decode(file.name, data, own)
            if not block or text is None or format_of(file.name, text) not in (TSV, CSV):
                return None
            if not first and not is_usual(file.name, text):
                return None
            part = parse(file.name, text, own)
            if part is None or own.errors or not isinstance(part.rows, Cells):
                return None
            seen = own.files[printable(file.name)]
            seen.rows = None
            read = (part.columns, part.titles, part.separator, part.first, own.problems, seen)
            if first and read != first:
                return None
            if not first:
                first, table = read, part
                columns = {name: Spooled(spool) for name in part.columns}
            for name, column in columns.items():
                column.append(list(part.column(name)))
            lines.extend(n_lines - 1 + line for line in part.lines)
            n_lines += block.count(b"\n")
            tell(READING, n_lines, n_lines * file.size // stream.tell())
    if table is None:
        return None
    table.rows = Cells(lines, columns)
    report.problems += own.problems
    report.name_columns(file.name, table.titles)
    facts = {name: value for name, value in vars(seen).items() if value and name != "file"}
    report.saw(file.name, **facts, rows=len(lines))
    return table


def _blocks(stream: BinaryIO, *, is_quoted: bool) -> Iterator[bytes]:
    """Yield whole lines: those of a cell in quotation marks together, and no empty ones at the end.

    An empty block says that there is no place where the file can be divided.
    """
    block = b""
    while lines := stream.readlines(BLOCK):
        block += b"".join(lines)
        if not (is_quoted and block.count(b'"') % 2) and lines[-1].strip():
            yield block
            block = b""
        elif len(block) > LONGEST:
            yield b""
    if block:
        yield block
