"""Show the scatter plot with its region, its tables, and saved selections."""

from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import Http404, HttpRequest
from django.http.request import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.filters import FilterError
from annotation.filters.systems import require_system
from annotation.models import Campaign
from core.text import key
from dashboards.comparisons.selection import no_scores, shows_bounds
from dashboards.models import Selection
from dashboards.outputs import output_context
from dashboards.pages.page import Page
from dashboards.scatter import region
from dashboards.scatter.document import HUMAN, Scatter, ScatterChoice
from dashboards.scatter.figures import FIGURES
from dashboards.scatter.points import HIGHER, LOWER
from dashboards.scatter.tables import tables
from metaeval.messages import Message, message
from metrics.scores import measure_keys

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
