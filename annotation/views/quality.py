"""Stage 5 on the page: how well a campaign was annotated, and its raw judgments."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from annotation.access import researcher_required
from annotation.exports import judgments_response, table_response
from annotation.models import Campaign
from annotation.quality import quality_report
from annotation.quality.report import CUT_SECONDS, LOW_SCORE
from annotation.quality.tables import HEADER, annotator_row, as_json


@researcher_required
def quality(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """The quality of a campaign, as a page, JSON or CSV."""
    campaign = get_object_or_404(Campaign.objects.select_related("test_set"), slug=slug)
    report = quality_report(campaign)
    if fmt:
        rows = [annotator_row(campaign, person) for person in report.annotators]
        name = f"{campaign.slug}-quality"
        return table_response(fmt, name, HEADER, rows, as_json(campaign, report))
    context = {
        "campaign": campaign,
        "report": report,
        "section": "campaigns",
        "tab": "quality",
        "cut_seconds": CUT_SECONDS,
        "low_score": LOW_SCORE,
    }
    return render(request, "annotation/quality.html", context)


@researcher_required
def judgments(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Every judgment of a campaign with its history, as CSV or JSON."""
    campaign = get_object_or_404(Campaign, slug=slug)
    return judgments_response(campaign, fmt)
