"""Show the power analysis of a pilot campaign, or of variances that the reader states."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseNotModified, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.forms.power import PilotForm, PowerForm, StatedForm
from annotation.models import Campaign
from annotation.quality.columns import pilot_components
from annotation.web.parameters import Parameters, takes
from dashboards.documents import results
from dashboards.documents.head import Document
from dashboards.documents.reasons import Counted, Number
from dashboards.pages.answers import data_response, no_document
from dashboards.panel.choice import Choice
from metaeval import StatisticsWarning
from metaeval.judgments.planning import PowerTable, VarianceComponents, power_table

# Compute how many judgments are needed, from a pilot campaign or from stated variances.

VERSION = 3
SEED = 1
# This number of draws takes about half a second; larger studies get fewer simulations.
DRAWS, MOST, LEAST = 12_000_000, 2_000, 300
MAX_SEGMENTS, MAX_COLUMNS = 5_000, 12
FIGURES = ("power", "low", "high", "exact", "normal")
SOURCES = ("system", "segment", "output", "annotator", "residual")
# Shown where a document has several segments.
OF_DOCUMENTS = ("document", "system_document", "annotator_document")


@dataclass(frozen=True)
class PowerChoice(Choice):
    """A question as JSON: the arguments of `metaeval.power_table` and the number of systems.

    It also has the pilot's `scores` (raw or z), or the stated standard deviations `sds`.
    """

    question: str = ""


FILTERS = PowerChoice


def asked(question: dict[str, Any]) -> PowerChoice:
    """Return the choice of a question; equal questions have equal choices."""
    return PowerChoice(question=json.dumps(question, sort_keys=True))


@dataclass(frozen=True, kw_only=True)
class Components(Counted):
    """Variances of one judgment (`metaeval.judgments.planning.VarianceComponents`)."""

    system: Number
    segment: Number
    output: Number
    annotator: Number
    residual: Number
    document: Number
    system_document: Number
    annotator_document: Number
    n_documents: int
    document_size: float
    n_systems: int
    n_segments: int
    n_outputs: int
    n_annotators: int
    method: str

    @property
    def spreads(self) -> list[tuple[str, float, float]]:
        """Name, standard deviation and percentage of the variance of one judgment."""
        names = (*SOURCES[:-1], *(OF_DOCUMENTS if self.document_size > 1 else ()), SOURCES[-1])
        variances = {name: getattr(self, name) for name in names}
        known = {name: np.nan if each is None else each for name, each in variances.items()}
        total = sum(known.values())
        return [
            (name, float(np.sqrt(value)), 100 * value / total if total else np.nan)
            for name, value in known.items()
        ]


Cells = Sequence[Sequence[Number]]


@dataclass(frozen=True, kw_only=True)
class Simulated(Counted):
    """A `metaeval.judgments.planning.PowerTable`; `n_units` has one number per `n_segments`."""

    annotators_per_item: Sequence[int]
    n_segments: Sequence[int]
    power: Cells
    low: Cells
    high: Cells
    exact: Cells
    normal: Cells
    targets: Sequence[float]
    smallest: Sequence[Sequence[int]]
    sds: Sequence[Number]
    difference: float
    design: str
    alpha: float
    n_pairs: int
    seed: int
    document_size: float
    design_effects: Sequence[Number]
    unit: str
    n_units: Sequence[int]


@dataclass(frozen=True)
class Answer:
    """The fewest segments and judgments that reach a power; None where a million do not suffice."""

    power: float
    segments: int | None
    judgments: int | None


@dataclass(frozen=True)
class Plan:
    """The answers for a number of annotators per item, one per target."""

    annotators_per_item: int
    answers: Sequence[Answer]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of the table."""

    annotators_per_item: int
    n_segments: int
    judgments: int
    power: Number
    low: Number
    high: Number
    exact: Number
    normal: Number


@dataclass(frozen=True, kw_only=True)
class Power(Document):
    """The document; `spreads` belong to the components."""

    components: Components
    n_systems: int
    table: Simulated
    plans: Sequence[Plan]
    rows: Sequence[Cell]
    spreads: Sequence[tuple[str, Number, Number]]
    has_values: bool


DOCUMENT = Power


def compute(campaign: Campaign | None, choice: PowerChoice) -> Power:
    """Return components, table and plans; `rows` has one for every cell of the table."""
    question = json.loads(choice.question)
    n_systems, scores = question.pop("n_systems"), question.pop("scores", "")
    variances = {name: sd**2 for name, sd in question.pop("sds", {}).items()}
    components = (
        VarianceComponents.stated(**variances)
        if campaign is None
        else pilot_components(campaign, scores)
    )
    table, described = _table(components, question), Components.of(components)
    return Power(
        components=described,
        n_systems=n_systems,
        table=Simulated.of(table),
        plans=list_plans(table, n_systems),
        rows=_rows(table, n_systems),
        spreads=described.spreads,
        has_values=bool(np.isfinite(table.power).all()),
        warnings=[one.message for one in table.warnings],
    )


def _table(components: VarianceComponents, question: dict[str, Any]) -> PowerTable:
    sizes = question["n_segments"] or _around_the_answer(components, question)
    cells = max(sizes) * (1 + len(question["annotators_per_item"]))
    n_simulations = min(MOST, max(LEAST, DRAWS // cells))
    question |= {"n_segments": sizes, "n_simulations": n_simulations, "rng": SEED}
    return power_table(components, **question)


def _around_the_answer(components: VarianceComponents, question: dict[str, Any]) -> list[int]:
    """Return the answers for the first target, half of the least, and the last target's answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        quick = power_table(
            components, **(question | {"n_segments": [2]}), n_simulations=1, rng=SEED
        )
    first, last = (sorted({int(n) for n in row if n}) for row in quick.smallest[[0, -1]])
    wanted = [max(2, n) for n in (first[0] // 2, *first, *last[-1:])] if first else [1_000]
    return sorted({min(n, MAX_SEGMENTS) for n in wanted})[:MAX_COLUMNS]


def list_plans(table: PowerTable, n_systems: int) -> list[Plan]:
    """Return, for each number of annotators, the answer for each target."""
    return [
        Plan(
            each,
            [
                Answer(target, n or None, n * each * n_systems or None)
                for target, n in zip(table.targets, sizes, strict=True)
            ],
        )
        for each, sizes in zip(table.annotators_per_item, table.smallest.T.tolist(), strict=True)
    ]


def _rows(table: PowerTable, n_systems: int) -> list[Cell]:
    return [
        Cell(
            annotators_per_item=annotators,
            n_segments=size,
            judgments=size * annotators * n_systems,
            **{name: float(getattr(table, name)[i, j]) for name in FIGURES},
        )
        for i, annotators in enumerate(table.annotators_per_item)
        for j, size in enumerate(table.n_segments)
    ]


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
