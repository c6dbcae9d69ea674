"""Convert tables with a column per system or annotator to one row per judgment.

`score_A` and `score_B` are scores of systems, `rater1` and `rater2` those of annotators, and so are
`rating_1` and `rating_2` of tables that name their systems (SimpEval), and what objects such as
`ratings` have by the names of annotators. WMT's humeval files (2025) have the outputs and the
scores of every system in objects, by its name.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from annotation.uploads.formats.assessments import NUMBERED
from annotation.uploads.problems import Report
from annotation.uploads.tables.cells import has_decimal_comma
from annotation.uploads.tables.likert import are_levels
from annotation.uploads.tables.pairs import document_of, languages_of
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import read_score
from metaeval.files.names import NAMES, column_of, is_called, is_field, is_person, number_of
from metaeval.messages import message, truncated

SCORE, OUTPUT, SPANS = "score", "output", "spans"
# `score_A`: what stands before the name of a system.
OF_SYSTEM = re.compile(r"(?P<field>score|rating|da|esa)[_ .:-]+(?P<name>.+)", re.IGNORECASE)
# Objects with the answers of people by their names.
RATINGS = ("ratings", "scores", "judgments", "judgements", "evaluations", "assessments")
# `rating_1`: the scores of people who have numbers alone.
OF_NUMBERED = ("score", "rating", *NAMES["score"])
Row = dict[str, Any]


def unfold(table: Table, report: Report) -> Table:
    """Return a table with a row for each judgment; others stay as they are."""
    by_name = _of_systems(table)
    if len(by_name) > 1 or any(OUTPUT in columns for columns in by_name.values()):
        return unfolded(table, "system", by_name, report)
    people = _of_people(table)
    if len(people) > 1 or any(column.partition(".")[2] for column in _columns(people)):
        return unfolded(table, "annotator", people, report)
    return table


def _of_systems(table: Table) -> dict[str, dict[str, str]]:
    """Return, by system, the column of its output, score and spans."""
    if column_of("system", table.columns):
        return {}
    found: dict[str, dict[str, str]] = {}
    for column in table.columns:
        title = table.titles.get(column, column)
        head, _, rest = title.partition(".")
        name, _, last = rest.rpartition(".")
        if rest and is_called(head, (OUTPUT, *NAMES[OUTPUT])):
            found.setdefault(rest, {})[OUTPUT] = column
        elif rest and is_called(head, ("score", "scores")):
            field = SPANS if is_called(last, (SPANS, *NAMES[SPANS])) else SCORE
            found.setdefault(name or rest, {})[field] = column
        elif (match := OF_SYSTEM.fullmatch(title)) and is_numeric(table, column):
            found.setdefault(match["name"], {})[SCORE] = column
    by_name = {n: columns for n, columns in found.items() if {SCORE, SPANS} & set(columns)}
    return {} if by_name and all(map(is_person, by_name)) else by_name


def _of_people(table: Table) -> dict[str, dict[str, str]]:
    """Return, by annotator, the columns that are called as such, or are in an object by name."""
    if any(column_of(field, table.columns) for field in ("annotator", "score")):
        return {}
    found: dict[str, dict[str, str]] = {}
    for column in table.columns:
        title = table.titles.get(column, column)
        head, _, who = title.partition(".")
        if who and is_called(head, RATINGS):
            name, _, last = who.rpartition(".")
            field = last if name and is_field(last) else SCORE
            found.setdefault(name if field is last else who, {})[field] = column
            continue
        number = number_of(title, OF_NUMBERED)
        if not is_numeric(table, column):
            continue
        if is_person(title):
            found[title] = {SCORE: column}
        elif number.isdecimal():
            found[number] = {SCORE: column}
    return found


def _columns(by_name: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {column for columns in by_name.values() for column in columns.values()}


def is_numeric(table: Table, column: str) -> bool:
    """Return True for a column of numbers, or of words of a known scale, and missing scores."""
    cells = table.column(column)
    are_numbers = all(read_score(cell) is not None or has_decimal_comma(cell) for cell in cells)
    return are_numbers or are_levels(cells)


def unfolded(
    table: Table, field: str, by_name: Mapping[str, Mapping[str, str]], report: Report
) -> Table:
    """Return a table with a row for each system or annotator (`field`) and its columns by field."""
    used = _columns(by_name)
    others = [column for column in table.columns if column not in used]
    rows = []
    for line, row in table.rows:
        common = _with_ids({column: row[column] for column in others if column in row})
        for name, columns in by_name.items():
            given = {made: row.get(column) for made, column in columns.items()}
            own = {made: cell for made, cell in given.items() if cell not in (None, "", [])}
            rows += [(line, common | {field: name} | each) for each in _each_score(own)]
    fields = dict.fromkeys(made for _, row in rows for made in row)
    text = (
        message(
            "judgments.column-per-system",
            "The table has a column for each system ({names}). Every score was read separately.",
            names=truncated(list(by_name)),
        )
        if field == "system"
        else message(
            "judgments.column-per-annotator",
            "The table has a column for each annotator ({names}). Every score was read separately.",
            names=truncated(list(by_name)),
        )
    )
    report.note(text, table.head)
    is_numbered = all(name.isdecimal() for name in by_name)
    if any("annotator" in row for _, row in rows) and (field == "system" or is_numbered):
        report.warn(NUMBERED, table.head)
    titles = {each: table.titles.get(each, each) for each in fields}
    return replace(table, columns=list(fields), rows=rows, titles=titles)


def _each_score(row: Row) -> Iterable[Row]:
    """Yield a row for each of several scores; who gave them has a number."""
    scores = row.get(SCORE)
    if not isinstance(scores, list):
        return [row | ({"annotator": "1"} if OUTPUT in row else {})]
    return [row | {SCORE: score, "annotator": str(n)} for n, score in enumerate(scores, 1)]


def _with_ids(row: Row) -> Row:
    """Add what WMT's ids say: languages and document; the id itself names the segment."""
    key = row.get(column_of("document", row))
    if not isinstance(key, str) or not languages_of(key):
        return row
    return {
        **{column: cell for column, cell in row.items() if column != column_of("document", row)},
        "segment": key,
        "document": document_of(key),
        "language_pair": "-".join(languages_of(key)),
    }
