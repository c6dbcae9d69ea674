"""Write a paper's tables and figures as files, each with the state of the data that it shows."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.exports import csv_lines
from annotation.filters import Filters
from annotation.filters.form import filter_choices
from annotation.web.parameters import takes
from dashboards.charts.files import draw
from dashboards.pages.answers import (
    data_query,
    is_unfinished,
    no_document,
    parameters,
    require_measures,
)
from dashboards.pages.page import study_campaigns
from dashboards.pages.papertable import cells, html
from dashboards.papers import latex
from dashboards.systems.document import SystemsChoice
from dashboards.trust.shown import comments
from extensions.paper.choices import LAYERS, MARKED, SCORED, SYSTEM_LEVEL, Choices
from extensions.paper.figures import figures
from extensions.paper.gather import ENCODERS, Paper, gather
from extensions.paper.tables import Numbered, tables
from metaeval.messages import Message, message, plural

TABLES = {
    "tex": "application/x-tex; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
FIGURES = {"pdf": "application/pdf", "svg": "image/svg+xml"}
ABOUT = "about.json"
# Why tables, by their numbers, or the figures may be missing.
NO_METRICS = message("paper.no-metrics", "No metric has scores for these outputs.")
NO_LAYERS = message("paper.no-layers", "There are no scores of an encoder’s layers.")
NO_AGREEMENT = message(
    "paper.no-agreement", "No two annotators rated the same outputs with scores that vary."
)
NO_BEST = message("paper.no-best-layer", "No layer has scores in all campaigns.")
FIRST_OF_LAYERS, OF_LAYERS = min(ENCODERS.values()), "11–14"
REASONS = {
    "2": message("paper.no-times", "The ratings have no start and end."),
    "3": message("paper.no-traps", "There are no trap items."),
    "4": NO_AGREEMENT,
    "5": NO_AGREEMENT,
    "6": NO_METRICS,
    "7": NO_METRICS,
    "8": NO_LAYERS,
    "9": NO_METRICS,
    "10": message("paper.no-lengths", "No output has a target length."),
    OF_LAYERS: NO_LAYERS,
}
NO_FIGURES = message("paper.no-figures", "Figures need two metrics to compare.")


def table_file(paper: Paper, one: Numbered, fmt: str, as_of: datetime) -> bytes:
    """Return a table as LaTeX, with state and verdict as comments, as CSV, or as JSON."""
    if fmt == "csv":
        return "".join(csv_lines((), cells(one.table))).encode()
    if fmt == "json":
        found = {"as_of": _moment(as_of), "caption": one.table.heading, "rows": cells(one.table)}
        return json.dumps(found, ensure_ascii=False).encode()
    head = f"% {one.table.label}, as of {_moment(as_of)}\n{comments(paper.trust)}"
    return f"{head}{latex.write(one.table, is_whole=True)}".encode()


def contents(paper: Paper, filters: Filters, as_of: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a paper with its name: tables, figures, and what they are of."""
    for table in tables(paper):
        for fmt in ("tex", "csv"):
            yield f"table-{table.name}.{fmt}", table_file(paper, table, fmt, as_of)
    for figure in figures(paper):
        for fmt in FIGURES:
            yield f"figure-{figure.name}.{fmt}", draw(figure.spec, fmt)
    yield ABOUT, json.dumps(about(paper, filters, as_of), ensure_ascii=False, indent=2).encode()


def missing(paper: Paper) -> list[Message]:
    """Return which tables and figures the study has no numbers for, each reason once."""
    shown = {each.name for each in tables(paper)}
    if any(name.isdecimal() and int(name) >= FIRST_OF_LAYERS for name in shown):
        shown.add(OF_LAYERS)
    if paper.choices.layers == SCORED:
        shown.add("8")  # no layer was chosen
    absent: dict[str, list[str]] = {}
    reasons = {reason.code: reason for reason in (*REASONS.values(), NO_BEST)}
    for name, reason in REASONS.items():
        if name not in shown:
            why = NO_BEST if name == "8" and OF_LAYERS in shown else reason
            absent.setdefault(why.code, []).append(name)
    found = [
        plural(
            "paper.missing",
            "Table {names}: {reason}",
            "Tables {names}: {reason}",
            n=len(names),
            names=names,
            reason=reasons[code],
        )
        for code, names in absent.items()
    ]
    return found if figures(paper) else [*found, NO_FIGURES]


def about(paper: Paper, filters: Filters, as_of: datetime) -> dict[str, Any]:
    """Return what the files are of: study, state, choices, captions and verdict."""
    return {
        "study": paper.study,
        "as_of": _moment(as_of),
        "campaigns": [each.slug for each in paper.campaigns],
        "filters": filters.as_json(),
        "choices": paper.choices.as_words(),
        "tables": {each.name: each.table.heading for each in tables(paper)},
        "figures": {each.name: each.caption for each in figures(paper)},
        "missing": [each.text for each in missing(paper)],
        "verdict": paper.trust.verdict if paper.trust else None,
    }


def zipped(paper: Paper, filters: Filters, as_of: datetime) -> bytes:
    """Return all files as a ZIP archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents(paper, filters, as_of):
            archive.writestr(f"{paper.study}/{name}", content)
    return buffer.getvalue()


def _moment(as_of: datetime) -> str:
    return as_of.isoformat(timespec="seconds")


FORMATS = {"table": TABLES, "figure": FIGURES, "all": {"zip": "application/zip"}}
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
        shown["missing"] = missing(paper)
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
        content = zipped(paper, filters, as_of)
    elif kind == "table":
        found = next((each for each in tables(paper) if each.name == number), None)
        content = None if found is None else table_file(paper, found, fmt, as_of)
    else:
        drawn = next((each for each in figures(paper) if each.name == number), None)
        content = None if drawn is None else draw(drawn.spec, fmt)
    if content is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{name}.{fmt}"'}
    return HttpResponse(content, content_type=FORMATS[kind][fmt], headers=headers)


urlpatterns = [
    path("studies/<slug:slug>/paper/", study_paper, name="study-paper"),
    path(
        "studies/<slug:slug>/paper/<slug:name>.<str:fmt>", study_paper_file, name="study-paper-file"
    ),
]
