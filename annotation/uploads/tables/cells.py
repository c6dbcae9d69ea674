"""Cells of tables as texts and names; cells of other types are reported."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

from annotation.uploads.files import RatioError, parse_ratio
from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.reading import Reading
from annotation.uploads.tables.rows import Table
from annotation.uploads.tables.spooled import Spooled
from core.text import has_sign
from metaeval.files.cells import is_missing, read_score
from metaeval.messages import Message, message, plural
from metaeval.scores.directions import (
    STATED_HIGHER,
    STATED_LOWER,
    Direction,
    infer_direction,
)

# Decimal commas and percent signs of spreadsheets, and cells that are not numbers.

PERCENT = re.compile(r"\s*-?[0-9]+([.,][0-9]+)?\s*%\s*")
THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}\s*%?\s*$")
DECIMAL_COMMA = re.compile(r"\s*-?[0-9]+,[0-9]+\s*%?\s*")


def has_decimal_comma(cell: Any) -> TypeGuard[str]:
    """Return True if a cell would be a number with a point instead of its comma."""
    return isinstance(cell, str) and "," in cell and DECIMAL_COMMA.fullmatch(cell) is not None


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

    Where no semicolons separate the cells, a column with points, or with commas alone that may
    separate thousands, is ambiguous and stays as it is.
    """
    found = []
    wanted = [c for c in columns if table.separator == ";" or _has_commas(table.column(c))]
    for _, row in table.rows if wanted else ():
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


def _has_commas(cells: Sequence[Any]) -> bool:
    """Return True for a column of numbers whose commas cannot separate thousands."""
    commas = [cell for cell in cells if has_decimal_comma(cell)]
    if not commas or all(map(THOUSANDS.match, commas)):
        return False
    others = (cell for cell in cells if not has_decimal_comma(cell))
    return all(read_score(cell) is not None and "." not in str(cell) for cell in others)


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


def plain_ratio(value: Any) -> str:
    """Return a length ratio such as `0.80` or `80%` as a plain number; empty for other values.

    >>> plain_ratio("80%"), plain_ratio(0.50), plain_ratio("half")
    ('0.8', '0.5', '')
    """
    try:
        return f"{parse_ratio(str(value)).normalize():f}"
    except RatioError:
        return ""


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
) -> Sequence[str | None]:
    """Return the cells of a column; None, with the reason reported, for one that is not text.

    Unless they are `required`, absent cells are None without an error.
    """
    cells = table.column(column)
    if not reading.decodes and set(map(type, cells)) == {str} and not has_sign(cells, "\r"):
        return cells if isinstance(cells, Spooled) else list(cells)
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
    cells = table.column(column)
    if set(map(type, cells)) == {str}:
        known: dict[str, str] = {}
        names = [known.setdefault(name, name) for name in map(str.strip, cells)]
        if all(names):
            return list(names)
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


# Report whether higher or lower scores are better, or ask for it.

USUAL = infer_direction("", ())


def say_direction(name: str, direction: Direction, report: Report) -> None:
    """Note an unusual direction of some scores; ask for it if it is unclear."""
    if direction.is_lower is None:
        text = message(
            "direction.column-unclear",
            "“{name}”: it is unclear whether higher or lower is better: {reason}. State the "
            "direction (command line: --lower-is-better or --higher-is-better; API: "
            "lower_is_better or higher_is_better).",
            name=name,
            reason=direction.reason,
        )
        report.error(text)
    elif direction == USUAL:
        return
    elif direction.is_lower:
        text = message(
            "direction.column-lower",
            "“{name}”: lower is better: {reason}.",
            name=name,
            reason=direction.reason,
        )
        report.note(text)
    else:
        text = message(
            "direction.column-higher",
            "“{name}”: higher is better: {reason}.",
            name=name,
            reason=direction.reason,
        )
        report.note(text)


def direction_message(direction: Direction) -> Message | None:
    """Return the message that is stored with scores; None if nothing unusual was inferred."""
    if direction in (USUAL, STATED_LOWER, STATED_HIGHER):
        return None
    if direction.is_lower:
        return message(
            "direction.stored-lower", "Lower is better: {reason}.", reason=direction.reason
        )
    return message(
        "direction.stored-higher", "Higher is better: {reason}.", reason=direction.reason
    )
