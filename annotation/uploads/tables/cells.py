"""Cells of tables as texts and names; cells of other types are reported."""

from typing import Any

from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.reading import Reading
from annotation.uploads.tables.rows import Table
from metaeval.messages import Message, message

BOOLEAN = message("cell.boolean", "true or false")
NUMBER = message("cell.number", "a number")
OBJECT = message("cell.object", "an object")
LIST = message("cell.list", "a list")
TEXT = message("cell.text", "text")
NULL = message("cell.null", "null")
# What messages call the types of JSON values.
TYPE_NAMES: dict[type, Message] = {
    bool: BOOLEAN,
    int: NUMBER,
    float: NUMBER,
    dict: OBJECT,
    list: LIST,
    str: TEXT,
    type(None): NULL,
}
Row = dict[str, Any]


def texts_of(
    reading: Reading, table: Table, column: str, *, required: bool = True
) -> list[str | None]:
    """Return the cells of a column; None, with the reason reported, for one that is not text.

    Unless they are `required`, absent cells are None without an error.
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
    if column not in row:
        text = message("cell.missing", "“{column}” is missing.", column=column)
    else:
        text = message(
            "cell.not-text",
            "“{column}” is {type}, not text.",
            column=column,
            type=TYPE_NAMES[type(row[column])],
        )
    report.error(text, place)


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
        report.error(message("cell.empty", "“{column}” is empty.", column=column), place)
        return None
    return name
