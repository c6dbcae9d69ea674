"""Draw a heat map of all pairs of metrics: p of the row being better than the column."""

from typing import Any

from core.numbers import bare_p_value
from dashboards.charts.style import ENDS, INK, Spec, figure, number
from dashboards.comparisons.document import Pair, Shown
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
