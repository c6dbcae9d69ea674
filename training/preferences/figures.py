"""Draw distributions of d(a, b; x): a panel for every measure under one condition."""

from functools import partial
from typing import Any

from dashboards.charts.style import ACCENT, CATEGORY, INK, SOFT, Spec, figure
from metaeval.messages import Message, message, plural
from training.preferences.altering import CONDITIONS
from training.preferences.documents import OfTestSet, Row

CHARTED = 24
WIDTH, HEIGHT, COLUMNS = 250, 90, 2
SIDES = {
    "lower": message("d.lower", "reference preferred"),
    "equal": message("d.equal", "no difference"),
    "higher": message("d.higher", "altered text preferred"),
}
SEGMENTS = message("d.segments", "segments")
COLOURS = [ACCENT, SOFT, CATEGORY[1]]


def histograms(document: OfTestSet, condition: str) -> Spec | None:
    """Draw d of the `CHARTED` measures with the lowest W2W; the table of the page has all."""
    found = [row for row in document.rows if row.condition == condition]
    rows = [row for row in found if row.histogram][:CHARTED]
    if not rows:
        return None
    return figure(
        message(
            "d.title",
            "{condition}: d by metric, {test_set}",
            condition=rows[0].condition_label,
            test_set=document.title,
        ),
        [_shown(len(rows), len(found)), ABOUT],
        data={"values": [bar for row in rows for bar in _bars(row)]},
        facet={
            "field": "label",
            "type": "nominal",
            "title": None,
            "sort": [row.label for row in rows],
            "header": {"labelColor": INK, "labelFontSize": 12, "labelLimit": WIDTH},
        },
        columns=min(COLUMNS, len(rows)),
        spec=_panel(),
        resolve={"scale": {"x": "independent", "y": "independent"}},
    )


ABOUT = message(
    "d.about",
    "d is the score of the altered text minus that of the reference. To the right of 0, the metric "
    "prefers the altered text. Each metric has its own scale.",
)


def _shown(n: int, n_all: int) -> Message:
    if n == n_all:
        return message("d.all", "Segments by d, for all metrics.")
    return plural(
        "d.lowest",
        "Segments by d, for the metric with the lowest W2W.",
        "Segments by d, for the {n} metrics with the lowest W2W.",
        n=n,
    )


def _bars(row: Row) -> list[dict[str, Any]]:
    edges = row.histogram["edges"]
    return [
        {
            "label": row.label,
            "low": _short(low),
            "high": _short(high),
            "segments": count,
            "side": label,
        }
        for side, label in SIDES.items()
        for count, low, high in zip(row.histogram[side], edges, edges[1:], strict=False)
        if count
    ]


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _panel() -> dict[str, Any]:
    x = {"field": "low", "type": "quantitative", "title": "d", "bin": {"binned": True}}
    colour = {
        "field": "side",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(SIDES.values()), "range": COLOURS},
        "legend": {"orient": "bottom"},
    }
    tooltip = [
        {"field": "label", "title": message("d.metric", "metric")},
        {"field": "low", "title": message("d.from", "d from")},
        {"field": "high", "title": message("d.to", "d to")},
        {"field": "segments", "title": SEGMENTS},
        {"field": "side", "title": message("d.side", "preference")},
    ]
    bars = {
        "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.5},
        "encoding": {
            "x": x,
            "x2": {"field": "high"},
            "y": {
                "field": "segments",
                "type": "quantitative",
                "title": SEGMENTS,
                "axis": {"tickMinStep": 1, "format": "d", "tickCount": 4},
            },
            "color": colour,
            "tooltip": tooltip,
        },
    }
    zero = {
        "mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
        "encoding": {"x": {"datum": 0, "type": "quantitative"}},
    }
    return {"width": WIDTH, "height": HEIGHT, "layer": [bars, zero]}


FIGURES = {name: partial(histograms, condition=name) for name in CONDITIONS}
