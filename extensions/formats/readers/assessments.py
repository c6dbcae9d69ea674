"""Published direct assessments of outputs: MLQE's and MLQE-PE's lists of scores, and COMET's table.

MLQE (`original`, `translation`, `scores`, `mean`, `z_scores`, `z_mean`, `model_scores`) lists the
scores of all annotators in a cell. COMET's table (`lp`, `src`, `mt`, `ref`, `score`, `raw`,
`annotators`, `domain`, `year`) has a mean and its z-score.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from annotation.imports.judgments.wide import NUMBERED
from annotation.uploads.formats.base import JUDGMENTS, Content, Import, tables_of
from annotation.uploads.tables.columns import renamed
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import parse_number

SCORES = "scores"


def has_lists(table: Table) -> bool:
    """Return True if the first cells of `scores` are lists of numbers."""
    first = [row.get(SCORES) for _, row in islice(table.rows, 20)]
    return SCORES in table.columns and bool(first) and all(_scores(cell) for cell in first)


def _scores(cell: Any) -> list[Any]:
    """Return the numbers in a cell; none if it is no list of numbers."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return []
    is_list = isinstance(cell, list) and all(parse_number(each) is not None for each in cell)
    return cell if is_list else []


def read_lists(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield a row for each score as judgments; the annotators of an output are numbered."""
    for table in tables_of(contents):
        if to.door != JUDGMENTS:
            yield table
            continue
        rows = []
        for line, cells in table.rows:
            row = {column: cell for column, cell in cells.items() if column != SCORES}
            given = _scores(cells.get(SCORES)) or [cells.get(SCORES)]
            rows += [(line, row | {"annotator": str(n), "score": score})
                     for n, score in enumerate(given, 1)]  # fmt: skip
        columns = ["annotator", "score", *(c for c in table.columns if c != SCORES)]
        to.report.warn(NUMBERED, table.head)
        yield replace(table, columns=columns, rows=rows, titles={c: c for c in columns})


def read_comet(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield raw means as the scores of judgments: z-scores are on no scale of theirs."""
    for table in tables_of(contents):
        names = {"raw": "score", "score": "z_score"}
        yield renamed(table, names) if to.door == JUDGMENTS else table
