"""Show significance between metrics: a heat map of all pairs, or one metric against all others.

Each pair is shown once, with the better metric as its row, so the table is half a square. Up to
`MANY` metrics it fits the page. With more metrics there is a picture (one letter per cell), the
table of one metric, and a link to the table of all pairs. Details of a cell besides its step are
loaded by row from the data (`row=`) when the pointer is on it.
"""

from dataclasses import fields
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from core.numbers import bare
from core.numbers import p_value_cell as pvalue
from dashboards.comparisons import statistics
from dashboards.comparisons.document import DEFAULT, Floored, Pair, Ranked, Shown
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.significance.pairs import FIGURES, LABELS, choose
from metaeval.messages import Message, message
from metaeval.replication.bounds import ABOVE

# A table of more metrics is wider than the page.
MANY = 30
# With at most this number of metrics, numbers fit a phone.
FEW = 7


def ask(query: QueryDict) -> str:
    """Return the key of the statistic, grouping and test of an address."""
    return statistics.from_query(query, DEFAULT).key


def context(request: HttpRequest, campaign: Campaign, document: Shown) -> dict[str, Any]:
    """Return the form, and all pairs as a table or picture, or one metric's pairs."""
    metrics, query = document.metrics, request.GET
    is_table = query.get("pairs") == "table" or len(metrics) <= MANY
    # Parameters that the form keeps.
    others = [(name, value) for name in query for value in query.getlist(name) if name != "row"]
    return {
        "shows_table": is_table and not document.row,
        "grid": grid(document) if is_table and not document.row else [],
        "is_few": len(metrics) <= FEW,
        "one": document.rows if document.row else [],
        "one_label": document.rows[0].label if document.row else "",
        "others": others,
        "all_pairs": _with(query, row="", pairs="table"),
        "overview": _with(query, row="", pairs=""),
        "is_many": len(metrics) > MANY,
        "is_undefined": bool(metrics) and all(each.value is None for each in metrics),
        "step_labels": LABELS,
    }


def _with(query: QueryDict, **changed: str) -> str:
    changing = query.copy()
    for name, value in changed.items():
        changing.pop(name, None)
        if value:
            changing[name] = value
    return f"?{changing.urlencode()}"


def grid(document: Shown) -> list[tuple[Ranked, list[tuple[str, str]]]]:
    """Return every metric with text and step of its pairs with the metrics below it."""
    size = len(document.metrics)
    rows = [document.rows[i * (size - 1) : (i + 1) * (size - 1)] for i in range(size)]
    return [
        (
            metric,
            [
                (short_p(row.pvalue, has_stars=not document.refused), step)
                for row, step in zip(own[i:], steps[i + 1 :], strict=True)
            ],
        )
        for i, (metric, own, steps) in enumerate(
            zip(document.metrics, rows, document.steps, strict=True)
        )
    ]


def short_p(value: float | None, *, has_stars: bool = True) -> str:
    """Return a p-value for a cell of a heat map; without stars where nothing may be marked."""
    if value is None or value >= 0.01:
        return bare(value)
    if value < 0.001:
        return "***" if has_stars else "< .001"
    return "**" if has_stars else "< .01"


def tables(document: Shown) -> list[latex.Table]:
    """Return the heat map as a table of p, bold where significant after the correction."""
    first = _row_table(document) if document.row else _pairs_table(document)
    return [first, _floor_table(document)] if document.bounds else [first]


def _floor_table(document: Shown) -> latex.Table:
    """Return a table of every metric against the baselines, with the baselines' values below."""
    body = [
        [
            latex.Cell(each.label),
            latex.number(each.value),
            latex.Cell(pvalue(each.above)),
            latex.Cell(pvalue(each.below)),
            latex.Cell(each.state or "–"),
        ]
        for each in document.floors
    ]
    floors = document.bounds.floors if document.bounds else ()
    blank = [latex.Cell("–")] * 3
    body += [[latex.Cell(each.label), latex.number(each.value), *blank] for each in floors]
    caption: list[Message | str | None] = [
        f"Metrics against baselines: {document.statistic_label}, {document.name}.",
        *document.baseline_marks,
    ]
    head = latex.texts("Metric", "Value", "p, above every baseline", "p, below a baseline", "State")
    return latex.Table(caption, f"{document.campaign}-floor", "lrrrl", [head], body)


def lines(document: Shown) -> list[Pair]:
    """Return all pairs; with the rows of baselines also every metric against the baselines."""
    return [*document.rows, *(_against(document, each) for each in document.floors)
            ] if document.bounds else list(document.rows)  # fmt: skip


def _against(document: Shown, metric: Floored) -> Pair:
    """Return a metric against the best baseline as a pair, with the corrected p only."""
    return Pair(
        document.campaign, document.statistic, document.grouping, document.test, "holm", "floor",
        metric.key, metric.label, "floor", "Best baseline", None, None, None, None,
        metric.above, metric.state == ABOVE if metric.state else None,
    )  # fmt: skip


def _row_table(document: Shown) -> latex.Table:
    """Return the table of one metric against all others."""
    rows = document.rows
    body = [
        [
            latex.Cell(row.other_label),
            latex.estimate(row.difference, row.low, row.high),
            _latex_cell(row),
            latex.Cell(pvalue(row.adjusted)),
        ]
        for row in rows
    ]
    label = rows[0].label if rows else ""
    caption: list[Message | str | None] = [
        f"{label} against all other metrics: {_about(document)}",
        *_bold(document),
    ]
    head = latex.texts("Against", "Difference", "p", "p, corrected")
    return latex.Table(caption, f"{document.campaign}-significance", "lrrr", [head], body)


def _about(document: Shown) -> str:
    tested = f"; {document.test_label}" if document.test_label else ""
    return f"{document.statistic_label}, {document.name}{tested}."


def _bold(document: Shown) -> list[Message]:
    if document.refused:
        return [document.refused]
    return [
        message(
            "significance.bold",
            "Bold: significant at .05 after correction ({correction}), with an interval that "
            "excludes zero.",
            correction=document.correction_label,
        )
    ]


def _pairs_table(document: Shown) -> latex.Table:
    labels = [metric.label for metric in document.metrics]
    pairs = iter(document.rows)
    body = [
        [
            latex.Cell(f"{i + 1} {label}"),
            *(latex.Cell("") if i == j else _latex_cell(next(pairs)) for j in range(len(labels))),
        ]
        for i, label in enumerate(labels)
    ]
    caption: list[Message | str | None] = [
        "One-sided p that the row’s metric agrees better with the humans than the column’s metric: "
        f"{_about(document)}",
        *_bold(document),
    ]
    head = latex.texts("", *range(1, len(labels) + 1))
    columns = "l" + "r" * len(labels)
    return latex.Table(caption, f"{document.campaign}-significance", columns, [head], body)


def _latex_cell(row: Pair) -> latex.Cell:
    if row.pvalue is None:
        return latex.Cell("–")
    return latex.Cell(pvalue(row.pvalue), bool(row.is_significant))


SIGNIFICANCE = Page(
    name="significance",
    title=message("page.significance", "Significance"),
    kind="significance",
    figures=FIGURES,
    template="dashboards/significance.html",
    columns=[column.name for column in fields(Pair)],
    rows=lines,
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
    takes=("statistic", "grouping", "test", "correction", "scope", "row", "bounds"),
    repeated=("metric",),
    on_page=("pairs",),
)
