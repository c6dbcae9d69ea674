"""Read lists of objects in the cells of JSON as rows, one for each annotator, system or metric.

`{"segment": 1, "ratings": [{"annotator": "R1", "score": 80}, …]}` has a row for each rating, and
lists within lists are read alike. Lists of error spans stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from annotation.uploads.files import label_of_file
from annotation.uploads.problems import Report
from annotation.uploads.tables.meanings import OF_OUTPUTS
from annotation.uploads.tables.objects import GROUP, KEYS
from annotation.uploads.tables.rows import Cells, Row, Table, column_name, flat
from annotation.uploads.tables.spans import OTHERS, SEVERITIES
from metaeval.files.cells import parse_number, too_many_cells
from metaeval.files.names import NAMES, column_of, is_called, is_field, number_of, plain
from metaeval.messages import message, truncated

# Fields by which an object in a list is a row.
OF_ROWS = ("annotator", "system", "metric")
NAMES_OF_ROWS = tuple(name for field in OF_ROWS for name in (field, *NAMES[field]))
# An error may say who marked it; it is a row where it says of which system it is.
NAMES_OF_SPANS = ("system", *NAMES["system"])
OF_SPANS = frozenset(("start", "severity"))
# Objects around fields of the row itself.
WRAPPERS = ("result", "data", "metadata", "meta", "info", "response", "evaluation", "judgment",
            "judgement", "annotation", "assessment", "item", "rating", "fields")  # fmt: skip
# What rows with several systems have of each, with further names; `system1Id` of WMT's rankings.
OF_ONE = (("system", ()), ("output", ()), ("score", NAMES["judgment"]), ("rank", ()),
          ("comment", ()), ("spans", ()))  # fmt: skip
RANKED = re.compile(r"system[\W_]*(?P<n>\d)[\W_]*(?P<key>id|name|rank|score|number)", re.IGNORECASE)
# Lists in lists in lists are no table.
DEEPEST = 3
# References by their names, as WMT publishes them.
REFERENCE = re.compile(r"refs\.(?P<name>[^.]+)(\.ref)?")


def unnested(table: Table, report: Report) -> Table | None:
    """Return a table with a row for each object in lists; others are returned unchanged.

    None, with the reason reported, where the rows would have too many cells.
    """
    table = _by_system(_with_spans(_with_outputs(_unwrapped(table))), report)
    names: list[str] = []
    while len(names) < DEEPEST and (column := _column_of_rows(table)):
        n_cells = sum(len(row) * len(row.get(column) or "1") for _, row in table.rows)
        if refusal := too_many_cells(n_cells):
            report.error(refusal, table.head)
            return None
        names.append(table.titles.get(column, column))
        table = _unnested(table, column)
    if names:
        text = message(
            "table.lists-as-rows",
            "The objects in the lists of {columns} were read as rows.",
            columns=truncated(names),
        )
        report.note(text, table.head)
    return table


def _unwrapped(table: Table) -> Table:
    """Return a table with fields in objects such as `result` as its own, unless it has them."""
    lasts = {c: c.rpartition(".")[2] for c in table.columns if is_called(c.split(".")[0], WRAPPERS)}
    times = Counter(map(plain, (lasts.get(c, c) for c in table.columns)))
    has_keys = any(is_called(c, KEYS) for c in table.columns if c not in lasts)
    names = {c: last for c, last in lasts.items() if is_field(last) and times[plain(last)] == 1
             and not (has_keys and is_called(last, KEYS))}  # fmt: skip
    if not names:
        return table
    columns = {c: names.get(c, c) for c in table.columns}
    titles = {columns[c]: table.titles.get(c, c) for c in table.columns}
    return replace(table.with_columns(columns), titles=titles)


def _with_outputs(table: Table) -> Table:
    """Return a table with texts for lists of one output, and systems for the keys of lists."""
    column = column_of("output", table.columns)
    if isinstance(table.rows, Cells) or not column:
        return table
    cells = [cell for cell in table.column(column) if cell is not None]
    if cells and all(isinstance(cell, list) and [*map(type, cell)] == [str] for cell in cells):
        for _, row in table.rows:
            row[column] = row[column][0] if row.get(column) else row.get(column)
    if GROUP not in table.columns or column_of("system", table.columns):
        return table
    rows = [(line, {"system": label_of_file(row.pop(GROUP)), **row}) for line, row in table.rows]
    return replace(table, columns=["system", *(c for c in table.columns if c != GROUP)], rows=rows)


def _with_spans(table: Table) -> Table:
    """Return a table with lists of errors by severity, as language models write them, as spans."""
    named = [column for column in table.columns if column.lower() in SEVERITIES]
    types = {c: {type(cell) for cell in table.column(c)} for c in named}
    own = [c for c in named if list in types[c] <= {list, type(None)}]
    if not {"minor", "major"} & {c.lower() for c in own} or column_of("spans", table.columns):
        return table
    rows = [
        (line, {c: cell for c, cell in row.items() if c not in own}
         | {"spans": {c: row[c] for c in own if c in row}}) for line, row in table.rows
    ]  # fmt: skip
    columns = [*(c for c in table.columns if c not in own), "spans"]
    return replace(table, columns=columns, rows=rows, titles={**table.titles, "spans": "spans"})


def _by_system(table: Table, report: Report) -> Table:
    """Return a table with a row for each of several systems that a row names in its cells.

    `system_A` and `system_B` say whose `score_A` and `score_B` are; WMT's rankings have `system1Id`
    and `system1rank`.
    """
    groups: dict[str, dict[str, str]] = {}
    for column in table.columns:
        title = table.titles.get(column, column)
        inner = RANKED.fullmatch(title)
        numbers = {
            field: number_of(title, (field, *NAMES.get(field, ()), *also)) for field, also in OF_ONE
        }
        field = next((field for field, number in numbers.items() if number), "")
        if inner and inner["key"].casefold() != "number":
            field = "system" if inner["key"].casefold() in ("id", "name") else inner["key"]
        if field:
            groups.setdefault(inner["n"] if inner else numbers[field].casefold(), {})[field] = (
                column
            )
    groups = {n: own for n, own in groups.items() if "system" in own and len(own) > 1}
    if len(groups) < 2 or column_of("system", table.columns):
        return table
    cells = [str(cell) for own in groups.values() for cell in table.column(own["system"]) if cell]
    # Names are repeated; outputs, which such columns may hold, are not.
    if len({*cells}) > max(len(groups), len(cells) / 2) or any(map(parse_number, cells)):
        return table
    used = {column for own in groups.values() for column in own.values()}
    others = [column for column in table.columns if column not in used]
    fields = list(dict.fromkeys(field for own in groups.values() for field in own))
    n_cells = len(table.rows) * len(groups) * (len(others) + len(fields))
    if refusal := too_many_cells(n_cells):
        report.error(refusal, table.head)
        return table
    rows = [
        (line, {c: row[c] for c in others if c in row}
         | {field: row[c] for field, c in own.items() if c in row})
        for line, row in table.rows for own in groups.values()
        if row.get(own["system"]) not in (None, "")
    ]  # fmt: skip
    text = message(
        "table.systems-by-row",
        "Each row names its systems in {columns}. Every system was read as a row.",
        columns=[table.titles.get(own["system"], own["system"]) for own in groups.values()],
    )
    report.note(text, table.head)
    columns = [*others, *fields]
    titles = {column: table.titles.get(column, column) for column in columns}
    return replace(table, columns=columns, rows=rows, titles=titles)


def _column_of_rows(table: Table) -> str:
    """Return a column whose cells are lists of objects with a name; empty if there is none."""
    if isinstance(table.rows, Cells):
        return ""
    lists = dict.fromkeys(c for _, row in table.rows for c in row if type(row[c]) is list)
    return next((c for c in lists if _holds_rows(table.column(c))), "")


def _holds_rows(cells: Iterable[Any]) -> bool:
    filled = [cell for cell in cells if cell not in (None, "", [])]
    lists = [cell for cell in filled if isinstance(cell, list) and all(map(_is_row, cell))]
    return bool(lists) and len(lists) == len(filled)


def _is_row(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    is_span = any(OTHERS.get(plain(key), key) in OF_SPANS for key in value)
    return any(is_called(key, NAMES_OF_SPANS if is_span else NAMES_OF_ROWS) for key in value)


def _unnested(table: Table, column: str) -> Table:
    columns = [each for each in table.columns if each != column]
    titles = {each: table.titles.get(each, each) for each in columns}
    rows: list[tuple[int, Row]] = []
    for line, row in table.rows:
        common = {name: cell for name, cell in row.items() if name != column}
        for each in row.get(column) or [{}]:
            own: Row = {}
            for title, value in flat(each):
                if title == "text" and is_called(column, OF_OUTPUTS):
                    title = "output"
                path = f"{column}." if column_name(title) in columns else ""
                titles.setdefault(column_name(f"{path}{title}"), f"{path}{title}")
                own[column_name(f"{path}{title}")] = value
            rows.append((line, common | own))
    return replace(table, columns=list(titles), rows=rows, titles=titles)


def with_references(table: Table) -> Table:
    """Rename the references in WMT's `refs` as fields."""
    found = {c: f"reference_{m['name']}" for c in table.columns if (m := REFERENCE.fullmatch(c))}
    if not found:
        return table
    columns = [found.get(column, column) for column in table.columns]
    titles = {found.get(c, c): found.get(c, title) for c, title in table.titles.items()}
    named = table.with_columns(dict(zip(table.columns, columns, strict=True)))
    return replace(named, titles=titles)
