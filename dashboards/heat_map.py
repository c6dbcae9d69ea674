"""Significance between metrics: a heat map of all pairs."""

from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from annotation.templatetags.numbers import pvalue
from dashboards import choices, latex, statistics
from dashboards.analyses.significance import DEFAULT
from dashboards.charts.significance import step
from dashboards.pages import Page
from dashboards.questions import question_form

Document = dict[str, Any]

COLUMNS = (
    "campaign",
    "statistic",
    "grouping",
    "test",
    "correction",
    "scope",
    "metric",
    "label",
    "other",
    "other_label",
    "difference",
    "low",
    "high",
    "pvalue",
    "adjusted",
    "is_significant",
)


def ask(query: QueryDict) -> str:
    """The statistic, grouping and test of an address."""
    return statistics.from_query(query, DEFAULT).key


def choose(document: Document, query: QueryDict) -> Document:
    """Keep the metrics of the address, best first, and correct for many tests."""
    correction = choices.one_of(query, "correction", list(choices.CORRECTIONS))
    scope = choices.one_of(query, "scope", list(choices.SCOPES))
    found = choices.by_value(choices.subset(document, query))
    adjusted, notes = choices.adjusted(found, correction, scope)
    said = {name: document[name] for name in ("campaign", "statistic", "grouping", "test")}
    said |= {"correction": correction, "scope": scope}
    rows = [
        said | _pair(found, adjusted, i, j)
        for i in range(len(found["metrics"]))
        for j in range(len(found["metrics"]))
        if i != j
    ]
    ranks = choices.ranks(found)
    label = choices.CORRECTIONS[correction]
    return found | {
        "correction": correction,
        "scope": scope,
        "correction_label": label
        if correction == "none"
        else f"{label}, family: {choices.SCOPES[scope]}",
        "metrics": [m | {"rank": ranks.get(m["key"])} for m in found["metrics"]],
        "n_significant": sum(row["is_significant"] for row in rows),
        "warnings": [*document["comparison_warnings"], *notes],
        "rows": rows,
    }


def _pair(document: Document, adjusted: list[list[float | None]], i: int, j: int) -> Document:
    row, column = document["metrics"][i], document["metrics"][j]
    corrected = adjusted[i][j]
    return {
        "metric": row["key"],
        "label": row["label"],
        "other": column["key"],
        "other_label": column["label"],
        "difference": document["differences"][i][j],
        "low": document["difference_lows"][i][j],
        "high": document["difference_highs"][i][j],
        "pvalue": document["pvalues"][i][j],
        "adjusted": corrected,
        "is_significant": corrected is not None and corrected <= choices.ALPHA,
    }


def context(request: HttpRequest, campaign: Campaign, document: Document) -> dict[str, Any]:
    """The form, the grid of cells, and what the page says of a cell under the pointer."""
    size = len(document["metrics"])
    pairs = iter(document["rows"])
    grid = [
        metric | {"cells": [None if i == j else _cell(next(pairs)) for j in range(size)]}
        for i, metric in enumerate(document["metrics"])
    ]
    names = ("difference", "low", "high", "pvalue", "adjusted")
    return {
        "form": question_form(request.GET, DEFAULT, document["all_metrics"]),
        "grid": grid,
        "details": [[_short(row[name]) for name in names] for row in document["rows"]],
    }


def _cell(row: Document) -> Document:
    if row["pvalue"] is None:
        return {"text": "–", "classes": ""}
    outline = " outlined" if row["is_significant"] else ""
    return {"text": pvalue(row["pvalue"]), "classes": f"s{step(row['pvalue'])}{outline}"}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def tables(document: Document) -> list[latex.Table]:
    """The heat map as a table of p, bold where significant after the correction."""
    labels = [metric["label"] for metric in document["metrics"]]
    pairs = iter(document["rows"])
    body = []
    for i, label in enumerate(labels):
        cells = [latex.Cell(f"{i + 1} {label}")]
        for j in range(len(labels)):
            row = None if i == j else next(pairs)
            cells.append(_latex_cell(row))
        body.append(cells)
    caption = (
        f"One-sided p that the metric of the row agrees better with the humans than that of the "
        f"column: {document['statistic_label']}, {document['name']}; {document['test_label']}. "
        f"Bold: significant at .05 after correction ({document['correction_label']})."
    )
    head = latex.texts("", *range(1, len(labels) + 1))
    columns = "l" + "r" * len(labels)
    return [latex.Table(caption, f"{document['campaign']}-significance", columns, [head], body)]


def _latex_cell(row: Document | None) -> latex.Cell:
    if row is None or row["pvalue"] is None:
        return latex.Cell("" if row is None else "–")
    return latex.Cell(pvalue(row["pvalue"]), row["is_significant"])


SIGNIFICANCE = Page(
    name="significance",
    title="Significance",
    kind="significance",
    template="dashboards/significance.html",
    columns=COLUMNS,
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
)
