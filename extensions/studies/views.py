"""List studies, and show any campaigns as a study by address."""

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
from metaeval.messages import message

# The most columns of a screen.
MOST_COLUMNS = 12
MATRIX = replace(STUDY, template="studies/matrix.html", repeated=(*STUDY.repeated, "campaign"))


@researcher_required
@takes(NOTHING)
def studies(request: HttpRequest) -> HttpResponse:
    """List all studies."""
    campaigns = visible_campaigns(request.user).exclude(study="")
    rows = campaigns.values("study").annotate(n=Count("pk")).order_by("study")
    return render(request, "studies/list.html", {"studies": rows, "section": "studies"})


@researcher_required
@require_safe
@takes(MATRIX.parameters)
def matrix(request: HttpRequest, fmt: str = "", figure: str = "") -> HttpResponseBase:
    """Show the campaigns of the address, or a published table, as a study's first page."""
    visible = visible_campaigns(request.user).exclude(status=Campaign.Status.DRAFT)
    rows = list(visible.select_related("test_set").order_by("name"))
    chosen = _chosen(request, {row.slug: row for row in rows})
    filters = Filters.from_query(request.GET)
    if filters.words and not chosen:
        raise FilterError(
            message(
                "study.no-filters",
                "Filters need a campaign: published tables have no judgments to filter.",
            )
        )
    studies: dict[str, list[tuple[Campaign, bool]]] = {}
    for row in rows:
        studies.setdefault(row.study, []).append((row, row in chosen))
    about = {
        "n_offered": len(rows),
        "alone": studies.pop("", []),
        "by_study": [
            (study, offered, sum(is_chosen for _, is_chosen in offered))
            for study, offered in sorted(studies.items())
        ],
    }
    return show_all(request, MATRIX, chosen, "matrix", about, fmt, figure)


def _chosen(request: HttpRequest, known: dict[str, Campaign]) -> list[Campaign]:
    """Return the campaigns of the address in its order; 404 for one that the user must not see."""
    slugs = list(dict.fromkeys(request.GET.getlist("campaign")))
    if len(slugs) > MOST_COLUMNS:
        raise FilterError(
            message("study.too-many-columns", "Choose at most {most} campaigns.", most=MOST_COLUMNS)
        )
    if not set(slugs) <= set(known):
        raise Http404
    return [known[slug] for slug in slugs]
