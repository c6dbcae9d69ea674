"""Show the pages on excluded data and sample size, with tables for papers."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.charts.style import ACCENT, INK, Spec, figure
from dashboards.comparisons.selection import one_of
from dashboards.pages.page import Page
from dashboards.papers.latex import Cell, Table, interval, number, texts
from dashboards.trust.marks import forbidden
from dashboards.whatif.document import Movements, Row, WhatIf, largest
from dashboards.whatif.samplesize import SHARES, Point, SampleSize
from metaeval.messages import message, plural
from metaeval.sensitivity import LEVELS

# Draw how correlations change without a part of the data, and with the number of segments.

BAND = "#c9d8ec"
SCENARIOS, MEASURES = 16, 20
# The axis of a small multiple has no room for longer titles.
SHORT = {"tau": "τ-b", "r_system": "r"}
CHANGES = {
    "tau": message("whatif.change-of-tau", "Change of Kendall τ-b, segment level"),
    "r_system": message("whatif.change-of-r", "Change of Pearson r over systems"),
}
EFFECTS = {
    "tau": message("whatif.effects-on-tau", "Effects on Kendall τ-b, segment level"),
    "r_system": message("whatif.effects-on-r", "Effects on Pearson r over systems"),
}
BY_SIZE = {
    "tau": message("samplesize.tau", "Kendall τ-b at segment level, by number of segments"),
    "r_system": message("samplesize.r", "Pearson r over systems, by number of segments"),
}
EXCLUDED = message("whatif.excluded", "Excluded")
SEGMENTS = message("samplesize.segments", "Segments")


def movement(document: WhatIf) -> Spec | None:
    """Draw how each measure's τ changes when a part is excluded, the largest changes first."""
    return _movement(document, "tau")


def movement_over_systems(document: WhatIf) -> Spec | None:
    """Draw the same for Pearson's r over systems."""
    return _movement(document, "r_system")


def _movement(document: WhatIf, statistic: str) -> Spec | None:
    chosen = largest(document.scenarios, statistic)[:SCENARIOS]
    if not chosen:
        return None
    points = [
        {"left_out": one.title, "change": round(change, 4)}
        for one in chosen
        for change in one.by(statistic).changes
        if change is not None
    ]
    x = {"field": "change", "type": "quantitative", "title": CHANGES[statistic]}
    order = [one.title for one in chosen]
    # Names of documents are long, and differ at the end. Without the font they are drawn wider.
    axis = {"labelLimit": 220, "titlePadding": 16}
    y = {"field": "left_out", "type": "nominal", "sort": order, "title": EXCLUDED, "axis": axis}
    return figure(
        EFFECTS[statistic],
        plural(
            "whatif.effects-described",
            "Each tick is a metric’s change in correlation when the part named on the left is "
            "excluded.",
            "Each tick is a metric’s change in correlation when the part named on the left is "
            "excluded. The {n} largest changes are shown, the largest first.",
            n=len(chosen),
        ),
        width=420,
        height={"step": 18},
        data={"values": points},
        layer=[
            {
                "mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
                "encoding": {"x": {"datum": 0}},
            },
            {
                "mark": {"type": "tick", "color": ACCENT, "thickness": 2, "opacity": 0.7},
                "encoding": {"x": x, "y": y},
            },
        ],
    )


def sample_size_curves(document: SampleSize) -> Spec | None:
    """Draw mean and 95% band of τ by the number of drawn segments, one panel per metric."""
    return _curves(document, "tau")


def curves_over_systems(document: SampleSize) -> Spec | None:
    """Draw the same for Pearson's r over systems."""
    return _curves(document, "r_system")


def _curves(document: SampleSize, statistic: str) -> Spec | None:
    rows = [
        {key: getattr(row, key) for key in ("label", "n_segments", "mean", "low", "high")}
        for row in document.rows
        if row.statistic == statistic and row.mean is not None
    ]
    known = {row["label"]: row["mean"] for row in rows}  # at the largest size
    if not known:
        return None
    order = sorted(known, key=lambda label: -known[label])[:MEASURES]
    x = {"field": "n_segments", "type": "quantitative", "title": SEGMENTS}

    def y(name: str) -> dict[str, Any]:
        scale = {"zero": False}
        return {"field": name, "type": "quantitative", "title": SHORT[statistic], "scale": scale}

    band = {"x": x, "y": y("low"), "y2": {"field": "high"}}
    header = {"title": None, "labelFontWeight": "bold"}
    described = [
        message(
            "samplesize.described",
            "Lines are means over {samples} samples of segments drawn with replacement. Bands "
            "contain 95% of the samples.",
            samples=document.n_samples,
        )
    ]
    if len(order) < len(known):
        described.append(
            message(
                "samplesize.best-metrics",
                "The {shown} of {total} metrics that agree best are shown.",
                shown=len(order),
                total=len(known),
            )
        )
    return figure(
        BY_SIZE[statistic],
        described,
        data={"values": [_rounded(row) for row in rows if row["label"] in order]},
        facet={"field": "label", "type": "nominal", "sort": order, "header": header},
        columns=4,
        spec={
            "width": 140,
            "height": 90,
            "layer": [
                {"mark": {"type": "area", "color": BAND}, "encoding": band},
                {"mark": {"type": "line", "color": ACCENT}, "encoding": {"x": x, "y": y("mean")}},
            ],
        },
    )


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }


MOVEMENT = {"segments": movement, "systems": movement_over_systems}
SAMPLE_SIZE = {"segments": sample_size_curves, "systems": curves_over_systems}


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
