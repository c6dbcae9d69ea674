"""Stage 5 on the page: how well a campaign was annotated, and its raw judgments."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.access import campaign_for_reader, researcher_required
from annotation.exports import judgments_response, table_response
from annotation.filters.form import filter_choices
from annotation.filters.report import filtered_report
from annotation.quality import verdict
from annotation.quality.people import CUT_SECONDS
from annotation.quality.tables import HEADER, annotator_row, as_json
from annotation.views.parameters import JUDGMENTS, read_filters, takes

WORST = 20


@researcher_required
@takes(JUDGMENTS)
def quality(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """The quality of a campaign, as a page, JSON or CSV."""
    campaign = campaign_for_reader(request, slug)
    filters = read_filters(request, campaign)
    report = filtered_report(campaign, filters)
    if fmt:
        rows = [annotator_row(campaign, person) for person in report.annotators]
        name = filters.file_name(f"{campaign.slug}-quality")
        document = as_json(campaign, report) | {"filters": filters.leaving_out()}
        return table_response(fmt, name, HEADER, rows, document)
    context = {
        "campaign": campaign,
        "filters": filters,
        "filter_choices": filter_choices(request.GET, [campaign], filters, has_scores=False),
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
@takes(JUDGMENTS)
def judgments(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """The judgments of a campaign with their history, as CSV or JSON."""
    campaign = campaign_for_reader(request, slug)
    return judgments_response(campaign, fmt, read_filters(request, campaign))
