"""Select the metrics, the correction and perhaps one row that a reader chose of a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from django.http.request import QueryDict

from annotation.filters import FilterError
from core.numbers import bare_p_value
from dashboards.charts.style import ENDS, INK, Spec, figure, number
from dashboards.comparisons import selection
from dashboards.comparisons.document import (
    Compared,
    Comparison,
    Floored,
    Matrix,
    Metric,
    Pair,
    Ranked,
    RankedMetric,
    Shown,
)
from dashboards.trust import marks
from metaeval.messages import Message, message

QUESTION = message(
    "significance.question",
    "Does the row’s metric agree better with the humans than the column’s metric?",
)
ROW_BEATS_COLUMN = message("significance.row-beats-column", "row beats column")
ROW = message("significance.row", "row")
COLUMN = message("significance.column", "column")
DIFFERENCE = message("significance.difference", "difference")
CORRECTED_P = message("significance.corrected-p", "p, corrected")
# Upper bounds of the steps of p; smaller is darker, also in grey.
STEPS = (0.001, 0.01, 0.05, 0.1)
COLOURS = ("#08306b", "#2a6fb0", "#7fb3d9", "#bcd4e8", "#f5f7f9")
LABELS = ("p < .001", "p < .01", "p < .05", "p < .1", "p ≥ .1")
# Numbers in more cells than these are too small to read in print.
MAX_NUMBERED = 24


def heat_map(document: Shown) -> Spec | None:
    """Draw p of every pair, outlined where it is significant after the correction."""
    if all(row.pvalue is None for row in document.rows):
        return None
    title = message(
        "significance.title",
        "{statistic} · {name}",
        statistic=document.statistic_label,
        name=document.name,
    )
    described = [QUESTION, darker(document.test_label), *_outlines(document), document.over]
    return figure(title, described, **panel(document))


def panel(document: Shown) -> Spec:
    """Return the heat map of a campaign, as a part of a figure."""
    labels = [metric.label for metric in document.metrics]
    values = [_cell(row, row.pvalue) for row in document.rows if row.pvalue is not None]
    axis = {"type": "nominal", "sort": labels, "title": None, "scale": {"domain": labels}}
    x = axis | {"field": "other", "axis": {"orient": "top", "labelAngle": -60}}
    y = axis | {"field": "metric"}
    colour = {
        "field": "step",
        "type": "ordinal",
        "scale": {"domain": list(LABELS), "range": list(COLOURS)},
        "legend": {"title": ROW_BEATS_COLUMN, "symbolStrokeColor": INK},
    }
    tooltip = [
        {"field": "metric", "title": ROW},
        {"field": "other", "title": COLUMN},
        number("difference", DIFFERENCE),
        *(number(field, end) for field, end in ENDS.items()),
        number("pvalue", "p"),
        number("adjusted", CORRECTED_P),
    ]
    layers = [
        {
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.5},
            "encoding": {"color": colour, "tooltip": tooltip},
        },
        {
            "transform": [{"filter": "datum.is_significant"}],
            "mark": {"type": "rect", "fill": None, "stroke": "black", "strokeWidth": 2},
        },
    ]
    if len(labels) <= MAX_NUMBERED:
        layers.append(_numbers())
    return {
        "data": {"values": values},
        "width": {"step": 28},
        "height": {"step": 20},
        "encoding": {"x": x, "y": y},
        "layer": layers,
    }


def darker(test: Message | None) -> Message | None:
    """Return a note on the colours; None without a test."""
    if test is None:
        return None
    return message("significance.darker", "Darker: smaller one-sided p ({test}).", test=test)


def outlined(correction: Message | str) -> Message:
    """Return a note on the outlines."""
    return message(
        "significance.outlined",
        "Black outline: significant at .05 after correction ({correction}), with an interval that "
        "excludes zero.",
        correction=correction,
    )


def _outlines(document: Shown) -> list[Message]:
    if document.refused:
        return [document.refused]
    n = len(document.metrics)
    significant = message(
        "significance.significant-pairs",
        "{significant} of {pairs} pairs are significant.",
        significant=document.n_significant,
        pairs=n * (n - 1) // 2,
    )
    return [outlined(document.correction_label), significant]


def step(pvalue: float) -> int:
    """Return the step of a p-value, 0 for the smallest."""
    return sum(pvalue >= bound for bound in STEPS)


def _cell(row: Pair, pvalue: float) -> dict[str, Any]:
    names = ("difference", "low", "high", "pvalue", "adjusted", "is_significant")
    return {name: getattr(row, name) for name in names} | {
        "metric": row.label,
        "other": row.other_label,
        "step": LABELS[step(pvalue)],
        "is_dark": step(pvalue) < 2,
        "text": bare_p_value(pvalue),
    }


def _numbers() -> Spec:
    return {
        "mark": {"type": "text", "fontSize": 8},
        "encoding": {
            "text": {"field": "text"},
            "color": {
                "condition": {"test": "datum.is_dark", "value": "white"},
                "value": INK,
            },
        },
    }


FIGURES = {"heatmap": heat_map}


# The steps of p, smallest first, of cells that are significant after the correction.
SIGNIFICANT = "abcde"


def choose(document: Comparison, query: QueryDict) -> Shown:
    """Select the metrics of the address, best first, and correct for many tests.

    With `row`, the rows are those of one metric against all others.
    """
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    scope = selection.one_of(query, "scope", list(selection.SCOPES))
    found = selection.by_value(_with_row(document, selection.subset(document, query), query))
    adjusted, notes = selection.adjusted(found, correction, scope)
    refused = marks.refusal(document.trust, document)
    cells = _Cells(found, adjusted, correction, scope, is_marked=refused is None)
    size, wanted = len(found.metrics), _row_of(found, query)
    starts = range(size) if wanted is None else [wanted]
    steps = ["".join(cells.letter(i, j) for j in range(size)) for i in range(size)]
    labels = {each.key: each.label for each in found.metrics}
    states, baseline_marks = marks.against_floor(document.trust, found, labels)
    marking = marks.marking(document.trust, found, correction, scope)
    same = {each.name: getattr(found, each.name) for each in fields(Compared)}
    return Shown(
        **same | {"warnings": [*document.comparison_warnings, *notes]},
        metrics=[_ranked(each, marking, is_short=wanted is not None) for each in found.metrics],
        all_metrics=found.all_metrics,
        correction=correction,
        correction_label=_correction(correction, scope),
        scope=scope,
        refused=refused,
        # With ranks the notes explain bold, which means something else here.
        marks=() if marking.ranks else marking.notes,
        row="" if wanted is None else found.metrics[wanted].key,
        rows=[cells.pair(i, j) for i in starts for j in range(size) if i != j],
        steps=steps,
        floors=_floored(found, states),
        baseline_marks=baseline_marks,
        bounds=found.bounds if selection.shows_bounds(query) else None,
        n_significant=sum(sum(letter in SIGNIFICANT for letter in line) for line in steps),
    )


def _with_row(document: Comparison, found: Comparison, query: QueryDict) -> Comparison:
    """Return the chosen metrics with the one of `row`, which may be folded into its family."""
    keys = {metric.key for metric in found.metrics} | {query.get("row", "")}
    if len(keys) == len(found.metrics):
        return found
    return replace(selection.only(document, keys), all_metrics=document.metrics)


def _correction(correction: str, scope: str) -> Message | str:
    """Return the label of a correction with the family of tests that it covers."""
    label = selection.CORRECTIONS[correction]
    if correction == "none":
        return label
    return message(
        "significance.correction",
        "{correction}, family: {family}",
        correction=label,
        family=selection.SCOPES[scope],
    )


def _floored(found: Comparison, states: Mapping[str, str]) -> list[Floored]:
    """Return the metrics shown against the baselines, best first."""
    tested = {each.key: each for each in found.bounds.against} if found.bounds else {}
    return [
        Floored(
            key=metric.key,
            label=metric.label,
            value=metric.value,
            above=each.above,
            below=each.below,
            state=states.get(metric.key, ""),
        )
        for metric in found.metrics
        if (each := tested.get(metric.key)) is not None
    ]


def _row_of(document: Comparison, query: QueryDict) -> int | None:
    wanted = query.get("row")
    keys = [metric.key for metric in document.metrics]
    if not wanted or not keys:
        return None
    if wanted not in keys:
        raise FilterError(
            message(
                "significance.no-row",
                "row: “{metric}” is not one of the metrics shown.",
                metric=wanted,
            )
        )
    return keys.index(wanted)


def _ranked(metric: Metric, marking: marks.Marking, *, is_short: bool) -> Ranked:
    """Return a metric with its rank; for one row of the table only the fields that it needs."""
    rank = marking.ranks.get(metric.key)
    if is_short:
        return Ranked(key=metric.key, label=metric.label, value=metric.value, rank=rank)
    return RankedMetric(**vars(metric), rank=rank)


@dataclass(frozen=True)
class _Cells:
    """All pairs of a comparison, by the positions of row and column."""

    found: Comparison
    adjusted: Matrix
    correction: str
    scope: str
    is_marked: bool

    def letter(self, i: int, j: int) -> str:
        """Return the step of a cell's p, as a letter where it is significant when corrected."""
        pvalue = self.found.pvalues[i][j]
        if pvalue is None or i == j:
            return "-"
        return (SIGNIFICANT if self.is_marked and self._is_significant(i, j) else "01234")[
            step(pvalue)
        ]

    def _is_significant(self, i: int, j: int) -> bool:
        """Return whether the corrected p is small and the difference's interval excludes zero.

        Where a difference has no interval, only p decides.
        """
        corrected = self.adjusted[i][j]
        low, high = self.found.difference_lows[i][j], self.found.difference_highs[i][j]
        includes_zero = low is not None and high is not None and low <= 0 <= high
        return corrected is not None and corrected <= selection.ALPHA and not includes_zero

    def pair(self, i: int, j: int) -> Pair:
        """Return one row of the data."""
        found = self.found
        one, other = found.metrics[i], found.metrics[j]
        return Pair(
            found.campaign, found.statistic, found.grouping, found.test,
            self.correction, self.scope,
            one.key, one.label, other.key, other.label,
            found.differences[i][j], found.difference_lows[i][j], found.difference_highs[i][j],
            found.pvalues[i][j], self.adjusted[i][j],
            self._is_significant(i, j) if self.is_marked else None,
        )  # fmt: skip
