"""Show the scatter plot with its region, its tables, and saved selections."""

from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import Http404, HttpRequest
from django.http.request import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.filters import FilterError
from annotation.filters.systems import require_system
from annotation.models import Campaign
from core.numbers import bare
from core.text import key
from dashboards.charts.style import Spec, figure
from dashboards.comparisons.selection import no_scores, shows_bounds
from dashboards.documents.head import counted
from dashboards.models import Selection
from dashboards.outputs import output_context
from dashboards.pages.page import Page
from dashboards.papers.latex import Cell, Table, number, texts
from dashboards.scatter import region
from dashboards.scatter.document import HUMAN, Scatter, ScatterChoice, Statistics
from dashboards.scatter.points import HIGHER, LOWER, Side
from metaeval.messages import Message, message, plural
from metrics.scores import measure_keys

# Draw a metric against the humans: points, or counts on a grid where there are many.

# More points than this are drawn as counts: in print they would overlap.
MOST_DRAWN = 400
SIDE = 30
SYSTEM = message("scatter.system", "System")
OUTPUTS = message("scatter.outputs", "Outputs")


def points(document: Scatter) -> Spec | None:
    """Draw a scatter plot; None without points."""
    metric, against = document.metric, document.against
    if not document.n or metric is None or against is None:
        return None
    x, y = _axis("x", against), _axis("y", metric)
    title = message(
        "scatter.title", "{metric} against {other}", metric=metric.label, other=against.label
    )
    is_many = document.n > MOST_DRAWN
    return figure(
        title,
        _description(document, title),
        width=420,
        height=320,
        **(_grid(document, x, y) if is_many else _circles(document, x, y)),
    )


def _axis(name: str, side: Side) -> Spec:
    title = side.label
    if side.is_turned:
        title = message("scatter.sign-reversed", "{metric} (sign reversed)", metric=side.label)
    return {
        "field": name,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True},
    }


def _description(document: Scatter, title: Message) -> Message:
    r = document.statistics and document.statistics.r
    total = outputs(document.n) if document.level == "segment" else counted("systems", document.n)
    if r is None:
        return message(
            "scatter.described-undefined",
            "{title} ({total}). Pearson’s r is undefined.",
            title=title,
            total=total,
        )
    return message(
        "scatter.described", "{title} ({total}): Pearson r {r:r}.", title=title, total=total, r=r
    )


def outputs(n: int) -> Message:
    """Return a number of outputs with their name."""
    return plural("units.outputs", "{n} output", "{n} outputs", n=n)


def _circles(document: Scatter, x: Spec, y: Spec) -> Spec:
    values = [{"x": a, "y": b, "system": system} for a, b, _, system, _ in document.points]
    marks: Spec = {"x": x, "y": y}
    if document.level == "segment":
        marks["shape"] = {"field": "system", "type": "nominal", "title": SYSTEM}
        marks["color"] = marks["shape"]
        return {
            "data": {"values": values},
            "mark": {"type": "point", "size": 28},
            "encoding": marks,
        }
    names = {"mark": {"type": "text", "dy": -10}, "encoding": {"text": {"field": "system"}}}
    layers = [{"mark": {"type": "point", "size": 60, "filled": True}}, names]
    return {"data": {"values": values}, "encoding": marks, "layer": layers}


def _grid(document: Scatter, x: Spec, y: Spec) -> Spec:
    """Draw squares, darker for more outputs; the server counts them above `MOST_POINTS`."""
    counted = [{"x": a, "y": b, "n": n} for a, b, n, _ in document.bins]
    values = counted or [{"x": a, "y": b, "n": 1} for a, b, *_ in document.points]
    bins = {"bin": {"maxbins": SIDE}}
    color = {
        "field": "n",
        "aggregate": "sum",
        "type": "quantitative",
        "title": OUTPUTS,
        "scale": {"type": "sqrt", "scheme": "greys"},
    }
    return {
        "data": {"values": values},
        "mark": "rect",
        "encoding": {"x": x | bins, "y": y | bins, "color": color},
    }


FIGURES = {"points": points}


# Write tables for a paper: correlations within systems, and the largest disagreements.

TABLE_SIDES = {HIGHER: "{metric} above {against}", LOWER: "{metric} below {against}"}
GAPS = {"z": "z − z", "rank": "rank − rank"}


def tables(document: Scatter) -> list[Table]:
    """Return the tables; empty without points."""
    if not document.n or not (document.metric and document.against and document.statistics):
        return []
    names = _name(document.metric), _name(document.against)
    found = [_by_system(document, document.statistics, *names)]
    found += [_bounds(document, names[1])] if document.bounds else []
    return found + ([_disagreements(document, *names)] if document.rows else [])


def _name(axis: Side) -> str:
    return f"{axis.label} ↓" if axis.is_turned else str(axis.label)


def _by_system(document: Scatter, found: Statistics, metric: str, against: str) -> Table:
    body = [
        [
            *texts(row.system, row.n),
            *(number(value) for value in (row.mean_x, row.mean_y, row.r, row.tau)),
        ]
        for row in document.by_system
    ]
    caption = (
        f"{metric} against {against}, {document.human_scores}. Over all {document.n} "
        f"points: r {bare(found.r)}, τ-b {bare(found.tau)}."
    )
    head = texts("System", "Outputs", f"Mean, {against}", f"Mean, {metric}", "r", "τ-b")
    return Table(caption, f"{document.campaign}-scatter", "lrrrrr", [head], body)


def _bounds(document: Scatter, against: str) -> Table:
    """Return baselines, and annotators against the others, on the same points."""
    body = [
        [*texts(row.label, row.n), *(number(value) for value in (row.r, row.tau, row.r_within))]
        for row in document.bounds
    ]
    caption = (
        f"Baselines and human ceiling on the points against {against}, {document.human_scores}."
    )
    head = texts("", "n", "r", "τ-b", "r within systems")
    return Table(caption, f"{document.campaign}-scatter-bounds", "lrrrr", [head], body)


def _disagreements(document: Scatter, metric: str, against: str) -> Table:
    body: list[list[Cell]] = []
    for side, heading in TABLE_SIDES.items():
        rows = [row for row in document.rows if row.side == side]
        if rows:
            body.append([Cell(heading.format(metric=metric, against=against), is_bold=True)])
        body += [
            [
                *texts(row.system, row.document, row.segment),
                *(number(value) for value in (row.x, row.y, row.gap)),
            ]
            for row in rows
        ]
    caption = f"Outputs on which {metric} and {against} disagree most."
    head = texts("System", "Document", "Segment", against, metric, GAPS[document.order])
    return Table(caption, f"{document.campaign}-disagreements", "lllrrr", [head], body)


SIDES = {
    HIGHER: _("Outputs that the metric scores higher than the other axis"),
    LOWER: _("Outputs that the metric scores lower than the other axis"),
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of the data: a disagreement, or r and τ of a baseline or annotator.

    `side` says which. Only the latter have a `label` and the fields after it.
    """

    side: str
    gap: float | None = None
    system: str = ""
    segment: str = ""
    document: str = ""
    x: float | None = None
    y: float | None = None
    output: int | None = None
    label: Message | str = ""
    n: int | None = None
    r: float | None = None
    tau: float | None = None
    r_within: float | None = None


def lines(document: Scatter) -> list[Line]:
    """Return the largest disagreements, then baselines and annotators where they are shown."""
    found = [Line(**vars(row)) for row in document.rows]
    return found + [
        Line(side=each.kind, label=each.label, n=each.n, r=each.r, tau=each.tau,
             r_within=each.r_within)
        for each in document.bounds
    ]  # fmt: skip


def context(request: HttpRequest, campaign: Campaign, document: Scatter) -> dict[str, Any]:
    """Return the largest disagreements by direction, and the output that the address names."""
    sides = [
        (side, title, [row for row in document.rows if row.side == side])
        for side, title in SIDES.items()
    ]
    filters = ScatterChoice.from_query(request.GET)
    others = {"bounds": "shown"} if shows_bounds(request.GET) else {}
    context: dict[str, Any] = {
        "sides": sides,
        "has_region": region.is_chosen(filters),
        "without_region": region.without(filters).query(**others),
        "chosen_query": filters.query(),
        "saved": campaign.selections.select_related("owner"),
        "named": _named_selection(campaign, request.GET.get("selection", ""), filters.query()),
    }
    if wanted := request.GET.get("output"):
        context |= _named_output(campaign, wanted)
    return context


def _named_selection(campaign: Campaign, pk: str, query: str) -> Selection | None:
    """Return the saved selection that an address names; None if deleted, or the choice differs."""
    return campaign.selections.filter(pk=key(pk), query=query).first()


def _named_output(campaign: Campaign, pk: str) -> dict[str, Any]:
    try:
        return output_context(campaign, pk)
    except Http404 as error:
        raise FilterError(
            message(
                "scatter.no-output", "output: this campaign has no output “{output}”.", output=pk
            )
        ) from error


def choose(document: Scatter, query: QueryDict) -> Scatter:
    """Remove baselines and annotators unless the address asks for them."""
    return document if shows_bounds(query) else replace(document, bounds=())


def verify(campaign: Campaign, filters: ScatterChoice) -> None:
    """Raise FilterError for a system, a document or a measure that a campaign does not have."""
    keys = measure_keys(campaign.test_set)
    if filters.against not in (HUMAN, *keys):
        raise FilterError(no_scores("against", filters.against))
    require_system(campaign, filters, "system", filters.system)
    segments = campaign.test_set.segments
    if filters.document and not segments.filter(document=filters.document).exists():
        raise FilterError(
            message(
                "scatter.no-document",
                "document: this test set has no document “{document}”.",
                document=filters.document,
            )
        )
    if filters.category and filters.category not in region.categories(campaign):
        raise FilterError(
            message(
                "scatter.no-category",
                "category: no error of category “{category}” was marked.",
                category=filters.category,
            )
        )


SCATTER = Page(
    name="scatter",
    title=message("page.scatter", "Metric and human"),
    kind="scatter",
    figures=FIGURES,
    has_unit=False,
    template="dashboards/scatter.html",
    columns=[column.name for column in fields(Line)],
    rows=lines,
    context=context,
    choose=choose,
    tables=tables,
    takes=("bounds",),
    on_page=("output", "selection"),
    verify=verify,
)
