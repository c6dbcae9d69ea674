"""The table of metrics of a campaign."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.correlations.document import DEFAULT, Correlations, Row
from dashboards.documents.results import Completion
from dashboards.pages import selection, statistics
from dashboards.pages.page import Page
from dashboards.pages.question_form import question_form
from dashboards.papers import latex
from dashboards.significance.document import Comparison, Metric, OfMetrics
from dashboards.trust import marks
from dashboards.trust.reasons import with_reasons
from metrics.catalogue import infos
from metrics.runs.starting import refusals_for

R = TypeVar("R", Metric, Row)
COLUMNS = (
    *("campaign", "scores", "key", "label", "metric", "signature", "origin", "is_turned"),
    *("n", "n_missing", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit"),
    *("value", "low", "high", "rank"),
)


def ask(query: QueryDict) -> str:
    """The statistic and grouping of an address; the tests are each statistic's first."""
    question = statistics.from_query(query, DEFAULT)
    first = statistics.Question(question.statistic, question.grouping, question.statistic.tests[0])
    return first.key


def complete(document: Correlations, tested: Completion[Comparison]) -> Correlations:
    """Add intervals, and the comparison behind the ranks, which may be of older data."""
    found = tested.document
    ends = {m.key: (m.low, m.high) for m in (found.metrics if found else ())}
    told = [*document.warnings, *(found.comparison_warnings if found else ())]
    return replace(
        document,
        metrics=[_with_ends(metric, ends) for metric in document.metrics],
        rows=[_with_ends(row, ends) for row in document.rows],
        comparison=found,
        interval=found.interval if found else "",
        intervals_note=_age(tested),
        warnings=list(dict.fromkeys(told)),
    )


def _with_ends(row: R, ends: Mapping[str, tuple[float | None, float | None]]) -> R:
    low, high = ends.get(row.key, (None, None))
    return replace(row, low=low, high=high)


def _age(tested: Completion[Comparison]) -> str:
    """What to say of intervals that are not of the same data as the values."""
    if tested.is_fresh:
        return ""
    if tested.as_of is None:
        return "Intervals and ranks are being computed."
    when = tested.as_of.strftime("%Y-%m-%d %H:%M:%S")
    return (
        f"Intervals and ranks are as of {when} UTC, of older data; newer ones are being computed."
    )


def choose(document: Correlations, query: QueryDict) -> Correlations:
    """Keep the metrics of the address; rank and mark what the verdict and intervals bear out."""
    found = selection.subset(document, query)
    compared, trust = document.comparison, document.trust
    if compared:
        compared = selection.subset(compared, present(compared, query))
    marking = marks.marking(trust, compared, selection.ranks(compared) if compared else {})
    shown = {metric.key for metric in found.metrics}
    return replace(
        found,
        comparison=compared,
        rows=[
            replace(row, rank=marking.ranks.get(row.key), is_best=row.key in marking.best)
            for row in document.rows
            if row.key in shown
        ],
        marks=marking.sentence,
        trust=trust and with_reasons(trust, marks.uncertain(compared)),
    )


def context(request: HttpRequest, campaign: Campaign, document: Correlations) -> dict[str, Any]:
    """The form, the signatures, and the metrics that have not scored yet."""
    seen = {metric.metric for metric in document.all_metrics}
    # Metrics with a checkpoint are looked for by those who have it.
    missing = [info for name, info in infos().items() if name not in seen and not info.checkpoint]
    refusals = refusals_for(campaign.test_set, list(campaign.systems.all())) if missing else {}
    labels = {metric.key: metric.label for metric in document.all_metrics}
    return {
        "form": question_form(request.GET, DEFAULT, labels),
        "signatures": list(dict.fromkeys(row.signature for row in document.rows)),
        "startable": [info for info in missing if info.name not in refusals],
        "refused": [refusals[info.name] for info in missing if info.name in refusals],
    }


def tables(document: Correlations) -> list[latex.Table]:
    """The page's table for a paper."""
    body = [
        [
            latex.Cell(row.label),
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
        f"Agreement of metrics with {document.human_scores} of {document.name}.{_methods(document)}"
    )
    return [latex.Table(caption, f"{document.campaign}-metrics", "lrrrrrrrr", [head], body)]


def _methods(document: Correlations) -> str:
    compared = document.comparison
    if not compared:
        return ""
    how = f" Intervals: {compared.interval}. Ranks: {compared.test_label}, p ≤ .05."
    return f"{how} {document.marks}".rstrip()


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
    slower="significance",
    complete=complete,
    template="dashboards/correlations.html",
    columns=COLUMNS,
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
    takes=("statistic", "grouping"),
    repeated=("metric",),
)
