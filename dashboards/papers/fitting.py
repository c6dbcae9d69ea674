"""Fit tables to the width of a page: smaller type, then wrapped names, then parts.

Widths are those of Computer Modern, LaTeX's own type, in points at 10 pt; other types of papers are
narrower. A table that would be wider than the text of an article is set smaller, and cut into parts
where that is not enough; so is one with more rows than a page has lines.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

from metaeval.messages import Message

# A caption of one text or several; those that are None are skipped.
Caption: TypeAlias = Message | str | Sequence[Message | str | None]


@dataclass(frozen=True)
class Cell:
    """One cell; `text` is escaped when written, and `align` applies where it spans columns.

    `numbers` are the values behind the text: one, the two ends of an interval, or a value with
    both; `mark` follows them, such as a dagger.
    """

    text: str
    is_bold: bool = False
    span: int = 1
    align: str = "c"
    numbers: Sequence[float | None] = ()
    mark: str = ""


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table in the paper's shape: `columns` as in ``lrr``; a one-cell row is a heading.

    `caption`, `below` and `notes` are written in English: `below` is printed under the table, and
    `notes` are comments. `usual` are the columns of a table that its reader has not shaped, by
    position; all where it is empty.
    """

    caption: Caption
    label: str
    columns: str
    head: Sequence[Row]
    body: Sequence[Row]
    notes: Sequence[Message | str] = field(default_factory=tuple)
    below: Sequence[Message | str] = field(default_factory=tuple)
    usual: Sequence[int] = field(default_factory=tuple)

    @property
    def heading(self) -> str:
        """The caption in English."""
        if isinstance(self.caption, Message | str):
            return str(self.caption)
        return " ".join(str(each) for each in self.caption if each)


def is_heading(row: Row, table: Table) -> bool:
    """Return whether a row is a heading above others, which spans the table when written."""
    return len(row) == 1 and row[0].span == 1 and len(table.columns) > 1


# A little less than \textwidth of article (345 pt), and lines of a table on its page.
TEXT_WIDTH = 340.0
MOST_ROWS = 38
# Wider names are wrapped.
WIDEST = 130.0
_GROUPS = {
    2.78: ".,:;'’!|[]il",
    3.06: "fj",
    3.33: "- ",
    3.61: "I",
    3.92: "()rstJ",
    4.44: "ceyz†‡⊥",
    5.0: '0123456789–ago/*?_"“”↓↑τ',
    5.4: "kpqvxbdhnu",
    5.56: "SLFZα",
    7.1: "BCEPRTwDANGHKOQUVXY#Δρχ",
    7.78: "<>=+−±×~^&≤≥≠",
    8.33: "m%@",
    9.2: "M",
    10.3: "W∞→…—",
}
_WIDTHS = {character: width for width, characters in _GROUPS.items() for character in characters}
_OTHER, _WIDE, _BOLD = 7.1, 10.0, 1.15


@dataclass(frozen=True)
class Size:
    """A size of type: its command, its width against 10 pt, and the room beside a column."""

    command: str
    scale: float
    gap: float


NORMAL, SMALL, SMALLEST = Size("", 1.0, 6.0), Size(r"\footnotesize", 0.86, 6.0), Size(
    r"\scriptsize", 0.8, 3.0
)  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """One table as it is written; `columns` may wrap names."""

    table: Table
    columns: str
    size: Size


def fitted(table: Table) -> list[Fitted]:
    """Return the table, or its parts, in a size in which no line is wider than the text."""
    pieces = [piece for part in _across(table) for piece in _down(part)]
    many = len(pieces) > 1
    return [
        _set(_named(piece, place, len(pieces)) if many else piece)
        for place, piece in enumerate(pieces, 1)
    ]


def _named(table: Table, place: int, n: int) -> Table:
    caption = f"{table.heading} Part {place} of {n}."
    return replace(table, caption=caption, label=f"{table.label}-{place}")


def _set(table: Table) -> Fitted:
    size = next((s for s in (NORMAL, SMALL, SMALLEST) if width(table, s) <= TEXT_WIDTH), SMALLEST)
    wrapped = wraps(table, size)
    columns = "".join(
        f"p{{{WIDEST:.0f}pt}}" if place in wrapped else kind
        for place, kind in enumerate(table.columns)
    )
    return Fitted(table, columns, size)


def wraps(table: Table, size: Size) -> set[int]:
    """Return the columns of names that are wrapped."""
    found = _natural(table, size)
    return {i for i, kind in enumerate(table.columns) if kind == "l" and found[i] > WIDEST}


def width(table: Table, size: Size) -> float:
    """Return how wide a table is, in points."""
    found = _natural(table, size)
    for place in wraps(table, size):
        found[place] = WIDEST
    for row in table.head:
        at = 0
        for cell in row:
            lack = text_width(cell) * size.scale - sum(found[at : at + cell.span])
            lack -= 2 * size.gap * (cell.span - 1)
            found[at + cell.span - 1] += max(0.0, lack)
            at += cell.span
    return sum(found) + 2 * size.gap * len(found)


def _natural(table: Table, size: Size) -> list[float]:
    """Return the width of the widest cell of every column."""
    found = [0.0] * len(table.columns)
    for row in [*table.head, *table.body]:
        if is_heading(row, table):
            continue
        at = 0
        for cell in row:
            if cell.span == 1:
                found[at] = max(found[at], text_width(cell) * size.scale)
            at += cell.span
    return found


def text_width(cell: Cell) -> float:
    """Return the width of a cell's text at 10 pt."""
    composed = unicodedata.normalize("NFD", cell.text)
    total = sum(map(_of, composed))
    return total * _BOLD if cell.is_bold else total


def _of(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    return _WIDTHS.get(character, _OTHER)


def _across(table: Table) -> list[Table]:
    """Return the table, or parts of its columns beside the first; spanning heads are not cut."""
    if width(table, SMALLEST) <= TEXT_WIDTH:
        return [table]
    blocks = [
        piece
        for block in _blocks(table)
        for piece in ([block] if _fits(table, block) else [[place] for place in block])
    ]
    parts: list[list[int]] = [[]]
    for block in blocks:
        wanted = [*parts[-1], *block]
        if parts[-1] and not _fits(table, wanted):
            parts.append([])
        parts[-1] += block
    return [_columns(table, part) for part in parts]


def _fits(table: Table, wanted: Sequence[int]) -> bool:
    return width(_columns(table, wanted), SMALLEST) <= TEXT_WIDTH


def _blocks(table: Table) -> list[list[int]]:
    """Return the groups of columns under one head, without the first column."""
    n = len(table.columns)
    edges = {1, n}.union(*[_edges(row) for row in table.head[:1]])
    bounds = sorted(edge for edge in edges if edge >= 1)
    return [list(range(low, high)) for low, high in pairwise(bounds)]


def _edges(row: Row) -> set[int]:
    ends, at = set(), 0
    for cell in row:
        at += cell.span
        ends.add(at)
    return ends


def _columns(table: Table, wanted: Sequence[int]) -> Table:
    """Return the first column and the given others."""
    places = [0, *wanted]
    return replace(
        table,
        columns="".join(table.columns[place] for place in places),
        head=[_cut(row, places) for row in table.head],
        body=[row if is_heading(row, table) else _cut(row, places) for row in table.body],
    )


def _cut(row: Row, places: Sequence[int]) -> list[Cell]:
    found, at = [], 0
    for cell in row:
        n = sum(at <= place < at + cell.span for place in places)
        at += cell.span
        if n:
            found.append(replace(cell, span=n))
    return found


def _down(table: Table) -> list[Table]:
    """Return the table, or parts of its rows; a heading is repeated in every part."""
    if len(table.body) <= MOST_ROWS:
        return [table]
    parts: list[list[Row]] = [[]]
    heading: Row | None = None
    for row in table.body:
        if is_heading(row, table):
            heading = row
        if len(parts[-1]) >= MOST_ROWS:
            parts.append([] if heading is None or row is heading else [heading])
        parts[-1].append(row)
    return [replace(table, body=part) for part in parts]
