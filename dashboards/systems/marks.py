"""The marks of MT systems: clusters and ranks of the humans, the best system of each metric."""

from collections.abc import Sequence
from dataclasses import replace

from dashboards.systems.columns import Row
from dashboards.systems.document import Systems
from dashboards.trust.marks import forbidden

ONE_CLUSTER = "The systems are not distinguishable: the humans’ scores make one cluster of them."
BOLD = "Bold: the first system of a metric where it is significantly better than the second."
AMONG = (
    "Bold among systems by metrics: the first of a metric where it is significantly better than "
    "the second."
)
LEADING = "Bold in the figure: cluster 1 of the humans."


def marked(document: Systems) -> Systems:
    """Return a document of the analysis `systems` with only the marks that are borne out.

    `is_best` of a metric's row says what is bold; `marks` says in a sentence what is marked, or
    why nothing is.
    """
    human, reason = document.human, forbidden(document.trust)
    if reason:
        return _rebuilt(document, [_bare(row) for row in human], reason, bare=True)
    is_one = len(human) > 1 and len({row.cluster for row in human}) == 1
    if not is_one or human[0].cluster is None:
        is_led = any(row.cluster == 1 for row in human)
        return _rebuilt(document, human, f"{LEADING} {AMONG}" if is_led else AMONG, bare=False)
    shown = [_without_cluster(row) for row in human]
    return _rebuilt(document, shown, f"{ONE_CLUSTER} {AMONG}", bare=False)


def _rebuilt(document: Systems, human: Sequence[Row], sentence: str, *, bare: bool) -> Systems:
    columns = [
        replace(column, rows=_cells(column.rows, document.versus, bare=bare))
        for column in document.columns
    ]
    rows = [*human, *(row for column in columns for row in column.rows)]
    return replace(document, human=human, columns=columns, rows=rows, marks=sentence)


def _cells(rows: Sequence[Row], versus: str, *, bare: bool) -> list[Row]:
    if bare:
        return [_bare(row) for row in rows]
    is_clear = _is_clear(rows, versus)
    return [replace(row, is_best=is_clear and row.rank == 1) for row in rows]


def _is_clear(rows: Sequence[Row], versus: str) -> bool:
    """Whether the first of a metric's systems is significantly better than the second.

    Against the next system below the mark is the first one's, against the best the second one's.
    """
    by_rank = {row.rank: row for row in rows}
    bearer = by_rank.get(1 if versus == "next" else 2)
    return bearer is not None and len(rows) > 1 and bool(bearer.mark)


def _bare(row: Row) -> Row:
    """Without anything that says one system is better than another."""
    return replace(_without_cluster(row), rank=None, wins=None, mark="")


def _without_cluster(row: Row) -> Row:
    return replace(row, cluster=None, first=None, last=None)
