"""The tables of metrics of a study: its campaigns side by side, and averages."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.correlations.document import Correlations
from dashboards.correlations.page import COLUMNS, ask, choose, complete, present
from dashboards.pages.page import StudyPage
from dashboards.papers import latex
from dashboards.studies.averages import (
    LEVELS,
    STATISTICS,
    both_levels,
    by_family,
    columns_of,
    latex_table,
    levels_latex,
    mark,
    study_table,
    with_cells,
)
from dashboards.trust.shown import worst_of
from metrics.catalogue import infos

Document = dict[str, Any]

# The table of a study with intervals and ranks; the others show values alone.
CHOSEN = "value"


def combine(campaigns: Sequence[Campaign], documents: Sequence[Correlations]) -> Document:
    """Put the documents of a study's campaigns side by side."""
    labels = {row.key: row.label for document in documents for row in document.rows}
    metrics = {row.key: row.metric for document in documents for row in document.rows}
    known = infos(retired=True)
    by_campaign = [{row.key: row for row in document.rows} for document in documents]
    chosen = documents[0].statistic_label if documents else ""
    titles = {CHOSEN: f"Chosen: {chosen}", **STATISTICS}
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
            f"{document.name}: {warning}" for document in documents for warning in document.warnings
        ],
        "intervals_note": _ages(documents),
        "all_metrics": [{"key": key, "label": label} for key, label in labels.items()],
        "rows": [],
    }


def _ages(documents: Sequence[Correlations]) -> str:
    notes = [f"{d.name}: {d.intervals_note}" for d in documents if d.intervals_note]
    return " ".join(notes)


def choose_of_study(document: Document, query: QueryDict) -> Document:
    """Keep the metrics of the address; rank and mark within each campaign, averages never."""
    wanted = set(query.getlist("metric"))
    campaigns = [choose(one, present(one, query)) for one in document["campaigns"]]
    best = [{row.key for row in one.rows if row.is_best} for one in campaigns]
    kept = []
    for table in document["tables"]:
        rows = [r for r in table["rows"] if not wanted or r["key"] in wanted]
        kept.append(table | {"rows": mark(rows, best if table["statistic"] == CHOSEN else [])})
    return document | {
        "campaigns": campaigns,
        "tables": kept,
        "marks": [f"{one.name}: {one.marks}" for one in campaigns if one.marks],
        "trust": worst_of([one.trust for one in campaigns]),
        "rows": [row for one in campaigns for row in one.rows],
        "averages": {
            table["statistic"]: {row["key"]: row["average"] for row in table["rows"]}
            for table in kept
        },
    }


def context_of_study(request: HttpRequest, study: str, document: Document) -> dict[str, Any]:
    """The form, and intervals and ranks of the chosen statistic by campaign."""
    found = [{row.key: row for row in one.rows} for one in document["campaigns"]]
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


STUDY: StudyPage[Any] = StudyPage(
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
    takes=("statistic", "grouping"),
    repeated=("metric",),
)
