"""The table of metrics of a campaign."""

from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.correlations.document import DEFAULT
from dashboards.documents.results import Completion
from dashboards.pages import selection, statistics
from dashboards.pages.page import Page
from dashboards.pages.question_form import question_form
from dashboards.papers import latex
from dashboards.trust import marks
from dashboards.trust.reasons import with_reasons
from metrics.catalogue import infos
from metrics.runs.starting import refusals_for

Document = dict[str, Any]

COLUMNS = (
    "campaign",
    "scores",
    "key",
    "label",
    "metric",
    "signature",
    "origin",
    "is_turned",
    "n",
    "n_missing",
    "tau",
    "r_segment",
    "n_systems",
    "r_system",
    "r_hybrid",
    "r_limit",
    "value",
    "low",
    "high",
    "rank",
)


def ask(query: QueryDict) -> str:
    """The statistic and grouping of an address; the tests are each statistic's first."""
    question = statistics.from_query(query, DEFAULT)
    first = statistics.Question(question.statistic, question.grouping, question.statistic.tests[0])
    return first.key


def complete(document: Document, tested: Completion) -> Document:
    """Add intervals, and the comparison behind the ranks, which may be of older data.

    `comparison` is a document of `analyses.significance`, None until there is one.
    """
    found = tested.document or {"metrics": [], "comparison_warnings": [], "interval": ""}
    ends = {metric["key"]: metric for metric in found["metrics"]}

    def with_ends(row: Document) -> Document:
        return row | {name: ends.get(row["key"], {}).get(name) for name in ("low", "high")}

    return document | {
        "metrics": [with_ends(metric) for metric in document["metrics"]],
        "rows": [with_ends(row) for row in document["rows"]],
        "comparison": tested.document,
        "interval": found["interval"],
        "intervals_note": _age(tested),
        "warnings": list(dict.fromkeys([*document["warnings"], *found["comparison_warnings"]])),
    }


def _age(tested: Completion) -> str:
    """What to say of intervals that are not of the same data as the values."""
    if tested.is_fresh:
        return ""
    if tested.as_of is None:
        return "Intervals and ranks are being computed."
    when = tested.as_of.strftime("%Y-%m-%d %H:%M:%S")
    return (
        f"Intervals and ranks are as of {when} UTC, of older data; newer ones are being computed."
    )


def choose(document: Document, query: QueryDict) -> Document:
    """Keep the metrics of the address; rank and mark what the verdict and intervals bear out."""
    found = selection.subset(document, query)
    compared = document["comparison"]
    if compared:
        compared = selection.subset(compared, present(compared, query))
    trust = document.get("trust")
    marking = marks.marking(trust, compared, selection.ranks(compared) if compared else {})
    shown = {metric["key"] for metric in found["metrics"]}
    rows = [
        row | {"rank": marking.ranks.get(row["key"]), "is_best": row["key"] in marking.best}
        for row in document["rows"]
        if row["key"] in shown
    ]
    return found | {
        "comparison": compared,
        "rows": rows,
        "marks": marking.sentence,
        "trust": trust and with_reasons(trust, marks.uncertain(compared)),
    }


def context(request: HttpRequest, campaign: Campaign, document: Document) -> dict[str, Any]:
    """The form, the signatures, and the metrics that have not scored yet."""
    seen = {metric["metric"] for metric in document["all_metrics"]}
    # Metrics with a checkpoint are looked for by those who have it.
    missing = [info for name, info in infos().items() if name not in seen and not info.checkpoint]
    refusals = refusals_for(campaign.test_set, list(campaign.systems.all())) if missing else {}
    return {
        "form": question_form(request.GET, DEFAULT, document["all_metrics"]),
        "signatures": list(dict.fromkeys(row["signature"] for row in document["rows"])),
        "startable": [info for info in missing if info.name not in refusals],
        "refused": [refusals[info.name] for info in missing if info.name in refusals],
    }


def tables(document: Document) -> list[latex.Table]:
    """The page's table for a paper."""
    names = ("r_hybrid", "r_limit", "r_system", "tau", "r_segment")
    body = [
        [
            latex.Cell(row["label"]),
            latex.Cell("–" if row["rank"] is None else str(row["rank"])),
            latex.number(row["value"], is_bold=row["is_best"]),
            latex.Cell(latex.interval(row["low"], row["high"]) or "–"),
            *(latex.number(row[name]) for name in names),
        ]
        for row in document["rows"]
    ]
    head = latex.texts(
        "Metric", "Rank", document["statistic_label"], "95% interval",
        "r, hybrids", "r, limit", "r, systems", "τ-b", "r, segments",
    )  # fmt: skip
    caption = (
        f"Agreement of metrics with {document['human_scores']} of {document['name']}."
        f"{_methods(document)}"
    )
    return [latex.Table(caption, f"{document['campaign']}-metrics", "lrrrrrrrr", [head], body)]


def _methods(document: Document) -> str:
    compared = document["comparison"]
    if not compared:
        return ""
    how = f" Intervals: {compared['interval']}. Ranks: {compared['test_label']}, p ≤ .05."
    return f"{how} {document['marks']}".rstrip()


def present(document: Document, query: QueryDict) -> QueryDict:
    """Drop from an address the metrics that one campaign of a study does not have."""
    known = {metric["key"] for metric in document["metrics"]}
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
