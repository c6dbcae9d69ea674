"""Draw a metric against the humans: points, or counts on a grid where there are many."""

from dashboards.charts.style import Spec, figure
from dashboards.documents.head import counted
from dashboards.scatter.document import Scatter
from dashboards.scatter.points import Side
from metaeval.messages import Message, message, plural

# More points than this are drawn as counts: in print they would overlap.
MOST_DRAWN = 400
SIDE = 30
SYSTEM = message("scatter.system", "System")
OUTPUTS = message("scatter.outputs", "Outputs")


def points(document: Scatter) -> Spec | None:
    """Draw a scatter plot; None without points."""
    metric, against = document.metric, document.against
    if not document.n or metric is None or against is None:
        return None
    x, y = _axis("x", against), _axis("y", metric)
    title = message(
        "scatter.title", "{metric} against {other}", metric=metric.label, other=against.label
    )
    is_many = document.n > MOST_DRAWN
    return figure(
        title,
        _description(document, title),
        width=420,
        height=320,
        **(_grid(document, x, y) if is_many else _circles(document, x, y)),
    )


def _axis(name: str, side: Side) -> Spec:
    title = side.label
    if side.is_turned:
        title = message("scatter.sign-reversed", "{metric} (sign reversed)", metric=side.label)
    return {
        "field": name,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True},
    }


def _description(document: Scatter, title: Message) -> Message:
    r = document.statistics and document.statistics.r
    total = outputs(document.n) if document.level == "segment" else counted("systems", document.n)
    if r is None:
        return message(
            "scatter.described-undefined",
            "{title} ({total}). Pearson’s r is undefined.",
            title=title,
            total=total,
        )
    return message(
        "scatter.described", "{title} ({total}): Pearson r {r:r}.", title=title, total=total, r=r
    )


def outputs(n: int) -> Message:
    """Return a number of outputs with their name."""
    return plural("units.outputs", "{n} output", "{n} outputs", n=n)


def _circles(document: Scatter, x: Spec, y: Spec) -> Spec:
    values = [{"x": a, "y": b, "system": system} for a, b, _, system, _ in document.points]
    marks: Spec = {"x": x, "y": y}
    if document.level == "segment":
        marks["shape"] = {"field": "system", "type": "nominal", "title": SYSTEM}
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
    """Draw squares, darker for more outputs; the server counts them above `MOST_POINTS`."""
    counted = [{"x": a, "y": b, "n": n} for a, b, n, _ in document.bins]
    values = counted or [{"x": a, "y": b, "n": 1} for a, b, *_ in document.points]
    bins = {"bin": {"maxbins": SIDE}}
    color = {
        "field": "n",
        "aggregate": "sum",
        "type": "quantitative",
        "title": OUTPUTS,
        "scale": {"type": "sqrt", "scheme": "greys"},
    }
    return {
        "data": {"values": values},
        "mark": "rect",
        "encoding": {"x": x | bins, "y": y | bins, "color": color},
    }


FIGURES = {"points": points}
