"""The scatter plot: points that open their texts, a region of them, what is saved of it."""

from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import Http404, HttpRequest
from django.http.request import QueryDict

from annotation.filters import FilterError
from annotation.filters.systems import require_system
from annotation.models import Campaign
from core.text import key
from dashboards.comparisons.selection import shows_bounds
from dashboards.models import Selection
from dashboards.outputs import output_context
from dashboards.pages.page import Page
from dashboards.scatter import region
from dashboards.scatter.document import HUMAN, Scatter, ScatterChoice
from dashboards.scatter.figures import FIGURES
from dashboards.scatter.tables import tables
from metrics.scores import measure_keys

SIDES = {
    "metric higher": "The metric scores these higher than the other axis does",
    "metric lower": "The metric scores these lower than the other axis does",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the data: a disagreement, or r and τ of a floor, the ceiling or a person.

    `side` tells which; `label`, `n` and what follows are of the latter alone.
    """

    side: str
    gap: float | None = None
    system: str = ""
    segment: str = ""
    document: str = ""
    x: float | None = None
    y: float | None = None
    output: int | None = None
    label: str = ""
    n: int | None = None
    r: float | None = None
    tau: float | None = None
    r_within: float | None = None


def lines(document: Scatter) -> list[Line]:
    """The worst disagreements, then floors and people where the address wants them."""
    found = [Line(**vars(row)) for row in document.rows]
    return found + [
        Line(side=each.kind, label=each.label, n=each.n, r=each.r, tau=each.tau,
             r_within=each.r_within)
        for each in document.bounds
    ]  # fmt: skip


def context(request: HttpRequest, campaign: Campaign, document: Scatter) -> dict[str, Any]:
    """The worst disagreements by direction, and the output that the address names."""
    sides = [
        (side, title, [row for row in document.rows if row.side == side])
        for side, title in SIDES.items()
    ]
    filters = ScatterChoice.from_query(request.GET)
    kept = {"bounds": "shown"} if shows_bounds(request.GET) else {}
    context: dict[str, Any] = {
        "sides": sides,
        "has_region": region.is_chosen(filters),
        "without_region": region.without(filters).query(**kept),
        "chosen_query": filters.query(),
        "saved": campaign.selections.select_related("owner"),
        "named": _named_selection(campaign, request.GET.get("selection", ""), filters.query()),
    }
    if wanted := request.GET.get("output"):
        context |= _named_output(campaign, wanted)
    return context


def _named_selection(campaign: Campaign, pk: str, query: str) -> Selection | None:
    """The saved selection that an address names; one that is gone, or another choice, is none."""
    return campaign.selections.filter(pk=key(pk), query=query).first()


def _named_output(campaign: Campaign, pk: str) -> dict[str, Any]:
    try:
        return output_context(campaign, pk)
    except Http404 as error:
        raise FilterError(f"output: this campaign has no output {pk!r}") from error


def choose(document: Scatter, query: QueryDict) -> Scatter:
    """Keep floors and people where the address wants them."""
    return document if shows_bounds(query) else replace(document, bounds=())


def verify(campaign: Campaign, filters: ScatterChoice) -> None:
    """Raise FilterError for a system, a document or a measure that a campaign does not have."""
    keys = measure_keys(campaign.test_set)
    if filters.against not in (HUMAN, *keys):
        raise FilterError(f"against: {filters.against!r} has no scores here")
    require_system(campaign, filters, "system", filters.system)
    segments = campaign.test_set.segments
    if filters.document and not segments.filter(document=filters.document).exists():
        raise FilterError(f"document: this test set has no document {filters.document!r}")
    if filters.category and filters.category not in region.categories(campaign):
        raise FilterError(f"category: nobody marked an error of category {filters.category!r}")


SCATTER = Page(
    name="scatter",
    title="Metric and human",
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
