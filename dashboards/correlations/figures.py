"""Draw the agreement of metrics with humans as points with intervals."""

from collections.abc import Sequence

from dashboards.charts.dotted import Dotted, panel
from dashboards.charts.style import Spec, figure
from dashboards.comparisons.document import Metric
from dashboards.correlations.document import Correlations
from metaeval.messages import Message, message

WIDTH = 620


def intervals(document: Correlations) -> Spec | None:
    """Draw the chosen statistic of each metric with its 95% interval, best on top."""
    known = [metric for metric in document.metrics if metric.value is not None]
    if not known:
        return None
    known.sort(key=lambda metric: -(metric.value or 0.0))
    # Without intervals there is no scale for differences, so the axis begins at zero.
    has_intervals = any(metric.low is not None for metric in known)
    shown = {row.key: row for row in document.rows}
    rows = [
        Dotted(m.label, m.value, m.low, m.high, shown[m.key].rank, shown[m.key].is_best)
        if m.key in shown
        else Dotted(m.label, m.value, m.low, m.high)
        for m in known
    ]
    label = document.statistic_label
    points = message(
        "figure.correlation-points",
        "Points: {statistic} of each metric with the humans.",
        statistic=label,
    )
    return figure(
        message("figure.of-campaign", "{statistic} · {name}", statistic=label, name=document.name),
        [
            points,
            lines_note(document.interval) if has_intervals else None,
            *_first(document, known),
            document.over,
        ],
        **panel(rows, label, width=WIDTH, from_zero=not has_intervals),
    )


def lines_note(interval: Message | None) -> Message | None:
    """Return what the lines of a figure are, or why there are none."""
    if interval is None:
        return None
    if cause := interval.parameters.get("cause"):
        return message("figure.no-intervals", "There are no 95% intervals: {cause}.", cause=cause)
    return message("figure.interval-lines", "Lines: 95% intervals, {method}.", method=interval)


def _first(document: Correlations, known: list[Metric]) -> Sequence[Message]:
    """Return the metrics of the first rank where ranks are supported, else why there is none."""
    keys = {row.key for row in document.rows if row.is_best}
    best = [
        message("figure.metric-value", "{metric} ({value:r})", metric=each.label, value=each.value)
        for each in known
        if each.key in keys
    ]
    if not best:
        return document.marks
    return [message("figure.first-rank", "First rank: {metrics}.", metrics=best)]


FIGURES = {"intervals": intervals}
