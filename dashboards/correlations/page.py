"""The table of metrics of a campaign."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, replace
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from core.caching import ttl_cache
from core.text import join_truncated
from dashboards.charts.lines import chart
from dashboards.comparisons import selection, statistics
from dashboards.comparisons.document import Comparison, Metric, OfMetrics
from dashboards.correlations.bounded import bound_rows, floored
from dashboards.correlations.document import DEFAULT, METRIC, Correlations, Row
from dashboards.correlations.figures import FIGURES
from dashboards.documents.head import WithUnits
from dashboards.documents.reasons import with_reasons
from dashboards.documents.results import Completion
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.trust import marks
from metrics.base import MetricInfo
from metrics.catalogue import infos
from metrics.runs.starting import refusals_for

R = TypeVar("R", Metric, Row)
COLUMNS = (
    *("campaign", "scores", "key", "label", "metric", "signature", "origin", "is_turned"),
    *("n", "n_missing", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit"),
    *("value", "low", "high", "rank", "is_best", "kind", "floor"),
    *("r_system_without_outliers", "value_without_outliers"),
)
PENDING = "Intervals and ranks are being computed."
OLDER = (
    "The values with their intervals and ranks are as of {when} UTC. The data have changed since; "
    "newer ones are being computed."
)
OLDER_FAILED = (
    "The values with their intervals and ranks are as of {when} UTC. The data have changed since; "
    "newer ones could not be computed."
)
NEW_METRICS = (
    "The values with their intervals and ranks are as of {when} UTC, before there were scores of "
    "{named}, which stand without an interval and a rank until newer ones are computed."
)
# The most metrics that are named.
NAMED = 5
# More lines than these are no figure that somebody reads.
LEADING = 40
# The columns beside the chosen statistic: name in a row, level, heading.
OTHERS = (
    ("tau", "Segment level", "Kendall τ-b"),
    ("r_segment", "Segment level", "Pearson r"),
    ("r_limit", "System level, Pearson r", "hybrids, limit"),
    ("r_hybrid", "System level, Pearson r", "hybrids drawn"),
    ("r_system", "System level, Pearson r", "systems"),
)
# Beside them where there are outlier systems.
WITHOUT_OUTLIERS = (
    ("r_system_without_outliers", "System level, Pearson r", "without outliers"),
    ("value_without_outliers", "Chosen statistic", "without outliers"),
)
SAME = {"tau-b": "tau", "pearson": "r_segment", "limit": "r_limit", "hybrids": "r_hybrid",
        "systems": "r_system"}  # fmt: skip


def ask(query: QueryDict) -> str:
    """The statistic, grouping and test of an address."""
    return statistics.from_query(query, DEFAULT).key


def complete(document: Correlations, tested: Completion[Comparison]) -> Correlations:
    """Add intervals, and the comparison behind the ranks.

    Where it is of other data, the values are its own as well: value, interval, rank, headline and
    figure are of one state, and `intervals_note` says of which.
    """
    found = tested.document
    own = {metric.key: metric for metric in (found.metrics if found else ())}
    told = [*document.warnings, *(found.comparison_warnings if found else ())]
    units = {each.name: getattr(found or document, each.name) for each in fields(WithUnits)}
    return replace(
        document,
        **units,
        metrics=[_tested(metric, own, is_same=tested.is_same) for metric in document.metrics],
        rows=[_tested(row, own, is_same=tested.is_same) for row in document.rows],
        comparison=found,
        interval=found.interval if found else "",
        intervals_note=_age(document, tested),
        failed={marks.INTERVALS: tested.message} if found is None and tested.message else {},
        warnings=list(dict.fromkeys(told)),
    )


def _tested(row: R, own: Mapping[str, Metric], *, is_same: bool) -> R:
    """A metric with the interval that the comparison has of it, and with its value."""
    found = own.get(row.key)
    if found is None:
        return replace(row, low=None, high=None)
    value = row.value if is_same else found.value
    return replace(row, value=value, low=found.low, high=found.high)


def _age(document: Correlations, tested: Completion[Comparison]) -> str:
    """What to say of intervals that are not of the same data as the rest of the table."""
    found = tested.document
    if found is None or tested.as_of is None:
        return "" if found or tested.message else PENDING
    if tested.is_same:
        return ""
    known = {metric.key for metric in found.metrics}
    new = [metric.label for metric in document.metrics if metric.key not in known]
    named, when = join_truncated(new, NAMED), tested.as_of.strftime("%Y-%m-%d %H:%M:%S")
    if new:
        return NEW_METRICS.format(when=when, named=named)
    return (OLDER_FAILED if tested.message else OLDER).format(when=when)


def choose(document: Correlations, query: QueryDict) -> Correlations:
    """Keep the metrics of the address; rank and mark what the verdict and intervals bear out."""
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    scope = selection.one_of(query, "scope", list(selection.SCOPES))
    found = selection.subset(document, query)
    compared, trust = document.comparison, document.trust
    if compared:
        compared = selection.subset(compared, present(compared, query))
    marking = marks.marking(trust, compared, correction, scope)
    shown = {metric.key: metric.label for metric in found.metrics}
    states, floor_marks = marks.against_floor(trust, compared, shown)
    rows = [_marked(row, marking, states) for row in document.rows if row.key in shown]
    is_bounded = selection.shows_bounds(query)
    rows += bound_rows(document) if is_bounded else []
    return replace(
        found,
        comparison=compared,
        rows=sorted(rows, key=_by_value),
        marks=marks.failure(document.failed) or marking.sentence,
        shown_bounds=compared.bounds if compared and is_bounded else None,
        floor_marks=floor_marks,
        trust=trust and with_reasons(trust, marks.uncertain(compared)),
    )


def _marked(row: Row, marking: marks.Marking, states: Mapping[str, str]) -> Row:
    """A metric's row with its rank and where it stands against the floor."""
    return replace(
        row,
        rank=marking.ranks.get(row.key),
        is_best=row.key in marking.best,
        floor=states.get(row.key, ""),
    )


def _by_value(row: Row) -> float:
    """Best first; a row without a value last."""
    return math.inf if row.value is None else -row.value


def context(request: HttpRequest, campaign: Campaign, document: Correlations) -> dict[str, Any]:
    """The signatures, and the metrics that have not scored yet."""
    startable, refused = unscored(campaign, document.all_metrics)
    return {
        "signatures": list(dict.fromkeys(filter(None, (row.signature for row in document.rows)))),
        "chart": chart([row for row in document.rows if row.value is not None][:LEADING]),
        "columns": _columns(document),
        "counts": sorted({row.n for row in document.rows if row.kind == METRIC}),
        "startable": startable,
        "refused": refused,
    }


def _columns(document: Correlations) -> list[tuple[str, str, str]]:
    """The columns beside the chosen statistic: those of outliers where any row has a number."""
    chosen = _chosen(document)
    found = [each for each in OTHERS if each[0] != chosen]
    wanted = WITHOUT_OUTLIERS[: 1 if chosen == "r_system" else 2]
    rows = [row for row in document.rows if row.kind == METRIC]
    return found + [
        each for each in wanted if any(getattr(row, each[0]) is not None for row in rows)
    ]


def _chosen(document: Correlations) -> str:
    """The column that is the chosen statistic itself, which stands once."""
    return SAME.get(document.statistic, "") if document.grouping == "none" else ""


def unscored(campaign: Campaign, metrics: Sequence[Metric]) -> tuple[list[MetricInfo], list[str]]:
    """Return the metrics that could score a campaign's outputs, and why others cannot, as it was
    a moment ago."""
    seen = frozenset(metric.metric for metric in metrics)
    return ttl_cache(("unscored", campaign.pk, seen), lambda: _unscored(campaign, seen))


def _unscored(campaign: Campaign, seen: Set[str]) -> tuple[list[MetricInfo], list[str]]:
    # Metrics with a checkpoint are looked for by those who have it.
    missing = [info for name, info in infos().items() if name not in seen and not info.checkpoint]
    refusals = refusals_for(campaign.test_set, list(campaign.systems.all())) if missing else {}
    startable = [info for info in missing if info.name not in refusals]
    return startable, [refusals[info.name] for info in missing if info.name in refusals]


def tables(document: Correlations) -> list[latex.Table]:
    """The page's table for a paper."""
    body = [
        [
            latex.Cell(_named(row)),
            latex.Cell("–" if row.rank is None else str(row.rank)),
            latex.number(row.value, is_bold=row.is_best),
            latex.Cell(latex.interval(row.low, row.high) or "–"),
            *map(latex.number, (row.r_hybrid, row.r_limit, row.r_system, row.tau, row.r_segment)),
        ]
        for row in document.rows
    ]
    head = latex.texts(
        "Metric", "Rank", document.statistic_label, "95% interval",
        "r, hybrids", "r, limit", "r, systems", "τ-b", "r, segments",
    )  # fmt: skip
    caption = (
        f"Agreement of metrics with {document.human_scores} of {document.name}."
        f"{_methods(document)}{_partly(document)}"
    )
    return [latex.Table(caption, f"{document.campaign}-metrics", "lrrrrrrrr", [head], body)]


def _named(row: Row) -> str:
    """A metric that lacks judged outputs has numbers of others: its n stands with it."""
    label = floored(row.label, row.floor)
    return f"{label} (n = {row.n:,})" if row.n_missing else label


def _partly(document: Correlations) -> str:
    if not any(row.n_missing for row in document.rows):
        return ""
    return f" With n: over so many of {document.n_judged:,} judged outputs, unlike the others."


def _methods(document: Correlations) -> str:
    compared = document.comparison
    if not compared:
        return ""
    how = f" Intervals: {compared.interval}. Ranks: {compared.test_label}, p ≤ .05."
    return " ".join(filter(None, [how, document.marks, document.floor_marks]))


def present(document: OfMetrics, query: QueryDict) -> QueryDict:
    """Drop from an address the metrics that one campaign of a study does not have."""
    known = {metric.key for metric in document.metrics}
    mine = query.copy()
    mine.setlist("metric", [key for key in query.getlist("metric") if key in known])
    return mine


CORRELATIONS = Page(
    name="correlations",
    title="Correlations",
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
    takes=("statistic", "grouping", "test", "correction", "scope", "bounds"),
    repeated=("metric",),
)
