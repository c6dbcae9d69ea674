"""Show the pages on excluded data and sample size, with tables for papers."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.comparisons.selection import one_of
from dashboards.pages.page import Page
from dashboards.papers.latex import Cell, Table, interval, number, texts
from dashboards.trust.marks import forbidden
from dashboards.whatif.document import Movements, Row, WhatIf, largest
from dashboards.whatif.figures import MOVEMENT, SAMPLE_SIZE
from dashboards.whatif.samplesize import SHARES, Point, SampleSize
from metaeval.messages import message
from metaeval.sensitivity import LEVELS

# Scenarios on a page (of 100 KiB), and those with a column of their own; the data have all.
SHOWN, DETAILED = 100, 7
# The same numbers in a paper.
ON_PAPER, DETAILED_ON_PAPER = 40, 6
D = TypeVar("D", WhatIf, SampleSize)


def statistic_of(query: QueryDict) -> str:
    """Return the statistic that the reader chose with `?of=`. Raises FilterError."""
    return one_of(query, "of", list(LEVELS))


def choose(document: D, query: QueryDict) -> D:
    """Set the statistic that the reader chose in the document, which has all of them."""
    return replace(document, of=statistic_of(query))


def choose_marks(document: WhatIf, query: QueryDict) -> WhatIf:
    """Set the statistic, and remove ranks of metrics where the verdict forbids marks."""
    found = choose(document, query)
    if not forbidden(document.trust):
        return found
    ranks: dict[str, Any] = dict.fromkeys(
        f"{name}_{what}" for name in LEVELS for what in ("rank", "rank_change")
    )
    return replace(
        found,
        scenarios=[_without_ranks(one) for one in document.scenarios],
        rows=[replace(row, **ranks) for row in document.rows],
    )


def _without_ranks(one: Movements) -> Movements:
    bare: dict[str, Any] = {name: replace(one.by(name), n_ranks=None, best="") for name in LEVELS}
    return replace(one, **bare)


def whatif_context(request: HttpRequest, campaign: Campaign, document: WhatIf) -> dict[str, Any]:
    """Sort scenarios by their largest change, and list the changes of measures in the largest."""
    ordered = largest(document.scenarios, document.of)
    return {
        "statistic": LEVELS[document.of],
        "movements": [(one, one.by(document.of)) for one in ordered[:SHOWN]],
        "n_hidden": max(0, len(ordered) - SHOWN),
        "detailed": ordered[:DETAILED],
        "changes": _changes(document, ordered[:DETAILED]),
    }


def _changes(
    document: WhatIf, shown: Sequence[Movements]
) -> list[tuple[str, float | None, list[float | None]]]:
    """Return every measure's label, value and changes in some scenarios."""
    of = document.of
    return [
        (measure.label, getattr(measure, of), [one.by(of).changes[at] for one in shown])
        for at, measure in enumerate(document.base)
    ]


def samplesize_context(
    request: HttpRequest, campaign: Campaign, document: SampleSize
) -> dict[str, Any]:
    """Return the statistic, and the shares and sizes of the columns."""
    return {
        "statistic": LEVELS[document.of],
        "columns": list(zip(SHARES, document.sizes, strict=False)),
    }


def whatif_tables(document: WhatIf) -> list[Table]:
    """Return the largest changes of the chosen correlation, and the changes of each metric."""
    of, ordered = document.of, largest(document.scenarios, document.of)
    if not document.scenarios:
        return []
    body = [
        [
            *texts(one.excluded, one.kind, one.n_outputs),
            number(moved.change),
            *texts(moved.of, moved.n_ranks, moved.best),
        ]
        for one in ordered[:ON_PAPER]
        for moved in [one.by(of)]
    ]
    head = texts(
        "Excluded", "Kind", "Outputs", "Change", "of", "Ranks changed", "Best metric afterwards"
    )
    caption = (
        f"{LEVELS[of]}: the largest change of any metric when one annotator, system or "
        f"document is excluded ({document.human_scores})."
    )
    return [
        Table(caption, f"{document.campaign}-whatif", "llrrlrl", [head], body),
        _by_metric(document, ordered[:DETAILED_ON_PAPER]),
    ]


def _by_metric(document: WhatIf, shown: Sequence[Movements]) -> Table:
    body = [
        [Cell(label), *(number(value) for value in (now, *cells))]
        for label, now, cells in _changes(document, shown)
    ]
    head = texts("Metric", "Now", *(one.title for one in shown))
    caption = f"{LEVELS[document.of]}: change by metric when the column is excluded."
    columns = "l" + "r" * (len(head) - 1)
    return Table(caption, f"{document.campaign}-changes", columns, [head], body)


def samplesize_tables(document: SampleSize) -> list[Table]:
    """Return two rows per metric: the mean of the samples, and the central 95% of them."""
    body = []
    for label, found in document.lines.items():
        body.append([Cell(label), *(number(row.mean) for row in found)])
        body.append([Cell(""), *(interval(row.low, row.high, 2) for row in found)])
    caption = (
        f"{LEVELS[document.of]} by number of segments: mean of {document.n_samples} samples "
        "drawn with replacement, and the interval that contains 95% of them."
    )
    head, columns = texts("Segments", *document.sizes), "l" + "r" * len(document.sizes)
    return [Table(caption, f"{document.campaign}-samplesize", columns, [head], body)]


WHATIF = Page(
    name="whatif",
    title=message("page.whatif", "What would change?"),
    kind="whatif",
    figures=MOVEMENT,
    has_unit=False,
    template="dashboards/whatif.html",
    columns=[each.name for each in fields(Row)],
    context=whatif_context,
    choose=choose_marks,
    tables=whatif_tables,
    takes=("of",),
)
SAMPLESIZE = Page(
    name="samplesize",
    title=message("page.samplesize", "Sample size"),
    kind="samplesize",
    figures=SAMPLE_SIZE,
    template="dashboards/samplesize.html",
    columns=[each.name for each in fields(Point)],
    context=samplesize_context,
    choose=choose,
    tables=samplesize_tables,
    takes=("of",),
)
