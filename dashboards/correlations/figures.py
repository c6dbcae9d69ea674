"""Metrics by their agreement with humans: points with intervals."""

from dashboards.charts.dotted import Dotted, panel
from dashboards.charts.style import Spec, figure
from dashboards.comparisons.document import Metric
from dashboards.correlations.document import Correlations

WIDTH = 620


def intervals(document: Correlations) -> Spec | None:
    """Draw the chosen statistic of each metric with its 95 % interval, best on top."""
    known = [metric for metric in document.metrics if metric.value is not None]
    if not known:
        return None
    known.sort(key=lambda metric: -(metric.value or 0.0))
    # Without intervals nothing says how far apart is far: the axis begins at zero then.
    has_intervals = any(metric.low is not None for metric in known)
    shown = {row.key: row for row in document.rows}
    rows = [
        Dotted(m.label, m.value, m.low, m.high, shown[m.key].rank, shown[m.key].is_best)
        if m.key in shown
        else Dotted(m.label, m.value, m.low, m.high)
        for m in known
    ]
    label = document.statistic_label
    return figure(
        f"{label} · {document.name}",
        f"{_points(document, label, has_intervals)} {_first(document, known)} {document.over}",
        **panel(rows, label, width=WIDTH, from_zero=not has_intervals),
    )


def _first(document: Correlations, known: list[Metric]) -> str:
    """The metrics of the first rank where ranks are borne out, else why none is named."""
    keys = {row.key for row in document.rows if row.is_best}
    names = [f"{metric.label}, {metric.value:.3f}" for metric in known if metric.key in keys]
    return f"First rank: {'; '.join(names)}." if names else document.marks


def _points(document: Correlations, label: str, has_intervals: bool) -> str:
    points = f"Points: {label} of each metric with the humans."
    lines = f"Lines: 95 % intervals, {document.interval}."
    return f"{points} {lines}" if has_intervals else points


FIGURES = {"intervals": intervals}
