"""The page of a study with all tables and figures of a paper, and their files."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.filters.form import filter_choices
from annotation.web.parameters import takes
from dashboards.charts.files import draw
from dashboards.pages.answers import is_unfinished, no_document
from dashboards.pages.page import study_campaigns
from dashboards.pages.papertable import html
from dashboards.pages.parameters import data_query, parameters, require_measures
from dashboards.systems.document import SystemsChoice
from extensions.paper import files
from extensions.paper.choices import LAYERS, MARKED, SYSTEM_LEVEL, Choices
from extensions.paper.figures import figures
from extensions.paper.gather import Paper, gather
from extensions.paper.tables import tables

FORMATS = {"table": files.TABLES, "figure": files.FIGURES, "all": {"zip": "application/zip"}}
TAKES = parameters(
    "standings",
    takes=("order", "layer_order", "layers", "level", "marked", "top"),
    repeated=("metric", "table9"),
    without=("test", "versus"),
)


@researcher_required
@require_safe
@takes(TAKES)
def study_paper(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show all tables and figures of a study as a paper prints them."""
    campaigns = study_campaigns(request, slug)
    filters = SystemsChoice.from_query(request.GET)
    require_measures(request.GET, campaigns)
    result = gather(slug, campaigns, request.GET)
    if request.headers.get("If-None-Match") == result.tag:
        return HttpResponseNotModified()
    paper = None if is_unfinished(result, of_one_state=True) else result.document
    shown: dict[str, Any] = {
        "study": slug,
        "campaigns": campaigns,
        "section": "studies",
        "tab": "paper",
        "result": result,
        "document": paper,
        "query": data_query(request.GET),
        "filters": filters,
        "filter_choices": filter_choices(request.GET, campaigns, filters),
        "chosen": Choices.from_query(request.GET),
        "layer_choices": LAYERS,
        "level_choices": SYSTEM_LEVEL,
        "marked_choices": MARKED,
    }
    if paper is not None:
        shown["tables"] = [(each, html(each.table)) for each in tables(paper)]
        shown["figures"] = figures(paper)
        shown["missing"] = files.missing(paper)
        shown["table9_choices"] = _offered(paper)
    response = render(request, "paper/study.html", shown)
    response["ETag"] = result.tag
    return response


def _offered(paper: Paper) -> list[tuple[str, str, bool]]:
    """Return the metrics that table 9 can show, by label, and whether the reader chose them."""
    labels = {key: label for each in paper.of("standings") for key, label in each.labels.items()}
    return [(key, label, key in paper.choices.table9) for key, label in labels.items()]


@researcher_required
@require_safe
@takes(TAKES)
def study_paper_file(request: HttpRequest, slug: str, name: str, fmt: str) -> HttpResponseBase:
    """Answer with one table or figure, such as `table-6.tex`, or with all of them (`all.zip`).

    Answer 202 until all numbers exist and are of one state.
    """
    kind, _, number = name.partition("-")
    if fmt not in FORMATS.get(kind, ()):
        raise Http404
    campaigns = study_campaigns(request, slug)
    filters = SystemsChoice.from_query(request.GET)
    require_measures(request.GET, campaigns)
    result = gather(slug, campaigns, request.GET)
    paper, as_of = result.document, result.as_of
    if paper is None or as_of is None or is_unfinished(result, of_one_state=True):
        return no_document(result)
    content: bytes | None = None
    if kind == "all":
        content = files.zipped(paper, filters, as_of)
    elif kind == "table":
        found = next((each for each in tables(paper) if each.name == number), None)
        content = None if found is None else files.table_file(paper, found, fmt, as_of)
    else:
        drawn = next((each for each in figures(paper) if each.name == number), None)
        content = None if drawn is None else draw(drawn.spec, fmt)
    if content is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{name}.{fmt}"'}
    return HttpResponse(content, content_type=FORMATS[kind][fmt], headers=headers)
