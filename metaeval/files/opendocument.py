"""Spreadsheets of OpenDocument (ISO/IEC 26300-3): ODS to the rows of each sheet, read in chunks."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import time
from xml.parsers import expat

from metaeval.files.grids import TOO_LARGE, UNREADABLE, GridError, Line

SPREADSHEET = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
CHUNK = 1 << 20
# An empty row takes as much memory as some cells.
EMPTY_ROW = 5
# White space that a file states is kept, other white space is one blank (part 1, 6.1.2); no XML
# may hold these signs.
STATED = {"s": "\x01", "tab": "\x02", "line-break": "\x03"}
WRITTEN = str.maketrans({"\x01": " ", "\x02": "\t", "\x03": "\n"})
WHITE = re.compile(r"[ \t\r\n]+")
# Elements of a cell whose texts are no part of it.
ASIDE = {"annotation", "frame", "custom-shape", "ruby-text", "note", "table"}
DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S")
Merged = tuple[int, int, int]


class Sheets:
    """The sheets of a file: name, rows by number, and cells that are merged down.

    These have a column, a first and a last row, from 1. Raises GridError beyond `most` cells, to
    which blanks count that are stated by their number.
    """

    def __init__(self, archive: zipfile.ZipFile, most: int) -> None:
        self.found: list[tuple[str, list[Line], list[Merged]]] = []
        self._left = most
        self._number, self._column, self._depth = 0, 0, 0
        self._cells: list[str] = []
        self._cell: Mapping[str, str] | None = None
        self._n_rows, self._is_linked = 1, False
        self._texts: list[str] = []
        self._paragraph: list[str] | None = None
        self._aside = 0
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = _refuse
        with archive.open("content.xml") as file:
            while chunk := file.read(CHUNK):
                parser.Parse(chunk, False)
        parser.Parse(b"", True)

    def __iter__(self) -> Iterator[tuple[str, list[Line], list[Merged]]]:
        return iter(self.found)

    def _start(self, tag: str, given: Mapping[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        own = {key.rpartition(" ")[2]: value for key, value in given.items()}
        if self._aside or (self._cell is not None and name in ASIDE):
            self._aside += 1
        elif self._paragraph is not None and name in STATED:
            n_times = _times(own.get("c"))
            self._take(n_times)
            self._paragraph.append(STATED[name] * n_times)
        elif self._cell is not None:
            if name == "p":
                self._paragraph = []
        elif name == "table":
            self._depth += 1
            if self._depth == 1:
                self._number, self._is_linked = 0, False
                self.found.append((own.get("name", ""), [], []))
        elif self._depth != 1:
            return
        elif name == "table-source":
            self._is_linked = True
        elif name == "table-row":
            self._cells, self._column = [], 0
            self._n_rows = _times(own.get("number-rows-repeated"))
        elif name in ("table-cell", "covered-table-cell"):
            self._cell, self._texts = own, []

    def _text(self, text: str) -> None:
        if self._paragraph is not None and not self._aside:
            self._paragraph.append(text)

    def _end(self, tag: str) -> None:
        name = tag.rpartition(" ")[2]
        if self._aside:
            self._aside -= 1
        elif self._paragraph is not None:
            if name == "p":
                text = WHITE.sub(" ", "".join(self._paragraph)).lstrip(" ")
                self._texts.append(text.translate(WRITTEN))
                self._paragraph = None
        elif self._cell is not None:
            if name in ("table-cell", "covered-table-cell"):
                self._add_cell(self._cell)
                self._cell = None
        elif name == "table":
            self._depth -= 1
            # What another file holds is kept for formulas.
            if not self._depth and self._is_linked:
                self.found.pop()
        elif name == "table-row" and self._depth == 1:
            self._add_row()

    def _add_cell(self, own: Mapping[str, str]) -> None:
        text, n_times = _value(own, self._texts), _times(own.get("number-columns-repeated"))
        if text:
            self._take(self._column + n_times - len(self._cells))
            self._cells += [""] * (self._column - len(self._cells)) + [text] * n_times
        if (n_rows := _times(own.get("number-rows-spanned"))) > 1:
            first = self._number + 1
            self.found[-1][2].append((self._column + 1, first, first + n_rows - 1))
        self._column += n_times

    def _add_row(self) -> None:
        lines = self.found[-1][1]
        if self._cells:
            blank = range(len(lines) + 1, self._number + 1)
            self._take((self._n_rows - 1) * len(self._cells) + EMPTY_ROW * len(blank))
            lines += [(number, []) for number in blank]
            lines += [(self._number + n + 1, [*self._cells]) for n in range(self._n_rows)]
        self._number += self._n_rows

    def _take(self, n_cells: int) -> None:
        self._left -= n_cells
        if self._left < 0:
            raise GridError(TOO_LARGE, self._number + 1)


def _times(stated: str | None) -> int:
    """Return how often something is repeated."""
    n_times = int(stated or 1)
    if n_times < 0:
        raise GridError(UNREADABLE)
    return n_times


def _value(own: Mapping[str, str], texts: list[str]) -> str:
    """Return a cell as a CSV would have it: numbers and dates as stated, not as shown."""
    kind = own.get("value-type", "")
    if kind in ("float", "percentage", "currency") and "value" in own:
        whole, _, rest = own["value"].partition(".")
        return own["value"] if rest.strip("0") else whole
    if kind == "date" and "date-value" in own:
        return own["date-value"]
    if kind == "boolean" and "boolean-value" in own:
        return own["boolean-value"].capitalize()
    if kind == "time" and (found := DURATION.fullmatch(own.get("time-value", ""))):
        hours, minutes, seconds = map(int, found.groups()[:3])
        if hours < 24 and minutes < 60 and seconds < 60:
            return time(hours, minutes, seconds).isoformat()
    return "\n".join(texts) if texts else own.get("string-value", "")


def _refuse(*_: object) -> None:
    """Refuse entities, which may grow endlessly."""
    raise GridError(UNREADABLE)
