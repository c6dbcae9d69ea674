"""How d(a, b; x) is distributed: a panel for every measure under one condition."""

from functools import partial
from typing import Any

from dashboards.charts.style import ACCENT, CATEGORY, INK, SOFT, Spec, figure
from training.preferences.altering import CONDITIONS
from training.preferences.documents import OfTestSet, Row

CHARTED = 24
WIDTH, HEIGHT, COLUMNS = 250, 90, 2
SIDES = {"lower": "reference preferred", "equal": "no difference", "higher": "altered preferred"}
COLOURS = [ACCENT, SOFT, CATEGORY[1]]


def histograms(document: OfTestSet, condition: str) -> Spec | None:
    """Draw d of the `CHARTED` measures with the lowest W2W; the page's table has all."""
    found = [row for row in document.rows if row.condition == condition]
    rows = [row for row in found if row.histogram][:CHARTED]
    if not rows:
        return None
    label = rows[0].condition_label
    told = "all metrics" if len(rows) == len(found) else f"the {len(rows)} with the lowest W2W"
    return figure(
        f"{label}: d by metric, {document.title}",
        f"Segments by d, the score of the altered text minus that of the reference, of {told}. "
        "Right of 0 the metric prefers the altered text; each metric has its own scale.",
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


def _bars(row: Row) -> list[dict[str, Any]]:
    edges = row.histogram["edges"]
    return [
        {
            "label": row.label,
            "low": _short(low),
            "high": _short(high),
            "segments": count,
            "side": told,
        }
        for side, told in SIDES.items()
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
        {"field": "label", "title": "metric"},
        {"field": "low", "title": "d from"},
        {"field": "high", "title": "d to"},
        {"field": "segments", "title": "segments"},
        {"field": "side", "title": "side"},
    ]
    bars = {
        "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.5},
        "encoding": {
            "x": x,
            "x2": {"field": "high"},
            "y": {
                "field": "segments",
                "type": "quantitative",
                "title": "segments",
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
