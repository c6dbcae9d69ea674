"""Downloads: the report as HTML and PDF, and the replication bundle."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.filters import Filters
from annotation.filters.chosen import check
from annotation.models import Campaign
from annotation.web.parameters import takes
from core.messages import as_json
from dashboards.bundle.document import Bundle
from dashboards.documents import kinds, results
from dashboards.pages.answers import data_response, no_document, require_measures
from dashboards.pages.page import Page
from dashboards.report.document import Report
from metaeval.messages import message
from metaeval.replication.questions import STATISTICS

BLOCK = 1 << 16
DOCUMENT = "dashboards/report_document.html"
REPORT: Page[Report] = Page(
    name="report",
    title=message("page.report", "Report"),
    kind="report",
    template="dashboards/report.html",
    columns=("key", "label", "n", "tau", "r_segment", "n_systems", "r_system", "r_hybrid"),
)


def bundle_context(request: HttpRequest, campaign: Campaign, document: Bundle) -> dict[str, Any]:
    """Return the statistics that can be included, and the other parameters of the address."""
    wanted = set(document.statistics)
    return {
        "offered": [(one, one.key in wanted) for one in STATISTICS.values()],
        "others": [
            (name, value)
            for name, values in request.GET.lists()
            if name != "statistic"
            for value in values
        ],
    }


BUNDLE = Page(
    name="bundle",
    title=message("page.bundle", "Replication bundle"),
    kind="bundle",
    template="dashboards/bundle.html",
    columns=("file", "sha256"),
    context=bundle_context,
    repeated=("statistic", "metric"),
)


@researcher_required
@require_safe
@takes(REPORT.parameters)
def report(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Answer with the newest report as html, pdf, json or csv."""
    campaign = campaign_for_reader(request, slug)
    result = _latest(request, REPORT, campaign)
    document = result.document
    if document is None:
        return _not_yet(request, "report", campaign, result)
    if fmt == "html":
        return render(request, DOCUMENT, {"documents": [document]})
    if fmt == "pdf":
        return _pdf(request, campaign, document)
    data = {name: value for name, value in vars(document).items() if name != "pdf"}
    return data_response(fmt, _name(request, f"{slug}-report"), REPORT.columns, document.rows, data)


@researcher_required
@require_safe
@takes(BUNDLE.parameters)
def bundle(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Answer with the newest bundle as zip, its manifest as json or csv."""
    campaign = campaign_for_reader(request, slug)
    result = _latest(request, BUNDLE, campaign)
    document = result.document
    if document is None:
        return _not_yet(request, "bundle", campaign, result)
    if fmt == "zip":
        return _file(document.zip, "application/zip", f"{_name(request, slug)}-bundle.zip")
    data = {name: value for name, value in vars(document).items() if name != "zip"}
    return data_response(fmt, _name(request, f"{slug}-bundle"), BUNDLE.columns, document.rows, data)


def _latest(request: HttpRequest, page: Page[Any], campaign: Campaign) -> results.Result[Any]:
    filters = kinds.filters_of(page.kind).from_query(request.GET)
    check(campaign, filters)
    require_measures(request.GET, [campaign])
    return results.latest(page.kind, campaign, filters)


def _not_yet(
    request: HttpRequest, name: str, campaign: Campaign, result: results.Result[Any]
) -> HttpResponseBase:
    """Redirect browsers to the page that waits; answer programs with 202, or the error."""
    if "text/html" in request.headers.get("Accept", ""):
        address = reverse(name, args=[campaign.slug])
        return redirect(f"{address}{_query(request)}")
    return no_document(result)


def _name(request: HttpRequest, name: str) -> str:
    return Filters.from_query(request.GET).file_name(name)


def _query(request: HttpRequest) -> str:
    """Return the query of a file's address, for the page that links to it."""
    return f"?{request.GET.urlencode()}" if request.GET else ""


def _pdf(request: HttpRequest, campaign: Campaign, document: Report) -> HttpResponseBase:
    if document.pdf:
        return _file(document.pdf, "application/pdf", f"{_name(request, campaign.slug)}-report.pdf")
    if "text/html" in request.headers.get("Accept", ""):
        return redirect(f"{reverse('report', args=[campaign.slug])}{_query(request)}")
    problem = document.pdf_problem
    return JsonResponse({"error": as_json(problem) if problem else ""}, status=501)


def _file(content: bytes, content_type: str, name: str) -> HttpResponseBase:
    """Send a stored file in pieces."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Length": str(len(content)),
    }
    return StreamingHttpResponse(_pieces(content), content_type=content_type, headers=headers)


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), BLOCK):
        yield content[start : start + BLOCK]
