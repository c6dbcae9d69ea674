"""Dashboard, what-if and sample size for a paper."""

from typing import Any

from dashboards.charts.whatif import largest, name_of
from dashboards.overview.document import Overview
from dashboards.papers.latex import Cell, Table, interval, number, texts
from metaeval.sensitivity import LEVELS as STATISTICS

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


def whatif_tables(document: Document) -> list[Table]:
    """What moves the chosen correlation most, and by how much for each metric."""
    of = document["of"]
    if not document["scenarios"]:
        return []
    ordered = largest(document["scenarios"], of, SHOWN)
    body = [
        [
            *texts(one["left_out"], one["left_out_kind"], one["n_outputs"]),
            number(one[of]["change"]),
            *texts(one[of]["of"], one[of]["n_ranks"], one[of]["best"]),
        ]
        for one in ordered
    ]
    head = texts("Left out", "Kind", "Outputs", "Change", "of", "Ranks changed", "First then")
    caption = (
        f"{STATISTICS[of]}: the largest change of any metric when one annotator, system or "
        f"document is left out ({document['human_scores']})."
    )
    return [
        Table(caption, f"{document['campaign']}-whatif", "llrrlrl", [head], body),
        _by_metric(document, of),
    ]


def _by_metric(document: Document, of: str) -> Table:
    shown = largest(document["scenarios"], of, DETAILED)
    body = [
        [
            Cell(measure["label"]),
            number(measure[of]),
            *(number(one[of]["changes"][at]) for one in shown),
        ]
        for at, measure in enumerate(document["base"])
    ]
    head = texts("Metric", "Now", *(name_of(one) for one in shown))
    caption = f"{STATISTICS[of]}: its change by metric when the column is left out."
    columns = "l" + "r" * (len(head) - 1)
    return Table(caption, f"{document['campaign']}-changes", columns, [head], body)


def samplesize_tables(document: Document) -> list[Table]:
    """Two lines a metric: the mean of the samples, and what holds 95 % of them."""
    of, sizes = document["of"], document["sizes"]
    lines: dict[str, list[Document]] = {}
    for row in document["rows"]:
        if row["statistic"] == of:
            lines.setdefault(row["label"], []).append(row)
    body = []
    for label, found in lines.items():
        body.append([Cell(label), *(number(row["mean"], 3) for row in found)])
        body.append([Cell(""), *texts(*(interval(row["low"], row["high"], 2) for row in found))])
    caption = (
        f"{STATISTICS[of]} by number of segments: mean of {document['n_samples']} samples drawn "
        "with replacement, and the interval that holds 95% of them."
    )
    head = texts("Segments", *sizes)
    columns = "l" + "r" * len(sizes)
    return [Table(caption, f"{document['campaign']}-samplesize", columns, [head], body)]
