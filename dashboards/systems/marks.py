"""Mark MT systems: clusters and ranks by the humans, and the best system of each metric."""

from collections.abc import Sequence
from dataclasses import replace

from dashboards.systems.columns import Row
from dashboards.systems.document import Systems
from dashboards.trust.marks import forbidden
from metaeval.messages import Message, message

ONE_CLUSTER = message(
    "systems.one-cluster",
    "The systems cannot be distinguished: by the humans’ scores, all are in one cluster.",
)
BOLD = message(
    "systems.bold",
    "Bold in the table of metrics: the best system of a metric, where it is significantly better "
    "than the second.",
)
LEADING = message("systems.bold-in-figure", "In the figure, cluster 1 of the human scores is bold.")


def marked(document: Systems) -> Systems:
    """Return a document of the analysis `systems` with only the marks that are supported.

    `is_best` of a metric's row means bold; `marks` explain the marks, or why there are none.
    """
    human, reason = document.human, forbidden(document.trust)
    if reason:
        return _rebuilt(document, [_bare(row) for row in human], [reason], bare=True)
    is_one = len(human) > 1 and len({row.cluster for row in human}) == 1
    if not is_one or human[0].cluster is None:
        is_led = any(row.cluster == 1 for row in human)
        return _rebuilt(document, human, [LEADING, BOLD] if is_led else [BOLD], bare=False)
    shown = [_without_cluster(row) for row in human]
    return _rebuilt(document, shown, [ONE_CLUSTER, BOLD], bare=False)


def _rebuilt(
    document: Systems, human: Sequence[Row], notes: Sequence[Message], *, bare: bool
) -> Systems:
    columns = [
        replace(column, rows=_cells(column.rows, document.versus, bare=bare))
        for column in document.columns
    ]
    rows = [*human, *(row for column in columns for row in column.rows)]
    return replace(document, human=human, columns=columns, rows=rows, marks=notes)


def _cells(rows: Sequence[Row], versus: str, *, bare: bool) -> list[Row]:
    if bare:
        return [_bare(row) for row in rows]
    is_clear = _is_clear(rows, versus)
    return [replace(row, is_best=is_clear and row.rank == 1) for row in rows]


def _is_clear(rows: Sequence[Row], versus: str) -> bool:
    """Return whether a metric's best system is significantly better than the second.

    The first system has the mark of a comparison with the next one, the second system that of a
    comparison with the best one.
    """
    by_rank = {row.rank: row for row in rows}
    marked_row = by_rank.get(1 if versus == "next" else 2)
    return marked_row is not None and len(rows) > 1 and bool(marked_row.mark)


def _bare(row: Row) -> Row:
    """Return a row without ranks, clusters and marks."""
    return replace(_without_cluster(row), rank=None, wins=None, mark="")


def _without_cluster(row: Row) -> Row:
    return replace(row, cluster=None, first=None, last=None)
