"""Say what the names of sheets with the same columns are: systems, annotators, language pairs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from annotation.uploads.problems import Report
from annotation.uploads.tables.pairs import FIELDS, PAIR, TARGET, pair_of
from annotation.uploads.tables.rows import Table
from core.languages import LanguageError, find
from metaeval.files.names import HUMAN_SCORES, JUDGMENTS, METRIC_SCORES, column_of, is_person
from metaeval.messages import message, truncated

SYSTEM, OUTPUT, ANNOTATOR, SCORE = "system", "output", "annotator", "score"


def with_sheets(table: Table, door: str, report: Report) -> Table:
    """Return a table of several sheets with the field of the column of their names.

    It is one that the table lacks; the column has its name where there is none.
    """
    if not table.sheets:
        return table
    column = table.columns[0]
    name = _field_of(table, door) or column
    text = message(
        "workbook.sheets-joined",
        "The sheets {names} have the same columns and were read as one table, with their names as "
        "the column “{column}”. Choose another field for it if they are something else.",
        names=truncated(table.sheets),
        column=name,
    )
    report.warn(text, table.head)
    titles = {name: column, **{c: t for c, t in table.titles.items() if c != column}}
    own = table.with_columns({c: name if c == column else c for c in table.columns})
    return replace(own, titles=titles)


def _field_of(table: Table, door: str) -> str:
    columns, sheets = table.columns[1:], table.sheets
    if not any(column_of(field, columns) for field in FIELDS) and _are_read(pair_of, sheets):
        return PAIR
    if not any(column_of(field, columns) for field in (PAIR, TARGET)) and _are_read(find, sheets):
        return TARGET
    has = {f for f in (SYSTEM, OUTPUT, ANNOTATOR, SCORE, "metric") if column_of(f, columns)}
    if door == JUDGMENTS and ANNOTATOR not in has:
        if SYSTEM in has or all(map(is_person, sheets)):
            return ANNOTATOR
        return ANNOTATOR if OUTPUT in has and _repeats(table, OUTPUT) else SYSTEM
    if SYSTEM not in has:
        return SYSTEM
    if door == METRIC_SCORES:
        return "" if "metric" in has else "metric"
    return "score_name" if door == HUMAN_SCORES else ""


def _are_read(read: Callable[[str], object], sheets: Sequence[str]) -> bool:
    try:
        return bool([read(sheet) for sheet in sheets])
    except LanguageError:
        return False


def _repeats(table: Table, field: str) -> bool:
    """Return True if the sheets have the same texts: those of annotators do."""
    texts: dict[object, set[object]] = {}
    cells = table.column(column_of(field, table.columns))
    for sheet, text in zip(table.column(table.columns[0]), cells, strict=True):
        texts.setdefault(sheet, set()).add(text)
    first, *others = texts.values()
    return all(2 * len(first & each) > len(each) for each in others)
