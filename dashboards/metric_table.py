"""The table of metrics: of a campaign, and of a study's campaigns side by side."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards import choices, latex, statistics
from dashboards.analyses.correlations import DEFAULT
from dashboards.averages import (
    LEVELS,
    STATISTICS,
    both_levels,
    by_family,
    columns_of,
    latex_table,
    levels_latex,
    mark_best,
    study_table,
    with_cells,
)
from dashboards.pages import Page, StudyPage
from dashboards.questions import question_form
from dashboards.results import Completion
from metrics.catalogue import infos
from metrics.runs import refusals_for

Document = dict[str, Any]

COLUMNS = (
    "campaign",
    "scores",
    "key",
    "label",
    "metric",
    "signature",
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
COMPARED = ("value", "tau", "r_segment", "r_system", "r_hybrid", "r_limit")


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
    """Keep the metrics of the address, rank them, and find the best value of each column."""
    found = choices.subset(document, query)
    compared = document["comparison"]
    if compared:
        compared = choices.subset(compared, _present(compared, query))
    ranks = choices.ranks(compared) if compared else {}
    shown = {metric["key"] for metric in found["metrics"]}
    rows = [
        row | {"rank": ranks.get(row["key"])} for row in document["rows"] if row["key"] in shown
    ]
    return found | {"comparison": compared, "rows": rows, "best": _maxima(rows)}


def _maxima(rows: Sequence[Document]) -> dict[str, float]:
    known = {name: [row[name] for row in rows if row[name] is not None] for name in COMPARED}
    return {name: max(values) for name, values in known.items() if values}


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
    best = document["best"]
    names = ("r_hybrid", "r_limit", "r_system", "tau", "r_segment")
    body = [
        [
            latex.Cell(row["label"]),
            latex.Cell("–" if row["rank"] is None else str(row["rank"])),
            latex.number(row["value"], is_bold=row["value"] == best.get("value")),
            _interval(row),
            *(latex.number(row[name], is_bold=row[name] == best.get(name)) for name in names),
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
    return f" Intervals: {compared['interval']}. Ranks: {compared['test_label']}, p ≤ .05."


def _interval(row: Document) -> latex.Cell:
    if row["low"] is None or row["high"] is None:
        return latex.Cell("–")
    return latex.Cell(f"[{row['low']:.3f}, {row['high']:.3f}]".replace("-", "−"))


def combine(campaigns: Sequence[Campaign], documents: Sequence[Document]) -> Document:
    """Put the documents of a study's campaigns side by side."""
    labels = {row["key"]: row["label"] for document in documents for row in document["rows"]}
    metrics = {row["key"]: row["metric"] for document in documents for row in document["rows"]}
    known = infos(retired=True)
    by_campaign = [{row["key"]: row for row in document["rows"]} for document in documents]
    chosen = documents[0]["statistic_label"] if documents else ""
    titles = {"value": f"Chosen: {chosen}", **STATISTICS}
    return {
        "study": campaigns[0].study if campaigns else "",
        "columns": columns_of(campaigns),
        "campaigns": list(documents),
        "statistic_label": chosen,
        "families": {
            key: known[name].family_label if name in known else "" for key, name in metrics.items()
        },
        "tables": [
            study_table(statistic, title, labels, by_campaign)
            for statistic, title in titles.items()
        ],
        "warnings": [
            f"{document['name']}: {warning}"
            for document in documents
            for warning in document["warnings"]
        ],
        "intervals_note": _ages(documents),
        "all_metrics": [{"key": key, "label": label} for key, label in labels.items()],
        "rows": [],
    }


def _ages(documents: Sequence[Document]) -> str:
    notes = [f"{d['name']}: {d['intervals_note']}" for d in documents if d["intervals_note"]]
    return " ".join(notes)


def choose_of_study(document: Document, query: QueryDict) -> Document:
    """Keep the metrics of the address; rank within each campaign, mark the best again."""
    wanted = set(query.getlist("metric"))
    campaigns = [choose(one, _present(one, query)) for one in document["campaigns"]]
    kept = [
        table | {"rows": mark_best([r for r in table["rows"] if not wanted or r["key"] in wanted])}
        for table in document["tables"]
    ]
    return document | {
        "campaigns": campaigns,
        "tables": kept,
        "rows": [row for one in campaigns for row in one["rows"]],
        "averages": {
            table["statistic"]: {row["key"]: row["average"] for row in table["rows"]}
            for table in kept
        },
    }


def _present(document: Document, query: QueryDict) -> QueryDict:
    """Drop from an address the metrics that one campaign of a study does not have."""
    known = {metric["key"] for metric in document["metrics"]}
    mine = query.copy()
    mine.setlist("metric", [key for key in query.getlist("metric") if key in known])
    return mine


def context_of_study(request: HttpRequest, study: str, document: Document) -> dict[str, Any]:
    """The form, and intervals and ranks of the chosen statistic by campaign."""
    found = [{row["key"]: row for row in one["rows"]} for one in document["campaigns"]]
    first = document["tables"][0]
    shown = [
        {
            **row,
            "cells": [
                {"value": value, "is_best": is_best, "found": by_key.get(row["key"])}
                for value, is_best, by_key in zip(row["values"], row["best"], found, strict=False)
            ],
        }
        for row in first["rows"]
    ]
    return {
        "form": question_form(request.GET, DEFAULT, document["all_metrics"]),
        "chosen": shown,
        "levels": list(LEVELS.values()),
        "both_levels": both_levels(document["tables"]),
        "others": [with_cells(table) for table in document["tables"][1:]],
    }


def study_tables(document: Document) -> list[latex.Table]:
    """Tables 6 and 7 of Cheng et al. 2023 with the study's own numbers, and the others."""
    both = levels_latex(document["columns"], both_levels(document["tables"]))
    return [
        both,
        *(
            latex_table(
                f"{table['title']}: agreement of metrics with humans.",
                f"study-{table['statistic']}",
                document["columns"],
                by_family(table["rows"], document["families"]),
            )
            for table in document["tables"]
        ),
    ]


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
)
STUDY = StudyPage(
    name="correlations",
    title="Correlations",
    kind="correlations",
    slower="significance",
    complete=complete,
    template="dashboards/study.html",
    columns=COLUMNS,
    context=context_of_study,
    ask=ask,
    choose=choose_of_study,
    tables=study_tables,
    combine=combine,
)
