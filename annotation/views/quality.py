"""Stage 5 on the page: how well a campaign was annotated, and its raw judgments."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.access import campaign_for_reader, researcher_required
from annotation.exports import judgments_response, table_response
from annotation.quality import quality_report, verdict
from annotation.quality.people import CUT_SECONDS
from annotation.quality.tables import HEADER, annotator_row, as_json

WORST = 20


@researcher_required
def quality(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """The quality of a campaign, as a page, JSON or CSV."""
    campaign = campaign_for_reader(request, slug)
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
        "low_score": verdict.LOW_SCORE,
        "rule": {
            "pass": verdict.PAIRS_TO_PASS,
            "fail": verdict.PAIRS_TO_FAIL,
            "items": verdict.ITEMS,
            "percent": round(verdict.RATE * 100),
        },
        "worst_traps": [each for each in report.trap_rates if each.rate.statistic < 1][:WORST],
    }
    return render(request, "annotation/quality.html", context)


@researcher_required
def judgments(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Every judgment of a campaign with its history, as CSV or JSON."""
    campaign = campaign_for_reader(request, slug)
    return judgments_response(campaign, fmt)
