"""Text to a header and rows of cells: TSV and CSV as programs write them.

What pandas, R and spreadsheets add to a table is removed, with a note: `sep=` above it, title rows,
quotation marks, columns without a name, empty columns and rows behind it. Every row keeps the
line that it begins on.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from metaeval.files.decoding import Note, lines_of
from metaeval.files.headers import in_one_row
from metaeval.files.names import is_known
from metaeval.messages import Message, MessageError, message, plural, truncated

TSV, CSV, XLSX, ODS = "tsv", "csv", "xlsx", "ods"
# Characters. A paragraph has some thousand; what is longer is a file whose line endings were lost.
LONGEST_CELL = 100_000
# Lines above a header that are not part of the table.
MOST_TITLES = 5
# Bytes of an unpacked workbook: an archive of 1 MB may hold a thousand times as much. A row is as
# wide as the position of its last cell, so a few bytes may mean thousands of cells.
LARGEST_WORKBOOK = 400_000_000
UNREADABLE = message("workbook.unreadable", "The workbook cannot be read. Export the table as CSV.")
TOO_LARGE = message("workbook.too-large", "The workbook is too large. Export the table as CSV.")
# Signs between cells, with the note on a file that uses another one than its kind does.
SEPARATORS = {
    "\t": message("table.tabs", "The cells are separated by tabs."),
    ";": message("table.semicolons", "The cells are separated by semicolons."),
    ",": message("table.commas", "The cells are separated by commas."),
    "|": message("table.bars", "The cells are separated by vertical bars."),
}
DEFAULT = {TSV: "\t", CSV: ","}
SEPARATOR = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
# `Column1`, as Excel calls the columns of a table without names in its languages.
OF_EXCEL = re.compile(
    "(?:column|spalte|colonne|columna|coluna|colonna|kolom|sloupec|kolumna|столбец|列)[0-9]+", re.I
)
Line = tuple[int, list[str]]


class GridError(MessageError, ValueError):
    """A table cannot be read from `row` on."""

    def __init__(self, message: Message, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


@dataclass
class Grid:
    """A header in line `first`, rows of as many cells, and what was done to get them.

    `torn` are rows with another number of cells, with that number; `blank` are empty lines between
    rows. `separator` is the sign between the cells of a text, `width` how many cells rows have in
    the file, if that is another number. `parts` are the sheets of a workbook, each with the number
    of lines before it: the `n_lines` of several sheets are counted on.
    """

    kind: str
    header: list[str] = field(default_factory=list)
    rows: list[Line] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    first: int = 1
    separator: str = ""
    torn: list[tuple[int, int]] = field(default_factory=list)
    blank: list[int] = field(default_factory=list)
    width: int = 0
    parts: list[tuple[int, str]] = field(default_factory=list)
    n_lines: int = 0

    def note(self, text: Message, row: int | None = None) -> None:
        """Add something that was done."""
        self.notes.append(Note("note", text, row))

    def warn(self, text: Message, row: int | None = None) -> None:
        """Add something that a person should look at."""
        self.notes.append(Note("warning", text, row))


def read_separated(text: str, kind: str, *, has_names: bool = True) -> Grid:
    """Return the table in a TSV or CSV text. Raises GridError where quoting makes no sense.

    Without names in the first row, columns are called `column 1`, `column 2` and so on.

    Examples
    --------
    >>> grid = read_separated("sep=;\\nsegment;score;\\n1;0.5;\\n", CSV)
    >>> grid.header, grid.rows
    (['segment', 'score'], [(3, ['1', '0.5'])])
    """
    grid, first = Grid(kind), 1
    head = next(lines_of(text), "")
    # A line above the header may have no sign between cells.
    table = next(
        (line for line in islice(lines_of(text), MOST_TITLES) if {*SEPARATORS} & {*line}), head
    )
    if stated := SEPARATOR.fullmatch(head):
        grid.separator, text, first = stated[1], text.partition("\n")[2], 2
        grid.note(
            message(
                "table.separator",
                "The first line, “{line}”, says what separates the cells.",
                line=head.strip(),
            )
        )
    else:
        grid.separator = _separator(table, kind)
        if grid.separator != DEFAULT[kind]:
            grid.note(SEPARATORS[grid.separator], 1)
    if grid.separator == "\t":
        lines = _tabs(grid, text, first)
    else:
        lines = list(quoted_lines(text, grid.separator, first))
        if all(len(cells) < 2 for _, cells in lines) and (wrapped := _unwrapped(lines)):
            return wrapped
    if grid.separator == "|":  # Markdown has bars around rows, and hyphens under the header.
        bare = [(number, list(map(str.strip, cells))) for number, cells in lines]
        rows = [cells for _, cells in bare if len(cells) > 1]
        if all(len(cells) > 2 and not cells[0] and not cells[-1] for cells in rows):
            bare = [(number, cells[1:-1] if len(cells) > 1 else cells) for number, cells in bare]
        lines = [(n, cells) for n, cells in bare if not cells or any(c.strip("-: ") for c in cells)]
    fill(grid, lines, has_names=has_names)
    return grid


def _unwrapped(lines: Sequence[Line]) -> Grid | None:
    """Return the table whose rows a program wrote as one quoted cell each; None elsewhere."""
    rows = [cells[0] if cells else "" for _, cells in lines]
    head = next(filter(None, rows), "")
    if len(rows) < 2 or "," not in head or any("\n" in row for row in rows):
        return None
    grid = read_separated("\n".join(rows) + "\n", CSV)
    grid.note(
        message("table.rows-quoted", "Each row was one quoted cell, and was read as its cells."), 1
    )
    return grid


def _separator(header: str, kind: str) -> str:
    """Return the sign between cells: the usual one of the kind if the header has it.

    If the name of a file does not fit its contents, the contents decide.
    """
    others = (sign for sign in SEPARATORS if sign in header)
    return DEFAULT[kind] if DEFAULT[kind] in header else next(others, DEFAULT[kind])


def quoted_lines(text: str, separator: str = ",", first: int = 1) -> Iterator[Line]:
    """Yield the cells of a CSV with the line that each row begins on, none where all are empty.

    Raises GridError where the quoting makes no sense.
    """
    csv.field_size_limit(LONGEST_CELL)
    # A text in memory takes four times as much as its lines one by one.
    lines = (
        io.StringIO(text, newline="") if "\r" in text else (f"{line}\n" for line in lines_of(text))
    )
    # Blanks behind all signs of the header are behind those of the rows, too.
    head = next(lines_of(text), "")
    is_spaced = 0 < head.count(separator) == head.count(f"{separator} ") and separator != "\t"
    reader = csv.reader(lines, strict=True, delimiter=separator, skipinitialspace=is_spaced)
    number = 0
    try:
        for cells in reader:
            yield first + number, cells if any(map(str.strip, cells)) else []
            number = reader.line_num
    except csv.Error as error:
        broken = message(
            "table.csv",
            "The CSV cannot be read from here on. Check for a quotation mark that is not closed or "
            "not doubled. The CSV reader says: “{reason}”.",
            reason=str(error),
        )
        raise GridError(broken, first + number) from None


def _tabs(grid: Grid, text: str, first: int) -> list[Line]:
    """Split at tabs; quotation marks are part of texts unless the file shows that it quotes."""
    lines: list[Line] = [
        (number, line.split("\t") if line and not line.isspace() else [])
        for number, line in enumerate(lines_of(text), first)
    ]
    if '"' not in text:
        return lines
    width = len(lines[0][1])
    if any(cells and len(cells) != width for _, cells in lines):
        # A quoted cell may hold tabs and line endings.
        try:
            quoted = list(quoted_lines(text, "\t", first))
        except GridError:
            quoted = []
        if quoted and all(len(cells) in (0, width) for _, cells in quoted):
            grid.note(message("table.quotes", "The quotation marks around the cells were removed."))
            return quoted
    _unquote(grid, lines)
    return lines


def _unquote(grid: Grid, lines: list[Line]) -> None:
    """Remove the quotation marks of columns in which a program put them."""
    header = next((cells for _, cells in lines if cells), [])
    is_quoted_header = all(map(_is_closed, header)) and len(header) > 1
    named = []
    for column, title in enumerate(header):
        cells = [row[column] for _, row in lines[1:] if column < len(row)]
        marked = [cell for cell in cells if '"' in cell]
        if is_quoted_header or _are_quoted(marked, len(cells)):
            taken = all(map(_is_closed, marked))
            for _, row in lines if taken else lines[:1]:
                if column < len(row) and _is_closed(row[column]):
                    row[column] = row[column][1:-1].replace('""', '"')
            named.append(title.strip('"'))
        elif doubled := [n for n, row in lines if column < len(row) and _doubles(row[column])]:
            text = plural(
                "table.quotes-mixed",
                "{n} cell of “{column}” is in quotation marks with doubled ones inside, but other "
                "cells are not. All were left unchanged.",
                "{n} cells of “{column}” are in quotation marks with doubled ones inside, but "
                "other cells are not. All were left unchanged.",
                n=len(doubled),
                column=title,
            )
            grid.warn(text, doubled[0])
    if named:
        grid.note(
            message(
                "table.quotes-of",
                "The quotation marks around the cells of {columns} were removed.",
                columns=truncated(named, 10),
            )
        )


def _is_closed(cell: str) -> bool:
    """Return True if a cell is in quotation marks, with those inside doubled."""
    is_between = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return is_between and '"' not in cell[1:-1].replace('""', "")


def _doubles(cell: str) -> bool:
    return _is_closed(cell) and '""' in cell[1:-1]


def _are_quoted(marked: Sequence[str], n_cells: int) -> bool:
    """Return True if a program quoted a column: all its cells, or with doubled marks inside."""
    is_whole = len(marked) == n_cells > 1
    return (
        bool(marked) and all(map(_is_closed, marked)) and (is_whole or any(map(_doubles, marked)))
    )


def fill(grid: Grid, lines: Sequence[Line], *, has_names: bool, pads: bool = False) -> None:
    """Find the header among lines, and give every row its number of cells.

    `pads` completes short rows with empty cells.
    """
    first = next((line for line in lines if line[1]), None)
    if first and not has_names:
        names = [f"column {n + 1}" for n in range(len(first[1]))]
        # A table may have these very names.
        is_named = [cell.strip().casefold() for cell in first[1]] == names
        lines = lines if is_named else [(first[0], names), *lines]
    if has_names:
        joined = in_one_row(lines, pads=pads)
        if joined.refusal:
            raise GridError(joined.refusal, lines[0][0])
        lines, grid.width, grid.torn = joined.lines, joined.width, list(joined.torn)
        if joined.text:
            grid.warn(joined.text, next(number for number, cells in lines if cells))
    start = _header_at(grid, lines, pads=pads)
    if start is None:
        return
    grid.first, header = lines[start][0], [cell.strip() for cell in lines[start][1]]
    rows = lines[start + 1 :]
    widths = {len(cells) for _, cells in rows}
    header = _without_comment(grid, header, max(widths, default=0))
    filled = [cells for _, cells in rows if cells]
    if _has_row_names(filled, len(header)):
        header = ["", *header]
    header = _with_names(grid, header, filled)
    kept = [column for column, name in enumerate(header) if name]
    grid.header = [header[column] for column in kept]
    is_whole = len(kept) == len(header)
    if is_whole and widths <= {len(header)}:
        grid.rows = list(rows)
        return
    least = kept[-1] + 1 if kept else 0
    blank: list[int] = []
    for number, cells in rows:
        if not cells:
            blank.append(number)
            continue
        grid.blank += blank
        blank.clear()
        if len(cells) > len(header) and not any(map(str.strip, cells[len(header) :])):
            cells = cells[: len(header)]
        if pads and len(cells) < least:
            cells = [*cells, *[""] * (least - len(cells))]
        if least <= len(cells) <= len(header):
            grid.rows.append((number, cells if is_whole else [cells[column] for column in kept]))
        else:
            grid.torn.append((number, len(cells)))


def _has_row_names(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return True if R numbered the rows in a column that the header does not have."""
    return bool(rows) and all(
        len(cells) == width + 1 and cells[0] == str(number) for number, cells in enumerate(rows, 1)
    )


def _header_at(grid: Grid, lines: Sequence[Line], *, pads: bool) -> int | None:
    """Return which line is the header: titles above it fill one cell, and the rows several.

    Names that Excel gives to the columns of a table without any are a title, too.
    """
    filled = [n for n, (_, cells) in enumerate(lines[: MOST_TITLES + 20]) if cells]
    counts = [sum(bool(cell.strip()) for cell in lines[n][1]) for n in filled]
    are_names = [not all(map(OF_EXCEL.fullmatch, lines[n][1])) for n in filled]
    titles = next((n for n, count in enumerate(counts) if count > 1 and are_names[n]), 0)
    is_table = titles and counts[titles] == len(lines[filled[titles]][1])
    if not is_table or titles > MOST_TITLES:
        return filled[0] if filled else None
    if not _are_titles(lines, filled, titles, pads=pads):
        return filled[0]
    shown = next(cell for cell in lines[filled[0]][1] if cell.strip())
    text = message(
        "table.titles",
        "The lines above the header were skipped: “{text}”.",
        text=shown.strip()[:60],
    )
    grid.warn(text, lines[0][0])
    return filled[titles]


def _are_titles(lines: Sequence[Line], filled: Sequence[int], titles: int, *, pads: bool) -> bool:
    """Return True if a header with more known names follows, over rows of its width."""
    header = lines[filled[titles]][1]
    below = [len(lines[n][1]) for n in islice(filled, titles + 1, titles + 5)]
    above = [cell for n in filled[:titles] for cell in lines[n][1] if cell.strip()]
    # A title such as “Evaluation” may be the name of a field.
    is_header = sum(map(is_known, header)) > sum(map(is_known, above))
    return is_header and all(n == len(header) or (pads and n < len(header)) for n in below)


def _without_comment(grid: Grid, header: list[str], longest: int) -> list[str]:
    """Remove a comment at the end of a header: Marot writes its documentation there."""
    if longest == len(header) - 1 and header[-1].startswith("#"):
        text = message(
            "table.comment",
            "“{text}” at the end of the header is a comment, not a column.",
            text=header[-1][:60],
        )
        grid.note(text, grid.first)
        return header[:-1]
    return header


def _with_names(grid: Grid, header: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Name columns without a name, of which only row numbers and what follows the last are skipped.

    A table that was written with its index has the names of systems or segments in such a column.
    """
    named = list(header)
    last = max((column for column, name in enumerate(header) if name), default=-1)
    for column, name in enumerate(header):
        if name:
            continue
        cells = [row[column].strip() for row in islice(rows, 1_000) if column < len(row)]
        filled = [cell for cell in cells if cell]
        about = {"number": column + 1, "text": ", ".join(cell[:20] for cell in filled)[:60]}
        if not filled:
            grid.note(
                message(
                    "table.column-empty",
                    "Column {number} is empty and was skipped.",
                    number=column + 1,
                ),
                grid.first,
            )
        elif column > last or all(cell.isdecimal() for cell in filled):
            grid.warn(
                message(
                    "table.column-unnamed",
                    "Column {number} has no name and was skipped: {text}.",
                    **about,
                ),
                grid.first,
            )
        else:
            named[column] = f"unnamed {column + 1}"
            grid.warn(
                message(
                    "table.column-named",
                    "Column {number} has no name and is called “{name}”: {text}.",
                    name=named[column],
                    **about,
                ),
                grid.first,
            )
    return named
