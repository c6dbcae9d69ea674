"""Headers in two rows, as spreadsheets have them: names in merged cells above fields.

The names are those of systems or annotators; a row then becomes one row for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from metaeval.files.cells import SplitLine, read_score, too_many_cells
from metaeval.files.names import NAMES, is_called, is_field, is_person
from metaeval.messages import Message, message, truncated

Line = tuple[int, list[str]]
# The name above a column, empty for a column of all names, and its field.
Column = tuple[str, str]
# Lines among which the header is, behind titles and empty lines.
MOST_LINES = 26
# Wider headers take too long, and are left as they are.
MOST_COLUMNS = 1_000
SYSTEM, OUTPUT, ANNOTATOR = "system", "output", "annotator"


class Joined(NamedTuple):
    """Lines whose header is in one row, and what was done.

    `width` is the number of cells that rows of the file have, 0 where nothing was done, and `torn`
    are those that have another, each with its number of cells. `refusal` is why the table is not
    read.
    """

    lines: Sequence[Line]
    text: Message | None = None
    width: int = 0
    torn: Sequence[tuple[int, int]] = ()
    refusal: Message | None = None


def in_one_row(lines: Sequence[Line], *, pads: bool = False) -> Joined:
    """Return lines with the header in one row; others are returned unchanged.

    `pads` completes short rows with empty cells.

    Examples
    --------
    >>> header = [(1, ["", "A", "", "B", ""]), (2, ["key", "score", "mt", "score", "mt"])]
    >>> in_one_row([*header, (3, ["7", "80", "x", "70", "y"])]).lines
    [(1, ['key', 'system', 'score', 'mt']), (3, ['7', 'A', '80', 'x']), (3, ['7', 'B', '70', 'y'])]
    """
    filled = (n for n, (_, cells) in enumerate(lines[:MOST_LINES]) if cells)
    above = next((n for n in filled if sum(map(bool, map(str.strip, lines[n][1]))) > 1), None)
    below = next(filled, None)
    if above is None or below is None:
        return Joined(lines)
    if max(len(lines[above][1]), len(lines[below][1])) > MOST_COLUMNS:
        return Joined(lines)
    columns = _columns(lines[above][1], lines[below][1])
    names = list(dict.fromkeys(name for name, _ in columns if name))
    if not names:
        return Joined(lines)
    first, rows = lines[above][0], lines[below + 1 :]
    level = next((field for name, field in columns if field and not name), "")
    if index := _index_of(columns, next((cells for _, cells in rows if cells), [])):
        columns = [(name, index[place] or field) for place, (name, field) in enumerate(columns)]
        rows = rows[1:]
    title = level if index and is_field(level) else _title_of(columns, names)
    if not title:
        header = [f"{name}.{field}" if name else field for name, field in columns]
        text = message(
            "table.headers-joined",
            "The header has two rows. They were joined, as in “{column}”.",
            column=next(joined for joined in header if "." in joined),
        )
        return Joined([*lines[:above], (first, header), *rows], text)
    text = message(
        "table.two-headers",
        "The header has two rows. The names in the first ({names}) were read as the column "
        "“{column}”. Choose another field for it if they are something else.",
        names=truncated(names),
        column=title,
    )
    fields = list(dict.fromkeys(field for name, field in columns if name))
    common = [place for place, (name, _) in enumerate(columns) if not name]
    refusal = too_many_cells(len(rows) * len(names) * (len(common) + 1 + len(fields)))
    if refusal:
        return Joined(lines, refusal=refusal)
    header = [*(columns[place][1] for place in common), title, *fields]
    places = [
        (name, [columns.index((name, f)) if (name, f) in columns else None for f in fields])
        for name in names
    ]
    width = len(columns)
    rows = [(number, _whole(cells, width, pads=pads)) for number, cells in rows]
    torn = [(number, len(cells)) for number, cells in rows if len(cells) not in (0, width)]
    rows = [(number, cells) for number, cells in rows if len(cells) in (0, width)]
    own = {name: {title: name} | {field: f"{name}.{field}" for field in fields} for name in names}
    unfolded = [row for line in rows for row in _unfolded(line, common, places, own)]
    return Joined([*lines[:above], (first, header), *unfolded], text, width, torn)


def _columns(above: Sequence[str], below: Sequence[str]) -> list[Column]:
    """Return the columns under two rows of a header; none if they are not one."""
    width = max(len(above), len(below))
    rows = ([*map(str.strip, row), *[""] * (width - len(row))] for row in (above, below))
    columns: list[Column] = []
    current = ""
    for name, field in zip(*rows, strict=True):
        is_group = name and field and name != field
        current = name if is_group else "" if name or not field else current
        columns.append((current, field or name))
    own: dict[str, list[str]] = {}
    for name, field in columns:
        if name:
            own.setdefault(name, []).append(field)
    others = [field for name, field in columns if not name]
    is_pivot = bool(others) and all(not field or is_field(field) for field in others)
    are_pairs = len(own) > 1 or (is_pivot and any(above.count(name) > 1 for name in own))
    if not are_pairs or any(len(set(fields)) < len(fields) for fields in own.values()):
        return []
    # A field at the end of the last name alone is a column of all.
    for place in range(width - 1, -1, -1):
        name, field = columns[place]
        elsewhere = [fields for other, fields in own.items() if other != name]
        if not name or not elsewhere or any(field in fields for fields in elsewhere):
            break
        columns[place] = ("", field)
        own[name].remove(field)
    shared = set.intersection(*map(set, own.values()))
    is_grouped = bool(shared) and all(len(fields) > 1 for fields in own.values())
    are_names = not any(is_field(field) or _is_number(field) for field in shared)
    if is_grouped and are_names and any(map(is_field, own)):
        return [(field, name) if name else ("", field) for name, field in columns]
    are_alike = len(own) > 1 and all(set(fields) == shared for fields in own.values())
    is_merged = are_alike and len(shared) > 1
    is_beside = are_alike and any(
        is_field(field) and not name.strip()
        for name, (group, field) in zip(above, columns, strict=False)
        if not group
    )
    is_apart = (is_merged or is_beside) and not any(map(_is_number, shared))
    is_header = is_apart or any(map(is_field, shared))
    return columns if is_header and not any(map(is_field, own)) else []


def _is_number(cell: str) -> bool:
    return read_score(cell) is not None


def _index_of(columns: Sequence[Column], cells: Sequence[str]) -> list[str]:
    """Return the names of columns that pandas writes in a third row; empty if that is data."""
    named = [cell.strip() for cell in cells] + [""] * (len(columns) - len(cells))
    pairs = zip(named, columns, strict=False)
    is_index = all(is_field(cell) if cell else bool(name) for cell, (name, _) in pairs)
    return named if is_index and any(named) else []


def _title_of(columns: Sequence[Column], names: Sequence[str]) -> str:
    """Return what the names are: the column that the rows lack; empty if that is unknown."""
    common = [field for name, field in columns if not name]
    if not any(is_field(field) for name, field in columns if name):
        return ""
    has = {field for field in (SYSTEM, OUTPUT, ANNOTATOR)
           if any(is_called(column, (field, *NAMES[field])) for column in common)}  # fmt: skip
    if ANNOTATOR not in has and (has or all(map(is_person, names))):
        return ANNOTATOR
    return "" if SYSTEM in has else SYSTEM


def _whole(cells: list[str], width: int, *, pads: bool) -> list[str]:
    """Return a row without the empty cells behind it, or with those that it lacks."""
    if len(cells) > width and not any(map(str.strip, cells[width:])):
        return cells[:width]
    return [*cells, *[""] * (width - len(cells))] if pads and cells else cells


def _unfolded(
    line: Line,
    common: Sequence[int],
    places: Sequence[tuple[str, Sequence[int | None]]],
    columns: Mapping[str, Mapping[str, str]],
) -> list[Line]:
    """Return a row for each name that has cells; a row without any is one of the first name."""
    number, cells = line
    if not cells:
        return [line]
    shared = [cells[place] for place in common]
    rows: list[Line] = [
        (
            SplitLine(number, columns[name]),
            [*shared, name, *("" if at is None else cells[at] for at in own)],
        )
        for name, own in places
    ]
    return [row for row in rows if any(map(str.strip, row[1][len(shared) + 1 :]))] or rows[:1]
