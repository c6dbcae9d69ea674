"""Tables whose columns are called by systems, as rows that name the system.

A column is called as a system, `DeepL`, or by a system and a metric, `comet.DeepL`. A list in a
cell has the scores of a system's segments in order, as in JSON by metric and system.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from annotation.uploads.formats.scores import SCORE, SYSTEM
from annotation.uploads.problems import Report
from annotation.uploads.tables.columns import refuse_same
from annotation.uploads.tables.rows import Row, Table
from metaeval.files.cells import SplitLine, too_many_cells
from metaeval.files.names import is_called
from metaeval.messages import message, truncated

SIGNS = re.compile(r"[-._@:/ ]+")
# Characters of a title that may have two names.
LONGEST = 300
HOLDERS = ("scores", "metrics", "metric_scores", "results")
# Rows in which a column may show that it has names.
LOOKED_AT = 200


def by_system(
    table: Table, columns: Sequence[str], is_system: Callable[[str], bool], report: Report
) -> Table | None:
    """Return a table with a row for each system of each row; others are returned unchanged.

    None, with the reason reported, where two columns have the same scores, or the rows would have
    too many cells.
    """
    titles = {column: _bare(table.titles.get(column, column)) for column in columns}
    parts = {column: _split(title, is_system) for column, title in titles.items()}
    named = {c: part for c, part in parts.items() if part and not _has_names(table, c, is_system)}
    if not named:
        return table
    metrics = dict.fromkeys(metric for _, metric in named.values())
    if len(metrics) > 1 and "" in metrics:  # what has no other name is called as the file
        stem = PurePath(table.file).stem
        named = {column: (system, metric or stem) for column, (system, metric) in named.items()}
    systems: dict[str, dict[str, str]] = {}
    for column, (system, metric) in named.items():
        first = systems.setdefault(system, {}).setdefault(metric or SCORE, column)
        if first != column:
            refuse_same(table, first, column, f"{system} {metric}".strip(), report)
            return None
    others = [column for column in table.columns if column not in named]
    made = list(dict.fromkeys(metric or SCORE for _, metric in named.values()))
    n_rows = table.n_unfolded(own.values() for own in systems.values())
    if refusal := too_many_cells(n_rows * (len(others) + 1 + len(made))):
        report.error(refusal, table.head)
        return None
    places = {name: {SYSTEM: next(iter(own.values())), **own} for name, own in systems.items()}
    text = message(
        "scores.column-per-system",
        "The table has columns of systems ({names}). Every score was read as one of its system.",
        names=truncated(list(systems)),
    )
    report.note(text, table.head)
    return replace(
        table,
        columns=[*others, SYSTEM, *made],
        rows=[
            (SplitLine(line, places[each[SYSTEM]]), each)
            for line, row in table.rows
            for each in _rows(row, others, systems)
        ],
        titles={each: table.titles.get(each, each) for each in (*others, SYSTEM, *made)},
    )


def _bare(title: str) -> str:
    """Return a title without the object that holds all scores, as in `scores.DeepL.comet`."""
    head, _, rest = title.partition(".")
    return rest if rest and is_called(head, HOLDERS) else title


def _has_names(table: Table, column: str, is_system: Callable[[str], bool]) -> bool:
    """Return whether cells name systems: then the first row is data, and names no columns."""
    return any(_split(str(cell), is_system) for cell in table.column(column)[:LOOKED_AT])


def _split(title: str, is_system: Callable[[str], bool]) -> tuple[str, str] | None:
    """Return the system and the metric of a title; the longest system counts."""
    if is_system(title):
        return title, ""
    if len(title) > LONGEST:
        return None
    signs = list(SIGNS.finditer(title))
    found = [(title[: sign.start()], title[sign.end() :]) for sign in signs]
    found += [(title[sign.end() :], title[: sign.start()]) for sign in signs]
    known = [(system, metric) for system, metric in found if metric and is_system(system)]
    return max(known, key=lambda part: len(part[0]), default=None)


def _rows(
    row: Row, others: Sequence[str], systems: Mapping[str, Mapping[str, str]]
) -> Iterator[Row]:
    common = {column: row[column] for column in others if column in row}
    for system, columns in systems.items():
        own = {metric: row[column] for metric, column in columns.items() if column in row}
        if not all(isinstance(cell, list) for cell in own.values()):
            yield common | {SYSTEM: system} | own
            continue
        for n in range(max(map(len, own.values()), default=0)):
            scores = {name: cells[n] for name, cells in own.items() if n < len(cells)}
            yield common | {SYSTEM: system} | scores
