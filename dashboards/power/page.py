"""The pages of the power analysis: a campaign as the pilot, or variances that the reader states."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponseNotModified, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.forms.power import PilotForm, PowerForm, StatedForm
from annotation.models import Campaign
from annotation.web.parameters import Parameters, takes
from dashboards.documents import results
from dashboards.pages.answers import data_response, no_document
from dashboards.power.document import Cell, Plan, Power, asked

COLUMNS = [each.name for each in fields(Cell)]


@researcher_required
@require_safe
@takes(Parameters(frozenset(PilotForm.base_fields)))
def campaign_power(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """The analysis with a campaign's judgments as the pilot."""
    campaign = campaign_for_reader(request, slug)
    context = {"campaign": campaign, "section": "campaigns", "tab": "power"}
    return _answer(request, PilotForm(request.GET), campaign, fmt, f"{slug}-power", context)


@researcher_required
@require_safe
@takes(Parameters(frozenset(StatedForm.base_fields)))
def stated_power(request: HttpRequest, fmt: str = "") -> HttpResponseBase:
    """The analysis from standard deviations that the reader states."""
    form = StatedForm(request.GET)
    return _answer(request, form, None, fmt, "power", {"section": "campaigns"})


def _answer(
    request: HttpRequest,
    form: PowerForm,
    campaign: Campaign | None,
    fmt: str,
    name: str,
    context: dict[str, Any],
) -> HttpResponseBase:
    if not form.is_valid():
        if fmt:
            return JsonResponse({"errors": form.errors}, status=422)
        page = context | {"form": form}
        return render(request, "dashboards/power.html", page, status=422)
    result = results.latest("power", campaign, asked(form.question()))
    document = result.document
    if fmt:
        if document is None:
            return no_document(result)
        return data_response(fmt, name, COLUMNS, document.rows, document)
    if request.headers.get("If-None-Match") == result.tag:
        return HttpResponseNotModified()
    context |= {
        "form": form,
        "result": result,
        "document": document,
        "unit": "z" if form.data.get("scores") == "z" else "points",
        "files": request.path.removesuffix("/"),
        "query": f"?{request.GET.urlencode()}" if request.GET else "",
    }
    if document:
        context |= {"rows": _grid(document), "best": _cheapest(document.plans)}
    response = render(request, "dashboards/power.html", context)
    response["ETag"] = result.tag
    return response


def _cheapest(plans: Sequence[Plan]) -> Plan | None:
    """The plan with the fewest judgments for the first target."""
    possible = [(n, plan) for plan in plans if (n := plan.answers[0].judgments)]
    return min(possible, key=lambda each: each[0])[1] if possible else None


def _grid(document: Power) -> list[tuple[int, list[tuple[Cell, bool]]]]:
    """Cells by the number of annotators; the first that reaches the target is marked."""
    lines = []
    for raters, cells in groupby(document.rows, key=lambda cell: cell.annotators_per_item):
        line, target = list(cells), document.table.targets[0]
        first = next((cell for cell in line if (cell.exact or 0.0) >= target), None)
        lines.append((raters, [(cell, cell is first) for cell in line]))
    return lines
