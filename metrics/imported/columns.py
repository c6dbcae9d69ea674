"""Find the columns of a table that hold scores, and explain why others do not."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isnan
from typing import Any

from annotation.imports.judgments.fields import TEXT_FIELDS
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import Wanted, is_called, say_unused
from annotation.uploads.tables.numbers import has_decimal_comma
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import read_score
from metaeval.messages import Message, message, truncated
from metrics.imported.collecting import Collector

# Cells that decide whether a column holds numbers.
LOOKED_AT = 200


def plainly(
    chosen: Mapping[str, str], titles: Mapping[str, str], fields: Sequence[Wanted], report: Report
) -> dict[str, str]:
    """Return the person's fields of columns by plain names; columns that no file has are errors.

    `titles` are the columns of all files by plain name, as the files write them.
    """
    by_title = {title: name for name, title in titles.items()}
    known = {field.name for field in fields} | {""}
    found = {}
    for column, meaning in chosen.items():
        name = by_title.get(column, column.lower())
        if name not in titles:
            report.error(
                message(
                    "scores.no-such-column",
                    "No table has a column “{column}”. The columns are {columns}.",
                    column=column,
                    columns=truncated(list(by_title), 20),
                )
            )
        elif meaning not in known:
            refusal = message(
                "scores.no-such-field",
                "“{field}” is not a field. Use {fields}.",
                field=meaning,
                fields=[field.name for field in fields],
            )
            report.error(refusal, Place(field=column))
        else:
            found[name] = meaning
    return found


def columns_of_metrics(
    free: Sequence[str], titles: dict[str, str], table: Table, collector: Collector
) -> dict[str, str]:
    """Return the columns of numbers with their titles; report the other columns as unused."""
    found = [column for column in free if _is_numeric(table, column)]
    rest = [column for column in free if column not in found]
    unclear = _unclear(table, rest, is_only=not found)
    unused = [column for column in rest if column not in unclear]
    say_unused(table, {c for c in table.columns if c not in unused}, collector.report)
    for column in unclear:
        add = collector.report.warn if found else collector.error
        add(*_no_scores(table, column, titles.get(column, column)))
    if not found and not unclear:
        collector.error(
            message(
                "scores.no-score-column",
                "No column has scores. Add a column “score”, or a column for each metric.",
            ),
            table.head,
        )
    return {column: titles.get(column, column) for column in found}


def _filled(table: Table, column: str) -> Iterator[tuple[int, Any]]:
    """The cells of a column that are not blank, with their lines."""
    cells = ((line, row.get(column)) for line, row in table.rows)
    return ((line, cell) for line, cell in cells if cell is not None and str(cell).strip())


def _is_numeric(table: Table, column: str) -> bool:
    """Whether most of the first cells are numbers."""
    looked = [read_score(cell) is not None for _, cell in islice(_filled(table, column), LOOKED_AT)]
    return 2 * sum(looked) > len(looked)


def _unclear(table: Table, columns: Sequence[str], *, is_only: bool) -> list[str]:
    """Columns that may be meant as scores: some cells are numbers, or there is nothing else.

    Columns of texts are excluded, because a text may be a number.
    """
    others = [c for c in columns if not any(is_called(c, field) for field in TEXT_FIELDS)]
    mixed = [c for c in others if any(_holds_number(cell) for _, cell in _filled(table, c))]
    return mixed if mixed or not is_only else [c for c in others if any(_filled(table, c))]


def _holds_number(cell: Any) -> bool:
    value = read_score(cell)
    return has_decimal_comma(cell) or (value is not None and not isnan(value))


def _no_scores(table: Table, column: str, title: str) -> tuple[Message, Place]:
    """Explain why a column was not read as scores, at the first cell without a number."""
    line, cell = next(each for each in _filled(table, column) if read_score(each[1]) is None)
    text = message(
        "scores.column-not-numeric",
        "The column “{column}” was not read as scores: “{text}” is not a number, nor are at least "
        "half of the first cells. Leave cells without a score empty, and use decimal points.",
        column=title,
        text=str(cell).strip()[:40],
    )
    return text, Place(table.file, line, title)
