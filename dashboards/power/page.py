"""Show the power analysis of a pilot campaign, or of variances that the reader states."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponseNotModified, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
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
    """Show the analysis with a campaign's judgments as the pilot."""
    campaign = campaign_for_reader(request, slug)
    context = {"campaign": campaign, "tab": "power", "shell": "shell/campaign.html"}
    return _answer(request, PilotForm(request.GET), campaign, fmt, f"{slug}-power", context)


@researcher_required
@require_safe
@takes(Parameters(frozenset(StatedForm.base_fields)))
def stated_power(request: HttpRequest, fmt: str = "") -> HttpResponseBase:
    """Show the analysis of standard deviations that the reader states."""
    form = StatedForm(request.GET)
    return _answer(request, form, None, fmt, "power", {"shell": "base.html"})


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
        page = context | {"form": form, "section": "campaigns"}
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
        "section": "campaigns",
        "result": result,
        "document": document,
        "unit": "z" if form.data.get("scores") == "z" else gettext("points"),
        "files": request.path.removesuffix("/"),
        "query": f"?{request.GET.urlencode()}" if request.GET else "",
    }
    if document:
        context |= {"rows": _grid(document), "best": _cheapest(document.plans)}
    response = render(request, "dashboards/power.html", context)
    response["ETag"] = result.tag
    return response


def _cheapest(plans: Sequence[Plan]) -> Plan | None:
    """Return the plan with the fewest judgments for the first target."""
    possible = [(n, plan) for plan in plans if (n := plan.answers[0].judgments)]
    return min(possible, key=lambda each: each[0])[1] if possible else None


def _grid(document: Power) -> list[tuple[int, list[tuple[Cell, bool]]]]:
    """Return cells by the number of annotators, and whether each is the first at the target."""
    lines = []
    for annotators, cells in groupby(document.rows, key=lambda cell: cell.annotators_per_item):
        line, target = list(cells), document.table.targets[0]
        first = next((cell for cell in line if (cell.exact or 0.0) >= target), None)
        lines.append((annotators, [(cell, cell is first) for cell in line]))
    return lines
