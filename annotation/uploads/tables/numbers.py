"""Cells of tables that are no numbers, and decimal commas and percent signs of spreadsheets."""

import re
from collections.abc import Iterable
from typing import Any, TypeGuard

from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from core.text import pluralize
from metaeval.files.cells import is_missing

PERCENT = re.compile(r"\s*-?[0-9]+([.,][0-9]+)?\s*%\s*")
DECIMAL_COMMA = re.compile(r"\s*-?[0-9]+,[0-9]+\s*")


def has_decimal_comma(cell: Any) -> TypeGuard[str]:
    """Whether a cell would be a number with a point in the place of its comma."""
    return isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell) is not None


def no_number(cell: Any) -> str:
    """Return the sentence that refuses a cell as a number."""
    if has_decimal_comma(cell):
        return f"“{str(cell)[:40]}” is no number: write a decimal point"
    return f"“{str(cell)[:40]}” is no number"


def write_points(table: Table, columns: Iterable[str], report: Report) -> None:
    """Write the decimal commas of columns of numbers as points, and note it.

    Only where semicolons separate the cells: elsewhere a comma may mean anything.
    """
    if table.separator != ";":
        return
    found = []
    wanted = list(columns)
    for _, row in table.rows:
        for column in wanted:
            if has_decimal_comma(cell := row.get(column)):
                row[column] = cell.replace(",", ".")
                found.append(cell.strip())
    if found:
        cells = pluralize(len(found), "cell has a decimal comma", "cells have a decimal comma")
        first = found[0].replace(",", ".")
        report.note(f"{cells}: “{found[0]}” is read as {first}", Place(table.file))


def read_percent(table: Table, column: str, report: Report) -> None:
    """Take the percent signs off a column in which every number has one, and note it."""
    cells = [cell for _, row in table.rows if (cell := row.get(column)) not in (None, "")]
    numbers = [cell for cell in cells if not is_missing(cell)]
    if not numbers or not all(isinstance(c, str) and PERCENT.fullmatch(c) for c in numbers):
        return
    for _, row in table.rows:
        if isinstance(cell := row.get(column), str):
            row[column] = cell.replace("%", "").strip()
    report.note(f"“{numbers[0].strip()}” is read as {numbers[0].replace('%', '').strip()} of 100",
                table.head._replace(field=column))  # fmt: skip
