"""The pages overview, what-if and sample size: their columns, and what templates need besides."""

from dataclasses import fields
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.charts.whatif import largest, name_of
from dashboards.overview.annotators import Row
from dashboards.overview.document import Overview
from dashboards.pages.page import Page
from dashboards.pages.selection import one_of
from dashboards.papers.overview import dashboard_tables, samplesize_tables, whatif_tables
from dashboards.trust.marks import forbidden
from dashboards.whatif.samplesize import SHARES
from metaeval.sensitivity import LEVELS as STATISTICS

# Scenarios with a column a measure; everything is in the data.
DETAILED = 12
# A page has 100 KiB.
SHOWN, DRIFTS = 100, 40
Document = dict[str, Any]


def statistic_of(query: QueryDict) -> str:
    """Return the statistic that the reader asks for with `?of=`. Raises FilterError."""
    return one_of(query, "of", list(STATISTICS))


def choose(document: Document, query: QueryDict) -> Document:
    """Note in the document which statistic the reader looks at; it holds all of them.

    Ranks of metrics go where the verdict of trust forbids marks.
    """
    found = document | {"of": statistic_of(query)}
    is_bare = "scenarios" in document and forbidden(document.get("trust"))
    return _without_ranks(found) if is_bare else found


def _without_ranks(document: Document) -> Document:
    bare = {"n_ranks": None, "best": ""}
    ranks = {f"{name}_{what}": None for name in STATISTICS for what in ("rank", "rank_change")}
    scenarios = [
        one | {name: one[name] | bare for name in STATISTICS} for one in document["scenarios"]
    ]
    return document | {"scenarios": scenarios, "rows": [row | ranks for row in document["rows"]]}


def overview_context(
    request: HttpRequest, campaign: Campaign, document: Overview
) -> dict[str, Any]:
    """Cut the tables of very large campaigns to who matters; the data have everybody."""
    rows = sorted(document.rows, key=lambda row: (not row.is_suspect, -row.n))
    shown = {row.annotator for row in rows[:SHOWN]}
    tested = [row for row in document.rows if not row.is_excluded]
    return {
        "rows": [row for row in document.rows if row.annotator in shown],
        "drifts": sorted(tested, key=_least_p)[:DRIFTS],
    }


def _least_p(row: Row) -> float:
    found = (row.z_drift_adjusted, row.seconds_drift_adjusted)
    return min((p for p in found if p is not None), default=2.0)


def whatif_context(request: HttpRequest, campaign: Campaign, document: Document) -> Document:
    """Sort scenarios by how much they move, and set the largest against the measures."""
    of = document["of"]
    ordered = largest(document["scenarios"], of, len(document["scenarios"]))
    detailed = ordered[:DETAILED]
    return {
        "statistic": STATISTICS[of],
        "movements": [{**one, **one[of]} for one in ordered[:SHOWN]],
        "n_hidden": max(0, len(ordered) - SHOWN),
        "scenario_names": [name_of(one) for one in detailed],
        "changes": [
            {
                "label": measure["label"],
                "now": measure[of],
                "cells": [one[of]["changes"][at] for one in detailed],
            }
            for at, measure in enumerate(document["base"])
        ],
    }


def samplesize_context(request: HttpRequest, campaign: Campaign, document: Document) -> Document:
    """Put the rows of one statistic into a line a measure."""
    of = document["of"]
    lines: dict[str, list[Document]] = {}
    for row in document["rows"]:
        if row["statistic"] == of:
            lines.setdefault(row["label"], []).append(row)
    return {
        "statistic": STATISTICS[of],
        "columns": list(zip(SHARES, document["sizes"], strict=False)),
        "lines": list(lines.items()),
    }


OVERVIEW = Page(
    name="dashboard",
    title="Dashboard",
    kind="overview",
    template="dashboards/overview.html",
    columns=[column.name for column in fields(Row)],
    context=overview_context,
    tables=dashboard_tables,
)
WHATIF: Page[Any] = Page(
    name="whatif",
    title="What would change?",
    kind="whatif",
    template="dashboards/whatif.html",
    columns=(
        *("left_out_kind", "left_out", "n_outputs", "key", "label"),
        *(
            f"{name}{part}"
            for name in STATISTICS
            for part in ("", "_change", "_rank", "_rank_change")
        ),
    ),
    context=whatif_context,
    choose=choose,
    tables=whatif_tables,
    takes=("of",),
)
SAMPLESIZE: Page[Any] = Page(
    name="samplesize",
    title="Sample size",
    kind="samplesize",
    template="dashboards/samplesize.html",
    columns=(
        *("key", "label", "statistic", "share", "n_segments", "mean", "low", "high", "n_defined"),
    ),
    context=samplesize_context,
    choose=choose,
    tables=samplesize_tables,
    takes=("of",),
)
