"""Significance between metrics: a heat map of all pairs, or of one metric against all others.

A pair stands once, the better metric as its row: the table is half a square. Up to `MANY` metrics
it fits the page; above, a picture of one letter a cell, the table of one metric, and a link to the
table of all pairs. What a cell says besides its step comes row by row from the data (`row=`), when
somebody points at it.
"""

import math
from dataclasses import fields
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from annotation.templatetags.numbers import NOTHING, pvalue
from dashboards.comparisons import statistics
from dashboards.comparisons.document import DEFAULT, Floored, Pair, Ranked, Shown
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.significance.figures import FIGURES, LABELS
from dashboards.significance.pairs import choose
from metaeval.replication.bounds import ABOVE

# More metrics than these are not as wide as the page.
MANY = 30
# So few have room for their numbers on a phone.
FEW = 7


def ask(query: QueryDict) -> str:
    """The statistic, grouping and test of an address."""
    return statistics.from_query(query, DEFAULT).key


def context(request: HttpRequest, campaign: Campaign, document: Shown) -> dict[str, Any]:
    """The form, and the pairs as table or picture; one metric's where the address names it."""
    metrics, query = document.metrics, request.GET
    is_table = query.get("pairs") == "table" or len(metrics) <= MANY
    # What the form of all pairs keeps of the address, and that of one metric.
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
    """Every metric with text and step of its pairs with those below it in the order of values."""
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
    """A p-value as narrow cells have it; without stars where nothing may be marked."""
    if value is None or math.isnan(value):
        return NOTHING
    if value < 0.001:
        return "***" if has_stars else "<.001"
    if value < 0.01:
        return "**" if has_stars else "<.01"
    return f"{value:.2f}".removeprefix("0")


def tables(document: Shown) -> list[latex.Table]:
    """The heat map as a table of p, bold where significant after the correction."""
    first = _row_table(document) if document.row else _pairs_table(document)
    return [first, _floor_table(document)] if document.bounds else [first]


def _floor_table(document: Shown) -> latex.Table:
    """Every metric against the floor, with the floors' own values below."""
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
    caption = (
        f"Metrics against metrics that know nothing: {document.statistic_label}, {document.name}. "
        f"{document.floor_marks}"
    )
    head = latex.texts("Metric", "Value", "p, above every floor", "p, below a floor", "State")
    return latex.Table(caption, f"{document.campaign}-floor", "lrrrl", [head], body)


def lines(document: Shown) -> list[Pair]:
    """All pairs; with the rows of floor and ceiling also every metric against the floor."""
    return [*document.rows, *(_against(document, each) for each in document.floors)
            ] if document.bounds else list(document.rows)  # fmt: skip


def _against(document: Shown, metric: Floored) -> Pair:
    """A metric against the best floor as a pair: the corrected p alone is of all floors."""
    return Pair(
        document.campaign, document.statistic, document.grouping, document.test, "holm", "floor",
        metric.key, metric.label, "floor", "Floor: the best of all", None, None, None, None,
        metric.above, metric.state == ABOVE if metric.state else None,
    )  # fmt: skip


def _row_table(document: Shown) -> latex.Table:
    """One metric against all others."""
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
    caption = f"{label} against all other metrics: {_about(document)}"
    head = latex.texts("Against", "Difference", "p", "p, corrected")
    return latex.Table(caption, f"{document.campaign}-significance", "lrrr", [head], body)


def _about(document: Shown) -> str:
    bold = (
        f"Bold: significant at .05 after correction ({document.correction_label}), with an "
        "interval that leaves 0 out."
    )
    return (
        f"{document.statistic_label}, {document.name}; {document.test_label}. "
        f"{document.refused or bold}"
    )


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
    caption = (
        "One-sided p that the metric of the row agrees better with the humans than that of the "
        f"column: {_about(document)}"
    )
    head = latex.texts("", *range(1, len(labels) + 1))
    columns = "l" + "r" * len(labels)
    return latex.Table(caption, f"{document.campaign}-significance", columns, [head], body)


def _latex_cell(row: Pair) -> latex.Cell:
    if row.pvalue is None:
        return latex.Cell("–")
    return latex.Cell(pvalue(row.pvalue), bool(row.is_significant))


SIGNIFICANCE = Page(
    name="significance",
    title="Significance",
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
