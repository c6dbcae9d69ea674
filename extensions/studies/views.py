"""The list of studies, and any campaigns as a study by address."""

from dataclasses import replace

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import researcher_required, visible_campaigns
from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from annotation.web.parameters import NOTHING, takes
from dashboards.pages.page import show_all
from extensions.studies.metrics import STUDY

# More columns no screen shows beside each other.
MOST_COLUMNS = 12
MATRIX = replace(STUDY, template="studies/matrix.html", repeated=(*STUDY.repeated, "campaign"))


@researcher_required
@takes(NOTHING)
def studies(request: HttpRequest) -> HttpResponse:
    """All studies with their campaigns."""
    campaigns = visible_campaigns(request.user).exclude(study="")
    rows = campaigns.values("study").annotate(n=Count("pk")).order_by("study")
    return render(request, "studies/list.html", {"studies": rows, "section": "studies"})


@researcher_required
@require_safe
@takes(MATRIX.parameters)
def matrix(request: HttpRequest, fmt: str = "", figure: str = "") -> HttpResponseBase:
    """The campaigns of the address side by side, as a study's first page; or published ones."""
    visible = visible_campaigns(request.user).exclude(status=Campaign.Status.DRAFT)
    rows = list(visible.select_related("test_set").order_by("name"))
    chosen = _chosen(request, {row.slug: row for row in rows})
    filters = Filters.from_query(request.GET)
    if filters.words and not chosen:
        raise FilterError(f"{'; '.join(map(str, filters.words))}: published tables alone have no filters")
    about = {"open_campaigns": [(row, row in chosen) for row in rows]}
    return show_all(request, MATRIX, chosen, "matrix", about, fmt, figure)


def _chosen(request: HttpRequest, known: dict[str, Campaign]) -> list[Campaign]:
    """The campaigns of the address in its order; 404 for one that the user may not see."""
    slugs = list(dict.fromkeys(request.GET.getlist("campaign")))
    if len(slugs) > MOST_COLUMNS:
        raise FilterError(f"campaign: at most {MOST_COLUMNS} columns")
    if not set(slugs) <= set(known):
        raise Http404
    return [known[slug] for slug in slugs]
