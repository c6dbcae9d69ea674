"""TSV, CSV and JSON Lines to rows of named cells.

TSV has no quoting: a cell is what stands between two tabs. CSV is read with quoting (RFC 4180), and
with the semicolons that spreadsheets write where the comma is a decimal sign. JSON Lines has one
object a line.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from annotation.uploads.files import lines_of
from annotation.uploads.problems import Place, Report, printable

EXTENSIONS = {
    ".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "jsonl",
}  # fmt: skip
# Characters. A paragraph has some thousand; what is longer is a file whose line ends were lost.
LONGEST_TEXT = 100_000
# JSON within the quotation marks of a program that quotes: no text begins so, and it is read.
QUOTED_JSON = ('"[{""', '"{""')
MOST_COLUMNS = 1_000


@dataclass
class Table:
    """Rows by column name; an absent cell is absent from its row's dictionary.

    `titles` are the columns as the file writes them, `separator` is what parts the cells of a CSV.
    """

    file: str
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    separator: str = ""


def format_of(name: str, text: str) -> str:
    """Return `tsv`, `csv` or `jsonl`, by the file name or else by the first line."""
    known = EXTENSIONS.get(PurePath(name).suffix.lower())
    if known:
        return known
    first = text.split("\n", 1)[0]
    if first.lstrip().startswith(("{", "[")):
        return "jsonl"
    return "tsv" if "\t" in first else "csv"


def parse(name: str, text: str, report: Report) -> Table | None:
    """Return the rows of a table, or None with the reason reported."""
    if not text.strip():
        report.error("the file is empty", Place(name))
        return None
    kind = format_of(name, text)
    if kind == "jsonl":
        return _parse_jsonl(name, _as_lines(text), report)
    if kind == "tsv":
        return _with_header(Table(name), _tsv_rows(text), kind, report)
    table = Table(name, separator=_separator(text))
    return _with_header(table, _csv_rows(table, text, report), kind, report)


def _tsv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines_of(text), 1):
        yield number, line.split("\t") if line.strip() else []


def _csv_rows(table: Table, text: str, report: Report) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LONGEST_TEXT)
    if table.separator != ",":
        report.note("cells are separated by semicolons", Place(table.file, 1))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=table.separator)
    number = 1
    try:
        for cells in reader:
            yield number, cells if any(cell.strip() for cell in cells) else []
            number = reader.line_num + 1
    except csv.Error as error:
        report.error(
            f"the CSV cannot be read from here on ({error}). Is a quotation mark not closed or "
            "not doubled?",
            Place(table.file, number),
        )


def require_rows(table: Table, report: Report) -> None:
    """Report a table that has none, unless what was wrong with its rows is told already."""
    name = printable(table.file)
    if not table.rows and all(error.place.file != name for error in report.errors):
        report.error("the table has a header but no row", Place(table.file))


def _separator(text: str) -> str:
    """Return what stands between the cells of a CSV; only a header without any comma can tell."""
    header = text.split("\n", 1)[0]
    return ";" if ";" in header and "," not in header else ","


def _with_header(
    table: Table, rows: Iterator[tuple[int, list[str]]], kind: str, report: Report
) -> Table | None:
    _, header = next(rows, (1, []))
    table.columns = [column_name(cell) for cell in header]
    table.titles = _titles(header)
    if not _check_header(table, kind, report):
        return None
    blank: list[int] = []
    for number, cells in rows:
        if not cells:
            blank.append(number)
            continue
        _report_blank(table.file, blank, report)
        if len(cells) != len(header):
            report.error(
                f"the row has {len(cells)} cells, the header has {len(header)}",
                Place(table.file, number),
            )
            continue
        row = dict(zip(table.columns, cells, strict=True))
        if not _is_too_long(row, Place(table.file, number), report):
            table.rows.append((number, row))
    if kind == "tsv":
        _warn_of_quotes(table, report)
    return table


def _report_blank(name: str, blank: list[int], report: Report) -> None:
    """Blank rows at the end are no rows; between others they are errors."""
    for number in blank:
        report.error("the row is empty", Place(name, number))
    blank.clear()


def _is_too_long(row: dict[str, Any], place: Place, report: Report) -> bool:
    """Refuse texts that would cost seconds each; whoever sent one lost its line ends."""
    if not any(isinstance(cell, str) and len(cell) > LONGEST_TEXT for cell in row.values()):
        return False
    for column, cell in row.items():
        if isinstance(cell, str) and len(cell) > LONGEST_TEXT:
            report.error(too_long(len(cell)), place._replace(field=column))
    return True


def _titles(names: Iterable[str]) -> dict[str, str]:
    return {column_name(name): name.strip() for name in names}


def too_long(characters: int) -> str:
    """Return the sentence that refuses a text."""
    return (
        f"the text has {characters:,} characters, more than {LONGEST_TEXT:,}. Are its line ends "
        "lost?"
    )


def column_name(name: str) -> str:
    """Return a column name without outer blanks, its fixed part in lower case."""
    name = name.strip()
    head, mark, rest = name.partition(":")
    if mark and head.lower() == "system":
        return f"system:{rest.strip()}"
    if name.lower().startswith("reference_"):
        return f"reference_{name[10:]}"
    return name.lower()


def _check_header(table: Table, kind: str, report: Report) -> bool:
    place = Place(table.file, 1)
    before = len(report.errors)
    if not _fits(table, report):
        return False
    for number, name in enumerate(table.columns, 1):
        if not name:
            report.error(f"column {number} has no name", place)
    for name in sorted(n for n, times in Counter(table.columns).items() if n and times > 1):
        report.error(f"the column “{name}” is there twice", place)
    if len(table.columns) == 1 and re.search(r"[;,\t]", table.columns[0]):
        wanted = "tabs" if kind == "tsv" else "commas"
        report.error(
            f"the header “{table.columns[0][:60]}” is one column: separate cells by {wanted}, "
            f"as the file name's ending says",
            place,
        )
    return len(report.errors) == before


def _fits(table: Table, report: Report) -> bool:
    if len(table.columns) > MOST_COLUMNS:
        report.error(
            f"the table has {len(table.columns):,} columns, and {MOST_COLUMNS:,} is the limit. Put "
            "one output into a row, with the columns segment, system and output",
            Place(table.file, 1),
        )
    return len(table.columns) <= MOST_COLUMNS


def _warn_of_quotes(table: Table, report: Report) -> None:
    quoted = [
        number
        for number, row in table.rows
        if any(
            len(cell) > 1 and cell[0] == cell[-1] == '"' and '""' in cell
            for cell in row.values()
            if not cell.startswith(QUOTED_JSON)
        )
    ]
    if quoted:
        report.warn(
            f"{len(quoted):,} rows have cells in quotation marks with doubled ones inside. TSV "
            "has no quoting here, so all of them are kept as text; save a quoted file as CSV",
            Place(table.file, quoted[0]),
        )


def _as_lines(text: str) -> str:
    """Return an array of JSON objects as one object a line; anything else as it stands."""
    if not text.lstrip().startswith("["):
        return text
    try:
        values = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return text
    is_table = all(isinstance(value, dict) for value in values)
    return "\n".join(map(json.dumps, values)) if values and is_table else text


def _parse_jsonl(name: str, text: str, report: Report) -> Table | None:
    table = Table(name)
    columns: dict[str, None] = {}
    blank: list[int] = []
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip():
            blank.append(number)
            continue
        _report_blank(name, blank, report)
        row = _json_object(line, Place(name, number), report)
        if row is not None and not _is_too_long(row, Place(name, number), report):
            columns |= dict.fromkeys(row)
            table.rows.append((number, row))
            if len(columns) > MOST_COLUMNS:
                break
        elif number == 1 and line.lstrip().startswith("["):
            return None
    table.columns = list(columns)
    table.titles = _titles_of_json(text)
    return table if _fits(table, report) else None


def _titles_of_json(text: str) -> dict[str, str]:
    """The names of the first object as they are written there."""
    try:
        first = json.loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return {}
    return _titles(first) if isinstance(first, dict) else {}


def _json_object(line: str, place: Place, report: Report) -> dict[str, Any] | None:
    try:
        value = json.loads(line, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        report.error(f"this is no JSON: {error.msg} at character {error.colno}", place)
    except (ValueError, RecursionError) as error:
        report.error(f"this JSON cannot be used: {error}", place)
    else:
        if isinstance(value, dict):
            return {key: cell for key, cell in value.items() if cell is not None}
        report.error('one JSON object a line is expected, such as {"source": "…"}', place)
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in pairs:
        name = column_name(key)
        if name in row:
            raise ValueError(f"the field “{name}” is there twice")
        row[name] = value
    return row
