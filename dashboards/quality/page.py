"""Agreement and scale: agreement, control items and times, with annotators' use of the scale."""

from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.filters import Filters
from annotation.models import Campaign
from annotation.protocols.asked import Scale
from annotation.quality import verdict
from annotation.quality.people import CUT_SECONDS
from annotation.quality.scales import scale_of
from annotation.web.parameters import takes
from dashboards.charts.files import figures
from dashboards.documents.results import Completion
from dashboards.overview.document import Overview
from dashboards.overview.page import OVERVIEW, shortened
from dashboards.pages.page import Page
from dashboards.quality.document import Line, Quality
from metaeval.messages import message

# The most traps that are shown among those that not all annotators passed.
WORST = 20
RULE = {
    "pass": verdict.PAIRS_TO_PASS,
    "fail": verdict.PAIRS_TO_FAIL,
    "items": verdict.ITEMS,
    "percent": round(verdict.RATE * 100),
}


# What the page on scale, time and drift took and this one does not.
UNUSED = ("scores", "humans", "outliers")


@dataclass(frozen=True, kw_only=True)
class WithScale(Quality):
    """The document of the page: quality, with annotators' use of the scale once it is computed."""

    overview: Overview | None = None


def with_scale(document: Quality, found: Completion[Overview]) -> WithScale:
    """Add the annotators' use of the scale."""
    return WithScale(**vars(document), overview=found.document)


def context(request: HttpRequest, campaign: Campaign, document: WithScale) -> dict[str, Any]:
    """Add the current state of each annotator, so that decisions do not depend on an older one."""
    people = {row.label: row for row in campaign.annotators.all()}
    rates = document.trap_rates
    scale = scale_of(campaign) or Scale()
    about: dict[str, Any] = {"warnings": document.warnings}
    if overview := document.overview:
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        address = reverse("dashboard", args=[campaign.slug])
        about = shortened(overview) | {
            "overview": overview,
            "warnings": list(dict.fromkeys([*document.warnings, *overview.warnings])),
            "figures": figures(OVERVIEW.figures, overview, address, query),
        }
    return about | {
        "of_judgments": replace(Filters.from_query(request.GET), unit="", scale="").query(),
        "annotators": [
            (row, people[row.annotator]) for row in document.annotators if row.annotator in people
        ],
        "cut_seconds": CUT_SECONDS,
        "least": scale.low,
        "low_score": verdict.low_score(scale),
        "rule": RULE,
        "worst_traps": [one for one in rates if one.passed < one.n][:WORST],
    }


QUALITY: Page[Quality] = Page(
    name="quality",
    title=message("page.quality", "Agreement and scale"),
    kind="quality",
    template="dashboards/quality.html",
    columns=[each.name for each in fields(Line) if not each.name.endswith("_passed")],
    rows=lambda document: document.annotators,
    without=UNUSED,
)
PAGE = replace(
    QUALITY,
    context=context,
    slower="overview",
    complete=with_scale,
    part=message("part.scale", "use of the scale, times and drift"),
)


@researcher_required
@require_safe
@takes(OVERVIEW.parameters)
def scale(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect from the former page on scale, time and drift."""
    campaign_for_reader(request, slug)
    query = request.GET.copy()
    for name in UNUSED:
        query.pop(name, None)
    address = reverse("quality", args=[slug])
    return redirect(f"{address}?{query.urlencode()}#scale" if query else f"{address}#scale")
