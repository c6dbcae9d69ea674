"""Lists of studies and their quality; pages with a document of their own are in `pages`."""

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.access import researcher_required, visible_campaigns
from annotation.exports import table_response
from annotation.filters import Filters
from annotation.filters.chosen import fitted
from annotation.filters.form import filter_choices
from annotation.filters.report import filtered_report
from annotation.quality.tables import HEADER, annotator_row, as_json
from annotation.views.parameters import JUDGMENTS, NOTHING, takes
from dashboards.pages import study_campaigns
from dashboards.trust.shown import latest, worst_of


@researcher_required
@takes(NOTHING)
def studies(request: HttpRequest) -> HttpResponse:
    """All studies with their campaigns."""
    campaigns = visible_campaigns(request.user).exclude(study="")
    rows = campaigns.values("study").annotate(n=Count("pk")).order_by("study")
    return render(request, "dashboards/studies.html", {"studies": rows, "section": "studies"})


@researcher_required
@takes(JUDGMENTS)
def study_quality(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Quality of every campaign of a study, as in tables 2–5 of Cheng et al. 2023."""
    filters = Filters.from_query(request.GET)
    campaigns = study_campaigns(request, slug)
    asked = [(row, fitted(row, campaigns, filters)) for row in campaigns]
    reports = [(row, filtered_report(row, own)) for row, own in asked]
    trust = worst_of([latest(row, own) for row, own in asked])
    if fmt:
        rows = [
            annotator_row(row, person) for row, report in reports for person in report.annotators
        ]
        document = {
            "study": slug,
            "campaigns": [as_json(row, report) for row, report in reports],
            "trust": trust,
            "filters": filters.leaving_out(),
        }
        name = filters.file_name(f"{slug}-quality")
        return table_response(fmt, name, HEADER, rows, document)
    context = {
        "study": slug,
        "reports": reports,
        "section": "studies",
        "tab": "quality",
        "trust": trust,
        "filters": filters,
        "filter_choices": filter_choices(request.GET, campaigns, filters, has_scores=False),
    }
    return render(request, "dashboards/study_quality.html", context)
