"""The page *Agreement and scale*, and the data and figures of scale, time and drift."""

from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.filters import Filters
from annotation.filters.chosen import check
from annotation.models import Campaign
from annotation.web.parameters import takes
from dashboards.charts.files import figures
from dashboards.documents.results import Completion
from dashboards.overview.annotators import Row
from dashboards.overview.document import Overview
from dashboards.overview.figures import FIGURES
from dashboards.pages.page import Page
from dashboards.papers.latex import Table, number, texts
from dashboards.quality import page
from dashboards.quality.document import Quality
from metaeval.messages import message

# The most rows, so that a page stays below 100 KiB.
SHOWN, DRIFTS = 60, 30


def _shortened(document: Overview) -> dict[str, Any]:
    """Return the rows of a page; the data have all annotators of very large campaigns."""
    rows = sorted(document.rows, key=lambda row: (not row.is_suspect, -row.n))
    shown = {row.annotator for row in rows[:SHOWN]}
    tested = [row for row in document.rows if not row.is_excluded]
    return {
        "rows": [row for row in document.rows if row.annotator in shown],
        "drifts": sorted(tested, key=_least_p)[:DRIFTS],
        "n_drifting": sum(row.z_drift_is_drifting is True for row in tested),
    }


def _least_p(row: Row) -> float:
    found = (row.z_drift_adjusted, row.seconds_drift_adjusted)
    return min((p for p in found if p is not None), default=2.0)


def tables(document: Overview) -> list[Table]:
    """Return the table of annotators: judgments, scores, seconds, traps and agreement."""
    body = [
        [
            *texts(row.annotator, row.n),
            *(number(value, 1) for value in (row.raw_mean, row.raw_sd, row.seconds_median)),
            number(row.traps_low_share, 2),
            number(row.r_without_traps),
        ]
        for row in document.rows
        if not row.is_excluded
    ]
    head = texts("Annotator", "Judgments", "Mean", "sd", "Seconds", "Traps low", "r with the rest")
    caption = message(
        "overview.caption",
        "Annotators: raw scores, median seconds per item, share of traps rated at most 20, and r "
        "with the mean of the others.",
    )
    return [Table(caption, f"{document.campaign}-annotators", "lrrrrrr", [head], body)]


OVERVIEW = Page(
    name="dashboard",
    title=message("page.dashboard", "Scale, time and drift"),
    kind="overview",
    figures=FIGURES,
    template="",
    tab="quality",
    columns=[column.name for column in fields(Row)],
    tables=tables,
    without=("humans", "outliers"),
)


@dataclass(frozen=True, kw_only=True)
class WithScale(Quality):
    """The document of the page: quality, with annotators' use of the scale once it is computed."""

    overview: Overview | None = None


def with_scale(document: Quality, found: Completion[Overview]) -> WithScale:
    """Add the annotators' use of the scale."""
    return WithScale(**vars(document), overview=found.document)


def context(request: HttpRequest, campaign: Campaign, document: WithScale) -> dict[str, Any]:
    """Add the use of the scale, with its figures, once it is computed."""
    about = page.context(request, campaign, document)
    overview = document.overview
    if overview is None:
        return about
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return {
        **about,
        **_shortened(overview),
        "overview": overview,
        "warnings": list(dict.fromkeys([*document.warnings, *overview.warnings])),
        "figures": figures(FIGURES, overview, reverse("dashboard", args=[campaign.slug]), query),
    }


PAGE = replace(
    page.QUALITY,
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
    check(campaign_for_reader(request, slug), Filters.from_query(request.GET))
    query = request.GET.copy()
    for name in page.QUALITY.without:
        query.pop(name, None)
    address = reverse("quality", args=[slug])
    return redirect(f"{address}?{query.urlencode()}#scale" if query else f"{address}#scale")
