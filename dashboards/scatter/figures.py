"""Metric against human: points, or counts on a grid where there are many."""

from dashboards.charts.style import Spec, figure
from dashboards.documents.measured import Measured
from dashboards.scatter.document import Scatter

# More points than this are drawn as counts: in print they would be one blot.
MOST_DRAWN = 400
SIDE = 30


def points(document: Scatter) -> Spec | None:
    """A scatter plot; None where there is nothing to draw."""
    metric, against = document.metric, document.against
    if not document.n or metric is None or against is None:
        return None
    x, y = _axis("x", against), _axis("y", metric)
    title = f"{metric.label} against {against.label}"
    is_many = document.n > MOST_DRAWN
    return figure(
        title,
        _description(document, title),
        width=420,
        height=320,
        **(_grid(document, x, y) if is_many else _circles(document, x, y)),
    )


def _axis(name: str, side: Measured) -> Spec:
    turned = " (sign turned)" if side.is_turned else ""
    return {
        "field": name,
        "type": "quantitative",
        "title": f"{side.label}{turned}",
        "scale": {"zero": False, "nice": True},
    }


def _description(document: Scatter, title: str) -> str:
    r = document.statistics and document.statistics.r
    unit = "systems" if document.level == "system" else "outputs"
    value = "undefined" if r is None else f"{r:.3f}"
    return f"{title}, {document.n:,} {unit}: Pearson r {value}."


def _circles(document: Scatter, x: Spec, y: Spec) -> Spec:
    values = [{"x": a, "y": b, "system": system} for a, b, _, system, _ in document.points]
    marks: Spec = {"x": x, "y": y}
    if document.level == "segment":
        marks["shape"] = {"field": "system", "type": "nominal", "title": "System"}
        marks["color"] = marks["shape"]
        return {
            "data": {"values": values},
            "mark": {"type": "point", "size": 28},
            "encoding": marks,
        }
    names = {"mark": {"type": "text", "dy": -10}, "encoding": {"text": {"field": "system"}}}
    layers = [{"mark": {"type": "point", "size": 60, "filled": True}}, names]
    return {"data": {"values": values}, "encoding": marks, "layer": layers}


def _grid(document: Scatter, x: Spec, y: Spec) -> Spec:
    """Squares, the darker the more outputs; counted on the server above `MOST_POINTS`."""
    counted = [{"x": a, "y": b, "n": n} for a, b, n, _ in document.bins]
    values = counted or [{"x": a, "y": b, "n": 1} for a, b, *_ in document.points]
    bins = {"bin": {"maxbins": SIDE}}
    color = {
        "field": "n",
        "aggregate": "sum",
        "type": "quantitative",
        "title": "Outputs",
        "scale": {"type": "sqrt", "scheme": "greys"},
    }
    return {
        "data": {"values": values},
        "mark": "rect",
        "encoding": {"x": x | bins, "y": y | bins, "color": color},
    }


FIGURES = {"points": points}
