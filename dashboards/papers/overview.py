"""Dashboard, what-if and sample size for a paper."""

from typing import Any

from dashboards.overview.document import Overview
from dashboards.papers.latex import Table, number, texts

Document = dict[str, Any]
# What a page of paper takes.
SHOWN, DETAILED = 40, 6


def dashboard_tables(document: Overview) -> list[Table]:
    """The annotators: how many judgments, where on the scale, how fast, what of the traps."""
    body = [
        [
            *texts(row.annotator, row.n),
            *(number(value, 1) for value in (row.raw_mean, row.raw_sd, row.seconds_median)),
            number(row.traps_low_share, 2),
            number(row.r_without_traps, 3),
        ]
        for row in document.rows
        if not row.is_excluded
    ]
    head = texts("Annotator", "Judgments", "Mean", "sd", "Seconds", "Traps low", "r with the rest")
    caption = (
        "Annotators: raw scores, median seconds an item, share of traps rated at most 20, and r "
        "with the mean of the others."
    )
    return [Table(caption, f"{document.campaign}-annotators", "lrrrrrr", [head], body)]
