"""Cells of tables as texts and names, what is no text being reported."""

from typing import Any

from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.reading import Reading
from annotation.uploads.tables.rows import Table

TYPE_NAMES = {bool: "true or false", int: "a number", float: "a number", dict: "an object",
              list: "a list"}  # fmt: skip
Row = dict[str, Any]


def texts_of(
    reading: Reading, table: Table, column: str, *, required: bool = True
) -> list[str | None]:
    """Return the cells of a column; None, with the reason reported, where one is no text.

    Where it is not `required`, an absent cell is None without an error.
    """
    texts: list[str | None] = []
    for line, row in table.rows:
        value = row.get(column)
        if isinstance(value, str):
            (value,) = reading.texts([value], table.file, column, (line,))
            texts.append(normalise(value).text)
        else:
            texts.append(None)
            if required or value is not None:
                report_type(row, column, Place(table.file, line, column), reading.report)
    return texts


def report_type(row: Row, column: str, place: Place, report: Report) -> None:
    what = f"is {TYPE_NAMES[type(row[column])]}, not text" if column in row else "is missing"
    report.error(f"“{column}” {what}", place)


def names_of(table: Table, column: str, report: Report) -> list[str | None]:
    """Return keys, document ids or system names; whole numbers are names too."""
    return [
        name_of(row, column, Place(table.file, line, column), report) for line, row in table.rows
    ]


def name_of(row: Row, column: str, place: Place, report: Report) -> str | None:
    value = row.get(column)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        report_type(row, column, place, report)
        return None
    if not (name := value.strip()):
        report.error(f"“{column}” is empty", place)
        return None
    return name
