"""Show the reports of all campaigns of a study on one page."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.filters import Filters
from annotation.filters.chosen import fitted
from annotation.web.parameters import takes
from dashboards.documents import results
from dashboards.downloads import DOCUMENT, REPORT
from dashboards.pages.page import study_campaigns
from metaeval.messages import message


@researcher_required
@require_safe
@takes(lambda **at: REPORT.parameters("html"))
def study_report(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the reports of all campaigns of a study on one page for printing.

    Answer 202 without any report until all are computed.
    """
    campaigns = study_campaigns(request, slug)
    filters = Filters.from_query(request.GET)
    asked = [(each, fitted(each, campaigns, filters)) for each in campaigns]
    found = [(campaign, results.latest("report", campaign, own)) for campaign, own in asked]
    failed = [
        message("study.report-failed", "{campaign}: {error}", campaign=each.name, error=r.message)
        for each, r in found
        if not r.document and r.message
    ]
    missing = [each.name for each, r in found if not r.document and not r.message]
    is_whole = not (failed or missing)
    documents = [r.document for _, r in found if r.document is not None and is_whole]
    shown = {"documents": documents, "study": slug, "missing": missing, "failed": failed}
    answer = render(request, DOCUMENT, shown)
    if failed:
        answer.status_code = 500
    elif missing:
        answer.status_code, answer["Retry-After"] = 202, "2"
    return answer
