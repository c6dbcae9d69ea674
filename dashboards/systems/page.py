"""Show the MT systems of a campaign."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.charts.dots import narrow
from dashboards.pages.page import Page
from dashboards.results.document import Mark
from dashboards.systems.columns import AgreementGroup, Row, by_name
from dashboards.systems.document import Systems
from dashboards.systems.figures import FIGURES, cluster_note
from dashboards.systems.figures import HUMAN as HUMAN_LABEL
from dashboards.systems.outside import HUMAN
from dashboards.systems.tables import tables
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


# The most systems that fit the width of a page.
ACROSS = 10


def choose_marks(document: Systems, query: QueryDict) -> Systems:
    """Remove clusters, ranks and marks that the verdict does not support."""
    return marked(document)


def context(request: HttpRequest, campaign: Campaign, document: Systems) -> dict[str, Any]:
    """Return systems by their humans, and tables of measures with the systems as columns."""
    measures = sorted(document.columns, key=lambda each: 2.0 if each.tau is None else -each.tau)
    rows = [(column, by_name(column.rows)) for column in measures]
    # A number that all share is in the basis.
    spans = {each for column in document.columns for each in (column.span, column.compared_span)}
    return {
        "parts": [
            {"systems": names, "lines": [(c, [found.get(n) for n in names]) for c, found in rows]}
            for names in _across(document.systems)
        ],
        "compared": [
            {
                "labels": group.labels,
                "parts": [_compared(group, names) for names in _across(document.systems)],
            }
            for group in document.agreement
            if not group.is_shown
        ],
        "standings": _standings(document),
        "pairs": _pairs(document),
        "outside": _outside(document, document.outside),
        "beside": _outside(document, document.excluded),
        "shows_spans": len(spans) > 1,
    }


def _outside(document: Systems, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return tables with humans and measures as rows, and excluded systems as columns."""
    labels: dict[str, Any] = {column.key: column for column in document.columns}
    labels[HUMAN] = {"label": HUMAN_LABEL}
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row.measure, {})[row.system] = row
    names = list(dict.fromkeys(row.system for row in rows))
    return [
        {
            "systems": part,
            "lines": [(labels[key], [own.get(n) for n in part]) for key, own in found.items()],
        }
        for part in (_across(names) if names else [])
    ]


def lines(document: Systems) -> list[Row]:
    """Return the rows of humans and measures, with systems not judged or excluded."""
    return [*document.rows, *document.outside, *document.excluded]


def _standings(document: Systems) -> dict[str, Any]:
    """Return systems by their humans as dots."""
    found, dots = narrow([Mark(row.score) for row in document.human])
    lines = [
        {
            "name": row.system,
            "is_lead": row.cluster == 1,
            "dot": each,
            "note": cluster_note(row),
        }
        for row, each in zip(document.human, dots, strict=True)
    ]
    return {"axis": found, "lines": lines}


def _across(names: Sequence[str]) -> list[Sequence[str]]:
    """Split names into parts that fit the width of a page."""
    return [names[start : start + ACROSS] for start in range(0, len(names), ACROSS)]


def _compared(group: AgreementGroup, names: Sequence[str]) -> dict[str, Any]:
    """Return the humans' and the measures' scores of some systems."""
    by_system = {line.system: line for line in group.lines}
    lines = [by_system.get(name) for name in names]
    scores = [
        (label, [line and line.scores[place] for line in lines])
        for place, label in enumerate(group.labels)
    ]
    return {"systems": names, "lines": lines, "scores": scores}


def _pairs(document: Systems) -> list[dict[str, Any]]:
    """Return all comparisons of two systems on a measure; empty where all segments are shared."""
    if all(column.is_even for column in document.columns):
        return []
    is_next = document.versus == "next"
    return [
        {"row": row, "label": column.label, "other": rows[place + 1 if is_next else 0].system}
        for column in document.columns
        for rows in [column.rows]
        for place, row in enumerate(rows)
        if (place < len(rows) - 1 if is_next else place)
    ]


SYSTEMS = Page(
    name="systems",
    title=message("page.systems", "MT systems"),
    kind="systems",
    figures=FIGURES,
    template="dashboards/systems.html",
    columns=(
        "measure", "system", "score", "rank", "cluster", "first", "last", "wins", "p", "mark", "n",
        "shared", "difference", "is_judged", "above", "against",
    ),
    rows=lines,
    context=context,
    choose=choose_marks,
    tables=tables,
)  # fmt: skip
