"""Significance between metrics: a heat map of all pairs, or of one metric against all others.

A page has 100 KiB. Up to `MANY` metrics it holds a table of p; above, a picture of one letter a
cell, the table of one metric, and a link to the table of all pairs. What a cell says besides its
step comes row by row from the data (`row=`), when somebody points at it.
"""

from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.filters import FilterError
from annotation.models import Campaign
from annotation.templatetags.numbers import pvalue
from dashboards.charts.significance import LABELS, step
from dashboards.pages import selection, statistics
from dashboards.pages.page import Page
from dashboards.pages.question_form import question_form
from dashboards.papers import latex
from dashboards.significance.document import DEFAULT
from dashboards.trust import marks

Document = dict[str, Any]
# More metrics than these are not a table that somebody reads.
MANY = 40
# The steps of p, smallest first, of cells that are significant after the correction.
SIGNIFICANT = "abcde"

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
    """Keep the metrics of the address, best first, and correct for many tests.

    With `row` the rows are those of one metric against all others.
    """
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    scope = selection.one_of(query, "scope", list(selection.SCOPES))
    found = selection.by_value(selection.subset(document, query))
    adjusted, notes = selection.adjusted(found, correction, scope)
    refused = marks.refusal(document.get("trust"), document)
    said = {name: document[name] for name in ("campaign", "statistic", "grouping", "test")}
    said |= {"correction": correction, "scope": scope}
    size = len(found["metrics"])
    wanted = _row_of(found, query)
    rows = [
        said | _pair(found, adjusted, i, j, is_marked=not refused)
        for i in (range(size) if wanted is None else [wanted])
        for j in range(size)
        if i != j
    ]
    steps = [
        "".join(_letter(found, adjusted, i, j, is_marked=not refused) for j in range(size))
        for i in range(size)
    ]
    label = selection.CORRECTIONS[correction]
    scoped = f"{label}, family: {selection.SCOPES[scope]}"
    shown = {name: value for name, value in found.items() if name not in selection.MATRICES}
    return shown | {
        "correction": correction,
        "scope": scope,
        "correction_label": label if correction == "none" else scoped,
        **_ranked(found, document.get("trust"), is_short=wanted is not None),
        "refused": refused,
        "row": "" if wanted is None else found["metrics"][wanted]["key"],
        "steps": steps,
        "n_significant": sum(sum(letter in SIGNIFICANT for letter in line) for line in steps),
        "warnings": [*document["comparison_warnings"], *notes],
        "rows": rows,
    }


def _row_of(document: Document, query: QueryDict) -> int | None:
    wanted = query.get("row")
    keys = [metric["key"] for metric in document["metrics"]]
    if not wanted or not keys:
        return None
    if wanted not in keys:
        raise FilterError(f"row: {wanted!r} is none of the metrics shown")
    return keys.index(wanted)


def _ranked(document: Document, trust: Document | None, *, is_short: bool) -> Document:
    """The metrics with their ranks; without what one row of the table does not need."""
    marking = marks.marking(trust, document, selection.ranks(document))
    metrics = [m | {"rank": marking.ranks.get(m["key"])} for m in document["metrics"]]
    if is_short:
        metrics = [{name: m[name] for name in ("key", "label", "value", "rank")} for m in metrics]
    # With ranks the sentence is about bold, which means something else here.
    return {"metrics": metrics, "marks": "" if marking.ranks else marking.sentence}


def _letter(
    document: Document, adjusted: list[list[float | None]], i: int, j: int, *, is_marked: bool
) -> str:
    """One cell: the step of its p, as a letter where it is significant after the correction."""
    pvalue = document["pvalues"][i][j]
    if pvalue is None or i == j:
        return "-"
    is_outlined = is_marked and _is_significant(document, adjusted, i, j)
    return (SIGNIFICANT if is_outlined else "01234")[step(pvalue)]


def _is_significant(document: Document, adjusted: list[list[float | None]], i: int, j: int) -> bool:
    """Whether p stays small after the correction, and the interval of the difference leaves 0 out.

    Where a difference has no interval, p alone decides.
    """
    corrected = adjusted[i][j]
    low, high = document["difference_lows"][i][j], document["difference_highs"][i][j]
    holds_zero = low is not None and high is not None and low <= 0 <= high
    return corrected is not None and corrected <= selection.ALPHA and not holds_zero


def _pair(
    document: Document, adjusted: list[list[float | None]], i: int, j: int, *, is_marked: bool
) -> Document:
    """One row of the data; `is_significant` is None where nothing may be marked."""
    row, column = document["metrics"][i], document["metrics"][j]
    return {
        "metric": row["key"],
        "label": row["label"],
        "other": column["key"],
        "other_label": column["label"],
        "difference": document["differences"][i][j],
        "low": document["difference_lows"][i][j],
        "high": document["difference_highs"][i][j],
        "pvalue": document["pvalues"][i][j],
        "adjusted": adjusted[i][j],
        "is_significant": _is_significant(document, adjusted, i, j) if is_marked else None,
    }


def context(request: HttpRequest, campaign: Campaign, document: Document) -> dict[str, Any]:
    """The form, and the pairs as table or picture; one metric's where the address names it."""
    metrics, query = document["metrics"], request.GET
    is_table = query.get("pairs") == "table" or len(metrics) <= MANY
    # What the form of all pairs keeps of the address, and that of one metric.
    others = [(name, value) for name in query for value in query.getlist(name) if name != "row"]
    return {
        "form": question_form(query, DEFAULT, document["all_metrics"]),
        "shows_table": is_table and not document["row"],
        "grid": _grid(document) if is_table and not document["row"] else [],
        "one": document["rows"] if document["row"] else [],
        "one_label": document["rows"][0]["label"] if document["row"] else "",
        "others": others,
        "all_pairs": _with(query, row="", pairs="table"),
        "overview": _with(query, row="", pairs=""),
        "is_many": len(metrics) > MANY,
        "step_labels": LABELS,
    }


def _with(query: QueryDict, **changed: str) -> str:
    changing = query.copy()
    for name, value in changed.items():
        changing.pop(name, None)
        if value:
            changing[name] = value
    return f"?{changing.urlencode()}"


def _grid(document: Document) -> list[Document]:
    pairs = iter(document["rows"])
    return [
        metric
        | {
            "cells": [
                None if i == j else {"text": short_p(next(pairs)["pvalue"]), "step": letter}
                for j, letter in enumerate(document["steps"][i])
            ]
        }
        for i, metric in enumerate(document["metrics"])
    ]


def short_p(value: float | None) -> str:
    """A p-value as narrow cells have it."""
    return pvalue(value).replace(" ", "")


def tables(document: Document) -> list[latex.Table]:
    """The heat map as a table of p, bold where significant after the correction."""
    return [_row_table(document) if document["row"] else _pairs_table(document)]


def _row_table(document: Document) -> latex.Table:
    """One metric against all others."""
    rows = document["rows"]
    body = [
        [
            latex.Cell(row["other_label"]),
            latex.estimate(row["difference"], row["low"], row["high"]),
            _latex_cell(row),
            latex.Cell(pvalue(row["adjusted"])),
        ]
        for row in rows
    ]
    label = rows[0]["label"] if rows else ""
    caption = f"{label} against all other metrics: {_about(document)}"
    head = latex.texts("Against", "Difference", "p", "p, corrected")
    return latex.Table(caption, f"{document['campaign']}-significance", "lrrr", [head], body)


def _about(document: Document) -> str:
    return (
        f"{document['statistic_label']}, {document['name']}; {document['test_label']}. "
        f"{_marked(document)}"
    )


def _marked(document: Document) -> str:
    bold = (
        f"Bold: significant at .05 after correction ({document['correction_label']}), with an "
        "interval that leaves 0 out."
    )
    return str(document["refused"] or bold)


def _pairs_table(document: Document) -> latex.Table:
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
        "One-sided p that the metric of the row agrees better with the humans than that of the "
        f"column: {_about(document)}"
    )
    head = latex.texts("", *range(1, len(labels) + 1))
    columns = "l" + "r" * len(labels)
    return latex.Table(caption, f"{document['campaign']}-significance", columns, [head], body)


def _latex_cell(row: Document | None) -> latex.Cell:
    if row is None or row["pvalue"] is None:
        return latex.Cell("" if row is None else "–")
    return latex.Cell(pvalue(row["pvalue"]), bool(row["is_significant"]))


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
    takes=("statistic", "grouping", "test", "correction", "scope", "row"),
    repeated=("metric",),
    on_page=("pairs",),
)
