"""The table of metrics of a campaign."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, replace
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from core.caching import ttl_cache
from dashboards.charts.dots import Dotted, chart, panel
from dashboards.charts.style import Spec, figure
from dashboards.comparisons import selection, statistics
from dashboards.comparisons.document import Comparison, Metric, OfMetrics
from dashboards.correlations.document import (
    DEFAULT,
    FLOOR_LEGEND,
    METRIC,
    Correlations,
    Row,
    bound_rows,
    floored,
)
from dashboards.documents.head import WithUnits
from dashboards.documents.reasons import with_reasons
from dashboards.documents.results import Completion
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.papers.wmt import Place, Task, wmt_table
from dashboards.trust import marks
from metaeval.messages import Message, message, truncated
from metaeval.replication.questions import STATISTICS
from metrics.base import IMPORTED, MetricInfo
from metrics.catalogue import infos
from metrics.runs.starting import refusals_for

# Draw the agreement of metrics with humans as points with intervals.

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


R = TypeVar("R", Metric, Row)
COLUMNS = (
    *("campaign", "scores", "key", "label", "metric", "signature", "origin", "is_turned"),
    *("n", "n_missing", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit"),
    *("value", "low", "high", "rank", "is_best", "kind", "floor"),
    *("r_system_without_outliers", "value_without_outliers"),
)
PENDING = message("intervals.pending", "Intervals and ranks are being computed.")
# The most rows of the figure.
LEADING = 40
Column = tuple[str, Message, Message]
_OF_SEGMENTS = message("column.segment-level", "Segment level")
_OF_SYSTEMS = message("column.system-level-pearson", "System level, Pearson r")
_OF_STATISTIC = message("column.chosen-statistic", "Chosen statistic")
_WITHOUT_OUTLIERS = message("column.without-outliers", "without outliers")
# The columns besides the chosen statistic: name in a row, level, heading.
OTHERS: tuple[Column, ...] = (
    ("tau", _OF_SEGMENTS, message("column.tau-b", "Kendall τ-b")),
    ("r_segment", _OF_SEGMENTS, message("column.pearson", "Pearson r")),
    ("r_limit", _OF_SYSTEMS, message("column.limit", "limit of hybrids")),
    ("r_hybrid", _OF_SYSTEMS, message("column.hybrids", "drawn hybrids")),
    ("r_system", _OF_SYSTEMS, message("column.systems", "systems")),
)
# Further columns where there are outlier systems.
WITHOUT_OUTLIERS: tuple[Column, ...] = (
    ("r_system_without_outliers", _OF_SYSTEMS, _WITHOUT_OUTLIERS),
    ("value_without_outliers", _OF_STATISTIC, _WITHOUT_OUTLIERS),
)
SAME = {"tau-b": "tau", "pearson": "r_segment", "limit": "r_limit", "hybrids": "r_hybrid",
        "systems": "r_system"}  # fmt: skip


def ask(query: QueryDict) -> str:
    """Return the key of the statistic, grouping and test of an address."""
    return statistics.from_query(query, DEFAULT).key


def complete(document: Correlations, tested: Completion[Comparison]) -> Correlations:
    """Add intervals, and the comparison that ranks use.

    Where the comparison uses other data, its values replace those of the table: value, interval,
    rank, headline and figure always use the same data, and `intervals_note` gives its time.
    """
    found = tested.document
    own = {metric.key: metric for metric in (found.metrics if found else ())}
    warnings = [*document.warnings, *(found.comparison_warnings if found else ())]
    units = {each.name: getattr(found or document, each.name) for each in fields(WithUnits)}
    return replace(
        document,
        **units,
        metrics=[_tested(metric, own, is_same=tested.is_same) for metric in document.metrics],
        rows=[_tested(row, own, is_same=tested.is_same) for row in document.rows],
        comparison=found,
        interval=found.interval if found else None,
        intervals_note=_age(document, tested),
        failed={marks.INTERVALS: tested.message} if found is None and tested.message else {},
        warnings=list(dict.fromkeys(warnings)),
    )


def _tested(row: R, own: Mapping[str, Metric], *, is_same: bool) -> R:
    """Return a metric with its interval, and its value, in the comparison."""
    found = own.get(row.key)
    if found is None:
        return replace(row, low=None, high=None)
    value = row.value if is_same else found.value
    return replace(row, value=value, low=found.low, high=found.high)


def _age(document: Correlations, tested: Completion[Comparison]) -> Message | None:
    """Return a note on intervals that use other data than the rest of the table."""
    found = tested.document
    if found is None or tested.as_of is None:
        return None if found or tested.message else PENDING
    if tested.is_same:
        return None
    known = {metric.key for metric in found.metrics}
    new = [metric.label for metric in document.metrics if metric.key not in known]
    if new:
        return message(
            "intervals.before-metrics",
            "The values, intervals and ranks were computed at {at:moment}, before {metrics} had "
            "scores. These metrics have no interval and no rank until newer numbers are computed.",
            at=tested.as_of,
            metrics=truncated(new),
        )
    if tested.message:
        return message(
            "intervals.older-failed",
            "The values, intervals and ranks were computed at {at:moment}. The data have changed "
            "since, and newer numbers could not be computed.",
            at=tested.as_of,
        )
    return message(
        "intervals.older",
        "The values, intervals and ranks were computed at {at:moment}. The data have changed "
        "since, and newer numbers are being computed.",
        at=tested.as_of,
    )


def choose(document: Correlations, query: QueryDict) -> Correlations:
    """Select the metrics of the address; add ranks and marks that verdict and intervals support."""
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    scope = selection.one_of(query, "scope", list(selection.SCOPES))
    found = selection.subset(document, query)
    compared, trust = document.comparison, document.trust
    if compared:
        compared = selection.only(compared, {metric.key for metric in found.metrics})
    marking = marks.marking(trust, compared, correction, scope)
    shown = {metric.key: metric.label for metric in found.metrics}
    states, baseline_marks = marks.against_floor(trust, compared, shown)
    rows = [_marked(row, marking, states) for row in document.rows if row.key in shown]
    is_bounded = selection.shows_bounds(query)
    rows += bound_rows(document) if is_bounded else []
    return replace(
        found,
        comparison=compared,
        rows=sorted(rows, key=_by_value),
        marks=marks.failure(document.failed) or marking.notes,
        shown_bounds=compared.bounds if compared and is_bounded else None,
        baseline_marks=baseline_marks,
        trust=trust and with_reasons(trust, marks.uncertain(compared)),
    )


def _marked(row: Row, marking: marks.Marking, states: Mapping[str, str]) -> Row:
    """Return a metric's row with its rank and its state against the baselines."""
    return replace(
        row,
        rank=marking.ranks.get(row.key),
        is_best=row.key in marking.best,
        floor=states.get(row.key, ""),
    )


def _by_value(row: Row) -> float:
    """Return a key that sorts the best first, and rows without a value last."""
    return math.inf if row.value is None else -row.value


def context(request: HttpRequest, campaign: Campaign, document: Correlations) -> dict[str, Any]:
    """Return the signatures, the columns, and the metrics that have not scored yet."""
    startable, refused = unscored(campaign, document.all_metrics)
    return {
        "signatures": list(dict.fromkeys(filter(None, (row.signature for row in document.rows)))),
        "chart": chart([row for row in document.rows if row.value is not None][:LEADING]),
        "columns": _columns(document),
        "counts": sorted({row.n for row in document.rows if row.kind == METRIC}),
        "has_imported": any(row.origin == IMPORTED for row in document.rows),
        "has_intervals": any(metric.low is not None for metric in document.metrics),
        "startable": startable,
        "refused": refused,
    }


def _columns(document: Correlations) -> list[Column]:
    """Return the columns besides the chosen statistic: for outliers only if a row has a number."""
    chosen = _chosen(document)
    found = [each for each in OTHERS if each[0] != chosen]
    wanted = WITHOUT_OUTLIERS[: 1 if chosen == "r_system" else 2]
    rows = [row for row in document.rows if row.kind == METRIC]
    return found + [
        each for each in wanted if any(getattr(row, each[0]) is not None for row in rows)
    ]


def _chosen(document: Correlations) -> str:
    """Return the column that equals the chosen statistic, which is shown once."""
    return SAME.get(document.statistic, "") if document.grouping == "none" else ""


# Metrics that could score, and the reasons why others cannot.
Unscored = tuple[list[MetricInfo], list[Message | str]]


def unscored(campaign: Campaign, metrics: Sequence[Metric]) -> Unscored:
    """Return the metrics that could score a campaign's outputs, and why others cannot (cached)."""
    seen = frozenset(metric.metric for metric in metrics)
    return ttl_cache(("unscored", campaign.pk, seen), lambda: _unscored(campaign, seen))


def _unscored(campaign: Campaign, seen: Set[str]) -> Unscored:
    # A metric with a checkpoint is offered only after its checkpoint was added.
    missing = [info for name, info in infos().items() if name not in seen and not info.checkpoint]
    refusals = refusals_for(campaign.test_set, list(campaign.systems.all())) if missing else {}
    startable = [info for info in missing if info.name not in refusals]
    return startable, [refusals[info.name] for info in missing if info.name in refusals]


def task_of(document: Correlations, name: str = "") -> Task:
    """Return a campaign's metrics as a task of WMT."""
    short = STATISTICS[document.statistic].short if document.statistic in STATISTICS else "Value"
    places = {
        row.key: Place(_named(row), row.value, row.rank, row.is_best)
        for row in document.rows
        if row.kind == METRIC
    }
    return Task(
        name or document.name, document.statistic, document.statistic_label, str(short), places
    )


def tables(document: Correlations) -> list[latex.Table]:
    """Return the page's tables for a paper: its own, and that of the WMT metrics tasks."""
    body = [
        [
            latex.Cell(_named(row)),
            latex.Cell("–" if row.rank is None else str(row.rank)),
            latex.number(row.value, is_bold=row.is_best),
            latex.interval(row.low, row.high),
            *map(latex.number, (row.r_hybrid, row.r_limit, row.r_system, row.tau, row.r_segment)),
        ]
        for row in document.rows
    ]
    head = latex.texts(
        "Metric", "Rank", document.statistic_label, "95% interval",
        "r, hybrids", "r, limit", "r, systems", "τ-b", "r, segments",
    )  # fmt: skip
    methods = [
        *_methods(document),
        *_partly(document),
        *([FLOOR_LEGEND] if any(row.floor for row in document.rows) else []),
    ]
    caption = [f"Agreement of metrics with {document.human_scores} of {document.name}.", *methods]
    label = f"{document.campaign}-metrics"
    own = latex.Table(caption, label, "lrrrrrrrr", [head], body, usual=range(5))
    return [own, wmt_table([task_of(document)], f"{document.campaign}-wmt", methods)]


def _named(row: Row) -> str:
    """Return the label, with n for a metric that did not score all judged outputs."""
    label = floored(row.label, row.floor)
    return f"{label} (n = {row.n:,})" if row.n_missing else label


def _partly(document: Correlations) -> list[str]:
    if not any(row.n_missing for row in document.rows):
        return []
    return [f"Metrics with n scored only n of the {document.n_judged:,} judged outputs."]


def _methods(document: Correlations) -> list[Message | str]:
    compared = document.comparison
    if not compared:
        return []
    methods = f"Intervals: {compared.interval}. Ranks: {compared.test_label}, p ≤ .05."
    # Metrics that were not compared have neither.
    stated = [methods] if compared.interval is not None else []
    return [*stated, *document.marks, *document.baseline_marks]


def present(document: OfMetrics, query: QueryDict) -> QueryDict:
    """Return an address without the metrics that one campaign of a study does not have."""
    known = {metric.key for metric in document.metrics} | {selection.EVERY}
    mine = query.copy()
    mine.setlist("metric", [key for key in query.getlist("metric") if key in known])
    return mine


CORRELATIONS = Page(
    name="correlations",
    title=message("page.correlations", "Correlations"),
    kind="correlations",
    figures=FIGURES,
    slower="significance",
    complete=complete,
    template="dashboards/correlations.html",
    columns=COLUMNS,
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
    joins=True,
    takes=("statistic", "grouping", "test", "correction", "scope", "bounds"),
    repeated=("metric",),
)
