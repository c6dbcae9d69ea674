"""Shape the table of a page for a paper: rows, columns, decimals, direction, a short caption."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from core import numbers
from dashboards.papers.fitting import Cell, Row, Table, is_heading

# A caption says what a table shows; what explains it further is a note.
CAPTION_WORDS = 25
SENTENCE = re.compile(r"(?<=[.!?])\s+")
# The columns of a statistic in a table of metrics, with its name instead of `VALUE`.
VALUE, INTERVAL, RANK = "Value", "95% interval", "Rank"


@dataclass(frozen=True)
class Shape:
    """What a reader chose for a table.

    `rows` and `columns` are names (`row_name`, `column_names`); where empty, all rows and the usual
    columns. `places` are decimals, None as the page has them.
    """

    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    places: int | None = None
    has_zero: bool = True
    has_bold: bool = True
    has_marks: bool = True
    is_transposed: bool = False
    are_notes_below: bool = False
    caption: str = ""


def column_names(table: Table) -> list[str]:
    """Return the name of every column: its heads from top to bottom."""
    names: list[list[str]] = [[] for _ in table.columns]
    for row in table.head:
        for place, cell in _spread(row):
            if cell.text:
                names[place].append(cell.text)
    return [": ".join(each) for each in names]


def row_name(row: Row) -> str:
    """Return the name of a row, which is the text of its first cell."""
    return row[0].text


def named_rows(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Yield rows with their names; one with an empty first cell has the name of the one above."""
    name = ""
    for row in rows:
        name = row_name(row) or name
        yield name, row


def shown_columns(table: Table, shape: Shape) -> list[int]:
    """Return the positions of the shown columns; the first is always shown."""
    names = column_names(table)
    usual = table.usual or range(len(names))
    wanted = shape.columns
    return [
        place
        for place, name in enumerate(names)
        if place == 0 or (name in wanted if wanted else place in usual)
    ]


def shown_rows(table: Table, shape: Shape) -> list[Row]:
    """Return the shown rows, with the headings above any of them."""
    found: list[Row] = []
    for is_head, group in groupby(table.body, key=lambda row: is_heading(row, table)):
        rows = list(group)
        if is_head:
            found += rows[-1:]
            continue
        kept = [row for name, row in named_rows(rows) if not shape.rows or name in shape.rows]
        if not kept and found and is_heading(found[-1], table):
            found.pop()
        found += kept
    return found


def shaped(table: Table, shape: Shape) -> Table:
    """Return the table as the reader wants it, with a caption of at most `CAPTION_WORDS` words.

    The rest of the page's caption becomes notes, as comments or below the table.
    """
    places = shown_columns(table, shape)
    body = [
        row if is_heading(row, table) else [_redrawn(row[place], shape) for place in places]
        for row in shown_rows(table, shape)
    ]
    head = [list(_cut(row, places)) for row in table.head]
    columns = "".join(table.columns[place] for place in places)
    caption, notes = _split(table)
    rest = [*notes, *table.below]
    found = replace(
        table,
        caption=shape.caption or caption,
        columns=columns,
        head=[row for row in head if any(cell.text for cell in row)],
        body=body,
        notes=table.notes if shape.are_notes_below else [*table.notes, *rest],
        below=rest if shape.are_notes_below else (),
    )
    return _transposed(found) if shape.is_transposed else found


def joined(tables: Sequence[tuple[str, Table]]) -> Table:
    """Return tables of metrics by several statistics, given with their names, as one table.

    The first keeps its other columns. A row of another table joins the row of the same name.
    """
    (label, first), *others = tables
    parts, under = [_parts(label, first)], _under(label, first)
    head = [Cell(label, span=len(parts[0]))]
    body = {row_name(row): [*_at(row, [0, *parts[0]])] for row in first.body}
    for name, table in others:
        places = _parts(name, table)
        rows = {row_name(row): row for row in table.body}
        for known, cells in body.items():
            row = rows.get(known)
            cells += _at(row, places) if row else [Cell(numbers.NOTHING) for _ in places]
        head.append(Cell(name, span=len(places)))
        parts.append(places)
        under += _under(name, table)
    names = column_names(first)
    rest = [place for place in range(1, len(names)) if place not in parts[0]]
    for row in first.body:
        body[row_name(row)] += _at(row, rest)
    n_first = 1 + sum(map(len, parts))
    return replace(
        first,
        columns="l" + "r" * (n_first - 1 + len(rest)),
        head=[
            [Cell(""), *head, *(Cell("") for _ in rest)],
            [Cell(names[0]), *under, *(Cell(names[place]) for place in rest)],
        ],
        body=list(body.values()),
        usual=range(n_first),
    )


def _parts(label: str, table: Table) -> list[int]:
    """Return the positions of a statistic's columns: value, interval, rank."""
    names = column_names(table)
    return [names.index(name) for name in (label, INTERVAL, RANK) if name in names]


def _under(label: str, table: Table) -> list[Cell]:
    """Return the heads of a statistic's columns below its name."""
    names = column_names(table)
    return [
        Cell(VALUE if names[place] == label else names[place]) for place in _parts(label, table)
    ]


def _at(row: Row, places: Iterable[int]) -> list[Cell]:
    return [row[place] for place in places]


def _spread(row: Row) -> Iterator[tuple[int, Cell]]:
    """Yield a head's cells with the position of every column that they span."""
    ends = accumulate(cell.span for cell in row)
    for cell, end in zip(row, ends, strict=True):
        yield from ((place, cell) for place in range(end - cell.span, end))


def _cut(row: Row, places: Sequence[int]) -> Iterator[Cell]:
    """Yield the cells of a head over the shown columns."""
    kept = [(id(cell), cell) for place, cell in _spread(row) if place in places]
    for _, same in groupby(kept, key=lambda each: each[0]):
        cells = [cell for _, cell in same]
        yield replace(cells[0], span=len(cells))


def _redrawn(cell: Cell, shape: Shape) -> Cell:
    mark = cell.mark if shape.has_marks else ""
    text = cell.text.removesuffix(cell.mark) if cell.mark else cell.text
    is_small = "e−" in text  # a number that would be printed as 0 keeps its digits
    if cell.numbers and not is_small:
        places = _places(text) if shape.places is None else shape.places
        text = _written(cell.numbers, places) or numbers.NOTHING
        text = text if shape.has_zero else re.sub(r"(?<![\d.])0(?=\.\d)", "", text)
    return replace(cell, text=f"{text}{mark}", is_bold=cell.is_bold and shape.has_bold)


def _places(text: str) -> int:
    """Return the decimals that a number was written with."""
    found = re.search(r"\.(\d+)", text)
    return len(found[1]) if found else 0


def _written(values: Sequence[float | None], places: int) -> str:
    if len(values) == 1:
        return numbers.decimals(values[0], places)
    if len(values) == 2:
        return numbers.interval(values, places)
    value, *ends = values
    return f"{numbers.decimals(value, places)} {numbers.interval(ends, places)}".rstrip()


def _split(table: Table) -> tuple[str, list[str]]:
    """Return the caption of a paper and the rest of a page's caption."""
    sentences = SENTENCE.split(table.heading.strip())
    n_words = list(accumulate(len(each.split()) for each in sentences))
    n = max(1, sum(count <= CAPTION_WORDS for count in n_words))
    caption, rest = " ".join(sentences[:n]), sentences[n:]
    if n_words[0] <= CAPTION_WORDS:
        return caption, rest
    words = caption.split()[:CAPTION_WORDS]
    end = next((i for i in range(len(words), 4, -1) if words[i - 1][-1] in ",;:"), len(words))
    return " ".join(words[:end]).rstrip(",;:.") + ".", [caption, *rest]


def _transposed(table: Table) -> Table:
    """Return the table with its columns as rows; headings above rows have no place there."""
    names = column_names(table)
    rows = [row for row in table.body if not is_heading(row, table)]
    return replace(
        table,
        columns="l" + "r" * len(rows),
        head=[[Cell(names[0]), *(Cell(name) for name, _ in named_rows(rows))]],
        body=[
            [Cell(name), *(row[place] for row in rows)] for place, name in enumerate(names) if place
        ],
    )
