"""Pages that go from a number to the text: the scatter plot, one output, the MT systems."""

from dataclasses import fields
from typing import Any

from django.http import Http404, HttpRequest
from django.http.request import QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.filters import FilterError
from annotation.filters.chosen import fitted
from annotation.filters.form import filter_choices, filter_parameters
from annotation.models import Campaign
from annotation.web.parameters import NOTHING, takes
from dashboards.documents import results
from dashboards.outputs import find_output, output_view
from dashboards.pages.answers import data_response, public
from dashboards.pages.page import Page, study_campaigns
from dashboards.panel.human import unique_names
from dashboards.papers import latex
from dashboards.papers.scatter import tables as scatter_tables
from dashboards.papers.systems import study_tables
from dashboards.papers.systems import tables as systems_tables
from dashboards.scatter.document import HUMAN, Scatter, ScatterChoice
from dashboards.scatter.points import Disagreement
from dashboards.studies.systems import Score, study_table
from dashboards.systems.columns import by_name
from dashboards.systems.document import Systems, SystemsChoice
from dashboards.trust.shown import comments, with_trust
from dashboards.trust.systems import marked
from metrics.scores import measure_keys

SIDES = {
    "metric higher": "The metric scores these higher than the other axis does",
    "metric lower": "The metric scores these lower than the other axis does",
}


@researcher_required
@require_safe
@takes(NOTHING)
def output(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """One output, as a fragment that the scatter plot puts beside itself, or as a page."""
    campaign = campaign_for_reader(request, slug)
    context = _output_context(campaign, pk)
    is_fragment = request.headers.get("X-Fragment") == "output"
    template = "dashboards/_output.html" if is_fragment else "dashboards/output.html"
    return render(request, template, context | {"section": "campaigns", "tab": "scatter"})


def _output_context(campaign: Campaign, pk: int | str) -> dict[str, Any]:
    return {"campaign": campaign, "shown": output_view(campaign, find_output(campaign, pk))}


def scatter_context(request: HttpRequest, campaign: Campaign, document: Scatter) -> dict[str, Any]:
    """The worst disagreements by direction, and the output that the address names."""
    sides = [
        (side, title, [row for row in document.rows if row.side == side])
        for side, title in SIDES.items()
    ]
    context: dict[str, Any] = {"sides": sides, "kept": filter_parameters(request.GET)}
    if wanted := request.GET.get("output"):
        context |= _named_output(campaign, wanted)
    return context


def _named_output(campaign: Campaign, pk: str) -> dict[str, Any]:
    try:
        return _output_context(campaign, pk)
    except Http404 as error:
        raise FilterError(f"output: this campaign has no output {pk!r}") from error


def verify_scatter(campaign: Campaign, filters: ScatterChoice) -> None:
    """Raise FilterError for a system, a document or a measure that a campaign does not have."""
    keys = measure_keys(campaign.test_set)
    if filters.against not in (HUMAN, *keys):
        raise FilterError(f"against: {filters.against!r} has no scores here")
    systems = unique_names(list(campaign.systems.order_by("name", "length_ratio")))
    if filters.system and filters.system not in systems:
        raise FilterError(f"system: this campaign has no system {filters.system!r}")
    segments = campaign.test_set.segments
    if filters.document and not segments.filter(document=filters.document).exists():
        raise FilterError(f"document: this test set has no document {filters.document!r}")


SCATTER = Page(
    name="scatter",
    title="Metric and human",
    kind="scatter",
    template="dashboards/scatter.html",
    columns=[column.name for column in fields(Disagreement)],
    context=scatter_context,
    tables=scatter_tables,
    on_page=("output",),
    verify=verify_scatter,
)


def choose_marks(document: Systems, query: QueryDict) -> Systems:
    """Keep of clusters, ranks and marks what the verdict bears out."""
    return marked(document)


def systems_context(request: HttpRequest, campaign: Campaign, document: Systems) -> dict[str, Any]:
    """The table with a line a system: its human row, a cell for every measure, its lengths."""
    human, lengths = by_name(document.human), by_name(document.lengths.rows)
    cells = [by_name(column.rows) for column in document.columns]
    lines = [
        {
            "system": name,
            "human": human.get(name),
            "cells": [column.get(name) for column in cells],
            "length": lengths.get(name),
        }
        for name in document.systems
    ]
    # One number for all is told once, above the table.
    spans = {each for column in document.columns for each in (column.span, column.compared_span)}
    return {
        "lines": lines,
        "pairs": _pairs(document),
        "shows_spans": len(spans) > 1,
        "kept": filter_parameters(request.GET),
    }


def _pairs(document: Systems) -> list[dict[str, Any]]:
    """Every comparison of two systems on a measure; none where all have the same segments."""
    if all(column.is_even for column in document.columns):
        return []
    is_next = document.versus == "next"
    return [
        {"row": row, "label": column.label, "other": rows[place + 1 if is_next else 0].system}
        for column in document.columns
        for rows in [column.rows]
        for place, row in enumerate(rows)
        if (place < len(rows) - 1 if is_next else place)
    ]


SYSTEMS = Page(
    name="systems",
    title="MT systems",
    kind="systems",
    template="dashboards/systems.html",
    columns=(
        "measure", "system", "score", "rank", "cluster", "first", "last", "wins", "p", "mark", "n",
        "shared", "difference",
    ),
    context=systems_context,
    choose=choose_marks,
    tables=systems_tables,
)  # fmt: skip


@researcher_required
@require_safe
@takes(SYSTEMS.parameters)
def study_systems(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """MT systems over the campaigns of a study: those whose numbers are there."""
    campaigns = study_campaigns(request, slug)
    filters = SystemsChoice.from_query(request.GET)
    asked = [(each, fitted(each, campaigns, filters)) for each in campaigns]
    found = [
        (each, with_trust(results.latest("systems", each, own), each, own)) for each, own in asked
    ]
    known = [(each, marked(result.document)) for each, result in found if result.document]
    document = study_table(
        [each for each, _ in known],
        [each for _, each in known],
        missing=[each.name for each, result in found if not result.document],
    )
    name = filters.file_name(f"{slug}-systems")
    if fmt == "tex":
        head = comments(document.trust)
        return latex.response(study_tables(document), name, head=head)
    if fmt:
        columns = [column.name for column in fields(Score)]
        data = public(document, filters=filters.as_json())
        return data_response(fmt, name, columns, document.rows, data)
    context = {
        "study": slug,
        "document": document,
        "section": "studies",
        "tab": "systems",
        "query": filters.query(),
        "filters": filters,
        "filter_choices": filter_choices(request.GET, campaigns, filters),
    }
    return render(request, "dashboards/study_systems.html", context)
