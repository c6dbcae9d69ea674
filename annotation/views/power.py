"""How many judgments do I need? From a campaign as the pilot, or from stated variances."""

import warnings
from typing import Any

import numpy as np
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

import metaeval
from annotation.access import campaign_for_reader, researcher_required
from annotation.exports import table_response
from annotation.forms.power import MAX_SEGMENTS, PilotForm, PowerForm, StatedForm
from annotation.power import pilot_components
from annotation.views.parameters import Parameters, takes

SEED = 1
# Draws that take about half a second; larger studies are simulated less often.
DRAWS, MOST, LEAST = 12_000_000, 2_000, 300
MAX_COLUMNS = 12
COLUMNS = (
    "annotators_per_item", "n_segments", "judgments", "power", "low", "high", "exact", "normal",
)  # fmt: skip


@researcher_required
@require_safe
@takes(Parameters(frozenset(PilotForm.base_fields)))
def campaign_power(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """The analysis with a campaign's judgments as the pilot."""
    campaign = campaign_for_reader(request, slug)
    form = PilotForm(request.GET)
    components = pilot_components(campaign, form.data["scores"]) if form.is_valid() else None
    context = {"campaign": campaign, "section": "campaigns", "tab": "power"}
    return _answer(request, form, components, fmt, f"{slug}-power", context)


@researcher_required
@require_safe
@takes(Parameters(frozenset(StatedForm.base_fields)))
def stated_power(request: HttpRequest, fmt: str = "") -> HttpResponseBase:
    """The analysis from standard deviations that the reader states."""
    form = StatedForm(request.GET)
    components = None
    if form.is_valid():
        variances = {name: form.cleaned_data[name] ** 2 for name in form.SDS}
        components = metaeval.VarianceComponents.stated(**variances)
    return _answer(request, form, components, fmt, "power", {"section": "campaigns"})


def _answer(
    request: HttpRequest,
    form: PowerForm,
    components: metaeval.VarianceComponents | None,
    fmt: str,
    name: str,
    context: dict[str, Any],
) -> HttpResponseBase:
    if components is None:
        if fmt:
            return JsonResponse({"errors": form.errors}, status=422)
        page = context | {"form": form}
        return render(request, "annotation/power.html", page, status=422)
    table = _table(components, form.question())
    n_systems = form.cleaned_data["n_systems"]
    plans = list_plans(table, n_systems)
    if fmt:
        document = {
            "components": components.to_dict(),
            "n_systems": n_systems,
            "table": table.to_dict(),
            "plans": plans,
        }
        return table_response(fmt, name, COLUMNS, _rows(table, n_systems), document)
    context |= {
        "form": form,
        "components": components,
        "spreads": _spreads(components),
        "table": table,
        "rows": _grid(table, n_systems),
        "plans": plans,
        "best": _cheapest(plans),
        "unit": "z" if form.data.get("scores") == "z" else "points",
        "query": request.GET.urlencode(),
        "has_values": bool(np.isfinite(table.power).all()),
    }
    return render(request, "annotation/power.html", context)


def _table(
    components: metaeval.VarianceComponents, question: dict[str, Any]
) -> metaeval.PowerTable:
    sizes = question["n_segments"] or _around_the_answer(components, question)
    cells = max(sizes) * (1 + len(question["annotators_per_item"]))
    n_simulations = min(MOST, max(LEAST, DRAWS // cells))
    question |= {"n_segments": sizes, "n_simulations": n_simulations, "rng": SEED}
    return metaeval.power_table(components, **question)


def _around_the_answer(
    components: metaeval.VarianceComponents, question: dict[str, Any]
) -> list[int]:
    """The answers for the first target, half of the least, and enough for the last target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", metaeval.StatisticsWarning)
        quick = metaeval.power_table(
            components, **(question | {"n_segments": [2]}), n_simulations=1, rng=SEED
        )
    first, last = (sorted({int(n) for n in row if n}) for row in quick.smallest[[0, -1]])
    wanted = [max(2, n) for n in (first[0] // 2, *first, *last[-1:])] if first else [1_000]
    return sorted({min(n, MAX_SEGMENTS) for n in wanted})[:MAX_COLUMNS]


def list_plans(table: metaeval.PowerTable, n_systems: int) -> list[dict[str, Any]]:
    """For each number of annotators, the fewest segments and judgments that reach each target.

    None where even a million segments do not.
    """
    return [
        {
            "annotators_per_item": raters,
            "answers": [
                {
                    "power": target,
                    "segments": n or None,
                    "judgments": n * raters * n_systems or None,
                }
                for target, n in zip(table.targets, sizes, strict=True)
            ],
        }
        for raters, sizes in zip(table.annotators_per_item, table.smallest.T.tolist(), strict=True)
    ]


def _cheapest(plans: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The plan with the fewest judgments for the first target."""
    possible = [plan for plan in plans if plan["answers"][0]["segments"]]
    return min(possible, key=lambda plan: plan["answers"][0]["judgments"], default=None)


def _rows(table: metaeval.PowerTable, n_systems: int) -> list[dict[str, Any]]:
    return [
        {
            "annotators_per_item": raters,
            "n_segments": size,
            "judgments": size * raters * n_systems,
            **{
                name: _finite(getattr(table, name)[i, j])
                for name in ("power", "low", "high", "exact", "normal")
            },
        }
        for i, raters in enumerate(table.annotators_per_item)
        for j, size in enumerate(table.n_segments)
    ]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _grid(table: metaeval.PowerTable, n_systems: int) -> list[dict[str, Any]]:
    """One line for each number of annotators; the first cell that reaches the target is marked."""
    lines = []
    cells = _rows(table, n_systems)
    width = len(table.n_segments)
    for index, raters in enumerate(table.annotators_per_item):
        line = cells[index * width : (index + 1) * width]
        enough = (cell for cell in line if (cell["exact"] or 0.0) >= table.targets[0])
        first = next(enough, None)
        lines.append(
            {"raters": raters, "cells": [cell | {"is_first": cell is first} for cell in line]}
        )
    return lines


def _spreads(components: metaeval.VarianceComponents) -> list[tuple[str, float, float]]:
    """Name, standard deviation and share of the variance of one judgment."""
    names = ("system", "segment", "output", "annotator", "residual")
    variances = {name: getattr(components, name) for name in names}
    total = sum(variances.values())
    return [
        (name, float(np.sqrt(value)), 100 * value / total if total else float("nan"))
        for name, value in variances.items()
    ]
