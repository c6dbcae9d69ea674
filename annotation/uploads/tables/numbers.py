"""Decimal commas and percent signs of spreadsheets, and cells that are not numbers."""

import re
from collections.abc import Iterable
from typing import Any, TypeGuard

from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import is_missing
from metaeval.messages import Message, message, plural

PERCENT = re.compile(r"\s*-?[0-9]+([.,][0-9]+)?\s*%\s*")
DECIMAL_COMMA = re.compile(r"\s*-?[0-9]+,[0-9]+\s*")


def has_decimal_comma(cell: Any) -> TypeGuard[str]:
    """Return True if a cell would be a number with a point instead of its comma."""
    return isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell) is not None


def no_number(cell: Any) -> Message:
    """Return the message that refuses a cell as a number."""
    text = str(cell)[:40]
    if has_decimal_comma(cell):
        return message(
            "cell.decimal-comma", "“{text}” is not a number. Use a decimal point.", text=text
        )
    return message("cell.not-a-number", "“{text}” is not a number.", text=text)


def write_points(table: Table, columns: Iterable[str], report: Report) -> None:
    """Replace the decimal commas of columns of numbers by points, with a note.

    This is done only if semicolons separate the cells: elsewhere commas are ambiguous.
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
        text = plural(
            "cell.decimal-commas",
            "{n} cell has a decimal comma: “{text}” was read as {number}.",
            "{n} cells have a decimal comma: “{text}” was read as {number}.",
            n=len(found),
            text=found[0],
            number=found[0].replace(",", "."),
        )
        report.note(text, Place(table.file))


def read_percent(table: Table, column: str, report: Report) -> None:
    """Remove the percent signs of a column in which every number has one, with a note."""
    cells = [cell for _, row in table.rows if (cell := row.get(column)) not in (None, "")]
    numbers = [cell for cell in cells if not is_missing(cell)]
    if not numbers or not all(isinstance(c, str) and PERCENT.fullmatch(c) for c in numbers):
        return
    for _, row in table.rows:
        if isinstance(cell := row.get(column), str):
            row[column] = cell.replace("%", "").strip()
    text = message(
        "cell.percent",
        "“{text}” was read as {number} of 100.",
        text=numbers[0].strip(),
        number=numbers[0].replace("%", "").strip(),
    )
    report.note(text, table.head._replace(field=column))
