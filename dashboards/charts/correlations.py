"""Metrics by their agreement with humans: points with intervals."""

from dashboards.charts.base import Document, Spec
from dashboards.charts.style import ACCENT, INK, figure


def intervals(document: Document) -> Spec | None:
    """Draw the chosen statistic of each metric with its 95 % interval, best on top."""
    known = [metric for metric in document["metrics"] if metric["value"] is not None]
    if not known:
        return None
    known.sort(key=lambda metric: -metric["value"])
    values = [
        {name: metric[name] for name in ("label", "value", "low", "high")} for metric in known
    ]
    label = document["statistic_label"]
    y = {
        "field": "label",
        "type": "nominal",
        "title": None,
        "sort": [metric["label"] for metric in known],
    }
    tooltip = [
        {"field": "label", "title": "metric"},
        *({"field": name, "format": ".3f"} for name in ("value", "low", "high")),
    ]
    return figure(
        f"{label}, {document['name']}",
        f"Points: {label} of each metric with the humans.{_lines(document)} "
        f"Highest: {known[0]['label']}, {known[0]['value']:.3f}.",
        data={"values": values},
        width=420,
        height={"step": 18},
        layer=[
            {
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.2},
                "encoding": {
                    "y": y,
                    "x": {"field": "low", "type": "quantitative", "title": label},
                    "x2": {"field": "high"},
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 55, "color": ACCENT},
                "encoding": {
                    "y": y,
                    "x": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": {"zero": False},
                    },
                    "tooltip": tooltip,
                },
            },
        ],
    )


def _lines(document: Document) -> str:
    return f" Lines: 95 % intervals, {document['interval']}." if document["interval"] else ""
