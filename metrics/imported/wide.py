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
from annotation.uploads.tables.rows import Row, Table
from metaeval.files.names import is_called
from metaeval.messages import message, truncated

SIGNS = re.compile(r"[-._@:/ ]+")
# Characters of a title that may have two names.
LONGEST = 300
HOLDERS = ("scores", "metrics", "metric_scores", "results")
# Rows in which a column may show that it has names.
LOOKED_AT = 200
# Column -> its system and its metric; the metric is empty where the system is the whole name.
Named = Mapping[str, tuple[str, str]]


def by_system(
    table: Table, columns: Sequence[str], is_system: Callable[[str], bool], report: Report
) -> Table:
    """Return a table with a row for each system of each row; others are returned unchanged."""
    titles = {column: _bare(table.titles.get(column, column)) for column in columns}
    parts = {column: _split(title, is_system) for column, title in titles.items()}
    named = {c: part for c, part in parts.items() if part and not _has_names(table, c, is_system)}
    if not named:
        return table
    metrics = dict.fromkeys(metric for _, metric in named.values())
    if len(metrics) > 1 and "" in metrics:  # what has no other name is called as the file
        stem = PurePath(table.file).stem
        named = {column: (system, metric or stem) for column, (system, metric) in named.items()}
    systems = list(dict.fromkeys(system for system, _ in named.values()))
    others = [column for column in table.columns if column not in named]
    made = list(dict.fromkeys(metric or SCORE for _, metric in named.values()))
    text = message(
        "scores.column-per-system",
        "The table has columns of systems ({names}). Every score was read as one of its system.",
        names=truncated(systems),
    )
    report.note(text, table.head)
    return replace(
        table,
        columns=[*others, SYSTEM, *made],
        rows=[
            (line, each) for line, row in table.rows for each in _rows(row, others, systems, named)
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


def _rows(row: Row, others: Sequence[str], systems: Sequence[str], named: Named) -> Iterator[Row]:
    common = {column: row[column] for column in others if column in row}
    for system in systems:
        own = {
            metric or SCORE: row[column]
            for column, (name, metric) in named.items()
            if name == system and column in row
        }
        if not all(isinstance(cell, list) for cell in own.values()):
            yield common | {SYSTEM: system} | own
            continue
        for n in range(max(map(len, own.values()), default=0)):
            scores = {name: cells[n] for name, cells in own.items() if n < len(cells)}
            yield common | {SYSTEM: system} | scores
