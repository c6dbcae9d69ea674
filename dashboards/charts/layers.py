"""Agreement with humans by layer: a line for precision, recall and F1, one panel an encoder."""

from dashboards.charts.style import CATEGORY, DASHES, INK, SHAPES, Spec, figure
from dashboards.layers.document import Layers
from dashboards.layers.names import PARTS


def profiles(document: Layers) -> Spec | None:
    """Draw every layer of every encoder; a ring marks the layer chosen on held-out folds."""
    values = [
        {
            "encoder": metric.label,
            "layer": row.layer,
            "part": PARTS.get(row.part, row.part or "score"),
            "value": row.value,
            "is_recommended": row.is_recommended,
        }
        for metric in document.metrics
        for row in metric.rows
        if row.value is not None
    ]
    if not values:
        return None
    parts = list(dict.fromkeys(value["part"] for value in values))
    x = {"field": "layer", "type": "quantitative", "axis": {"tickMinStep": 1}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": "correlation",
        "scale": {"zero": False},
    }
    part = {"field": "part", "type": "nominal", "title": None, "sort": parts}
    lines = {
        "mark": {"type": "line", "point": {"filled": True, "size": 30}},
        "encoding": {
            "color": part | {"scale": {"domain": parts, "range": CATEGORY[: len(parts)]}},
            "strokeDash": part | {"scale": {"domain": parts, "range": DASHES[: len(parts)]}},
            "shape": part | {"scale": {"domain": parts, "range": SHAPES[: len(parts)]}},
            "tooltip": [{"field": "part"}, {"field": "layer"}, {"field": "value", "format": ".4f"}],
        },
    }
    ring = {
        "transform": [{"filter": "datum.is_recommended"}],
        "mark": {"type": "point", "size": 160, "color": INK, "strokeWidth": 2},
    }
    return figure(
        f"{document.statistic_label} by layer, {document.name}",
        f"{document.statistic_label} of every layer, 0 being the embedding. A ring marks the "
        "layer chosen on held-out folds.",
        data={"values": values},
        facet={"row": {"field": "encoder", "type": "nominal", "title": None}},
        spec={"width": 460, "height": 160, "encoding": {"x": x, "y": y}, "layer": [lines, ring]},
        resolve={"scale": {"y": "independent", "x": "independent"}},
    )
