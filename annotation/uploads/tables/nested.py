"""Read lists of objects in the cells of JSON as rows, one for each annotator, system or metric.

`{"segment": 1, "ratings": [{"annotator": "R1", "score": 80}, …]}` has a row for each rating, and
lists within lists are read alike. Lists of error spans stay as they are.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import Cells, Row, Table, column_name, flat
from annotation.uploads.tables.spans import OTHERS
from metaeval.files.names import NAMES, is_called, plain
from metaeval.messages import message, truncated

# Fields by which an object in a list is a row.
OF_ROWS = ("annotator", "system", "metric")
NAMES_OF_ROWS = tuple(name for field in OF_ROWS for name in (field, *NAMES[field]))
# An error may say who marked it; it is a row where it says of which system it is.
NAMES_OF_SPANS = ("system", *NAMES["system"])
OF_SPANS = frozenset(("start", "severity"))
# Lists in lists in lists are no table.
DEEPEST = 3


def unnested(table: Table, report: Report) -> Table:
    """Return a table with a row for each object in lists; others are returned unchanged."""
    names: list[str] = []
    while len(names) < DEEPEST and (column := _column_of_rows(table)):
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
                path = f"{column}." if column_name(title) in columns else ""
                titles.setdefault(column_name(f"{path}{title}"), f"{path}{title}")
                own[column_name(f"{path}{title}")] = value
            rows.append((line, common | own))
    return replace(table, columns=list(titles), rows=rows, titles=titles)
