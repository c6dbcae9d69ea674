"""Draw agreement with humans by layer: lines for precision, recall and F1, a panel per encoder."""

from collections.abc import Sequence
from typing import Any

from dashboards.charts.style import (
    CATEGORY,
    DASHES,
    INK,
    NAME,
    SHAPES,
    Spec,
    figure,
    number,
)
from dashboards.comparisons.values import CEILING, FLOOR
from extensions.layers.document import Layers
from extensions.layers.names import part_label
from metaeval.messages import message

CORRELATION = message("layers.correlation", "correlation")
LAYER = message("layers.layer", "layer")


def profiles(document: Layers) -> Spec | None:
    """Draw every layer of every encoder; a ring marks the layer chosen on held-out folds."""
    values = [
        {
            "encoder": metric.label,
            "layer": row.layer,
            "part": part_label(row.part),
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
    values += [
        {"encoder": metric.label, "bound": bound.label, "value": bound.value}
        for metric in document.metrics
        for bound in _ends(document.bounds)
    ]
    x = {"field": "layer", "type": "quantitative", "title": LAYER, "axis": {"tickMinStep": 1}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": CORRELATION,
        "scale": {"zero": False},
    }
    part = {"field": "part", "type": "nominal", "title": None, "sort": parts}
    lines = {
        "transform": [{"filter": "isValid(datum.part)"}],
        "mark": {"type": "line", "point": {"filled": True, "size": 30}},
        "encoding": {
            "x": x,
            "color": part | {"scale": {"domain": parts, "range": CATEGORY[: len(parts)]}},
            "strokeDash": part | {"scale": {"domain": parts, "range": DASHES[: len(parts)]}},
            "shape": part | {"scale": {"domain": parts, "range": SHAPES[: len(parts)]}},
            "tooltip": [
                {"field": "part", "title": NAME},
                {"field": "layer", "title": LAYER},
                number("value", CORRELATION),
            ],
        },
    }
    ring = {
        "transform": [{"filter": "datum.is_recommended"}],
        "mark": {"type": "point", "size": 160, "color": INK, "strokeWidth": 2},
        "encoding": {"x": x},
    }
    bounds = [
        message("layers.bound", "{name}: {value:r}.", name=each.label, value=each.value)
        for each in _ends(document.bounds)
    ]
    described = message(
        "layers.described",
        "{statistic} of every layer; layer 0 is the embedding. A ring marks the layer chosen on "
        "held-out folds.",
        statistic=document.statistic_label,
    )
    title = message(
        "layers.title",
        "Agreement by layer in {name}: {statistic}",
        name=document.name,
        statistic=document.statistic_label,
    )
    return figure(
        title,
        [described, *bounds],
        data={"values": values},
        facet={"row": {"field": "encoder", "type": "nominal", "title": None}},
        spec={
            "width": 460,
            "height": 160,
            "encoding": {"y": y},
            "layer": [lines, ring, *(_rules() if document.bounds else [])],
        },
        resolve={"scale": {"y": "independent", "x": "independent"}},
    )


def _ends(bounds: Sequence[Any]) -> list[Any]:
    """Return the best baseline and the human ceiling, of a campaign or over those of a study."""
    known = [each for each in bounds if each.value is not None]
    floors = [each for each in known if each.kind == FLOOR]
    best = max(floors, key=lambda each: each.value or 0.0, default=None)
    return [*([best] if best else []), *(each for each in known if each.kind == CEILING)]


def _rules() -> list[Spec]:
    """Return a horizontal line for each of them, with its name."""
    only = [{"filter": "isValid(datum.bound)"}]
    text = {"type": "text", "align": "left", "dx": 4, "dy": -5, "color": INK}
    return [
        {"transform": only, "mark": {"type": "rule", "color": INK, "strokeDash": [2, 3]}},
        {
            "transform": only,
            "mark": text,
            "encoding": {"text": {"field": "bound"}, "x": {"value": 0}},
        },
    ]


FIGURES = {"profiles": profiles}
