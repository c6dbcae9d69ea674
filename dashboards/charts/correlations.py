"""Metrics by their agreement with humans: points with intervals."""

from dashboards.charts.style import ACCENT, INK, Spec, figure
from dashboards.correlations.document import Correlations
from dashboards.significance.document import Metric


def intervals(document: Correlations) -> Spec | None:
    """Draw the chosen statistic of each metric with its 95 % interval, best on top."""
    known = [metric for metric in document.metrics if metric.value is not None]
    if not known:
        return None
    known.sort(key=lambda metric: -(metric.value or 0.0))
    values = [
        {name: getattr(metric, name) for name in ("label", "value", "low", "high")}
        for metric in known
    ]
    # Without intervals nothing says how far apart is far: the axis begins at zero then.
    has_intervals = any(metric.low is not None for metric in known)
    label = document.statistic_label
    y = {
        "field": "label",
        "type": "nominal",
        "title": None,
        "sort": [metric.label for metric in known],
    }
    tooltip = [
        {"field": "label", "title": "metric"},
        *({"field": name, "format": ".3f"} for name in ("value", "low", "high")),
    ]
    return figure(
        f"{label}, {document.name}",
        f"Points: {label} of each metric with the humans.{_lines(document, has_intervals)} "
        f"{_first(document, known)}",
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
                        "scale": {"zero": not has_intervals},
                    },
                    "tooltip": tooltip,
                },
            },
        ],
    )


def _first(document: Correlations, known: list[Metric]) -> str:
    """The metrics of the first rank where ranks are borne out, else why none is named."""
    keys = {row.key for row in document.rows if row.is_best}
    names = [f"{metric.label}, {metric.value:.3f}" for metric in known if metric.key in keys]
    return f"First rank: {'; '.join(names)}." if names else document.marks


def _lines(document: Correlations, has_intervals: bool) -> str:
    return f" Lines: 95 % intervals, {document.interval}." if has_intervals else ""
