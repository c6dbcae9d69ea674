"""Lists of studies and their quality; pages with a document of their own are in `pages`."""

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.access import researcher_required, visible_campaigns
from annotation.exports import table_response
from annotation.quality import quality_report
from annotation.quality.tables import HEADER, annotator_row, as_json
from dashboards.pages import study_campaigns
from dashboards.trust.shown import latest, worst_of


@researcher_required
def studies(request: HttpRequest) -> HttpResponse:
    """All studies with their campaigns."""
    campaigns = visible_campaigns(request.user).exclude(study="")
    rows = campaigns.values("study").annotate(n=Count("pk")).order_by("study")
    return render(request, "dashboards/studies.html", {"studies": rows, "section": "studies"})


@researcher_required
def study_quality(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Quality of every campaign of a study, as in tables 2–5 of Cheng et al. 2023."""
    reports = [(row, quality_report(row)) for row in study_campaigns(request, slug)]
    trust = worst_of([latest(row) for row, _ in reports])
    if fmt:
        rows = [
            annotator_row(row, person) for row, report in reports for person in report.annotators
        ]
        campaigns = [as_json(row, report) for row, report in reports]
        document = {"study": slug, "campaigns": campaigns, "trust": trust}
        return table_response(fmt, f"{slug}-quality", HEADER, rows, document)
    context = {
        "study": slug, "reports": reports, "section": "studies", "tab": "quality", "trust": trust,
    }  # fmt: skip
    return render(request, "dashboards/study_quality.html", context)
