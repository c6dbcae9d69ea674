"""Scale, time and drift: data, figures, and the part of the page *Agreement and scale*."""

from dataclasses import fields
from typing import Any

from dashboards.overview.annotators import Row
from dashboards.overview.document import Overview
from dashboards.overview.figures import FIGURES
from dashboards.pages.page import Page
from dashboards.papers.latex import Table, number, texts
from metaeval.messages import message

# The most rows, so that a page stays below 100 KiB.
SHOWN, DRIFTS = 60, 30


def shortened(document: Overview) -> dict[str, Any]:
    """Return the rows of a page; the data have all annotators of very large campaigns."""
    rows = sorted(document.rows, key=lambda row: (not row.is_suspect, -row.n))
    shown = {row.annotator for row in rows[:SHOWN]}
    tested = [row for row in document.rows if not row.is_excluded]
    return {
        "rows": [row for row in document.rows if row.annotator in shown],
        "drifts": sorted(tested, key=_least_p)[:DRIFTS],
        "n_drifting": sum(row.z_drift_is_drifting is True for row in tested),
    }


def _least_p(row: Row) -> float:
    found = (row.z_drift_adjusted, row.seconds_drift_adjusted)
    return min((p for p in found if p is not None), default=2.0)


def tables(document: Overview) -> list[Table]:
    """Return the table of annotators: judgments, scores, seconds, traps and agreement."""
    body = [
        [
            *texts(row.annotator, row.n),
            *(number(value, 1) for value in (row.raw_mean, row.raw_sd, row.seconds_median)),
            number(row.traps_low_share, 2),
            number(row.r_without_traps),
        ]
        for row in document.rows
        if not row.is_excluded
    ]
    head = texts("Annotator", "Judgments", "Mean", "sd", "Seconds", "Traps low", "r with the rest")
    caption = message(
        "overview.caption",
        "Annotators: raw scores, median seconds per item, share of traps rated at most 20, and r "
        "with the mean of the others.",
    )
    return [Table(caption, f"{document.campaign}-annotators", "lrrrrrr", [head], body)]


OVERVIEW = Page(
    name="dashboard",
    title=message("page.dashboard", "Scale, time and drift"),
    kind="overview",
    figures=FIGURES,
    template="",
    tab="quality",
    columns=[column.name for column in fields(Row)],
    tables=tables,
    without=("humans", "outliers"),
)
