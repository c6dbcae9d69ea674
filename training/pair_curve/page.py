"""The curve over the number of pairs on the page of a job: its figure, its table and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.access import of_readable_projects, researcher_required
from annotation.web.parameters import Parameters, takes
from dashboards.charts import files
from dashboards.charts.files import Figure
from dashboards.charts.style import CATEGORY, DASHES, ENDS, INK, SHAPES, Spec, figure, number
from dashboards.pages.answers import data_response
from metaeval.messages import message
from training.models import TrainingJob
from training.pair_curve.options import KIND

MEASURES = {
    "r": message("pair-curve.r", "r of outputs"),
    "tau": message("pair-curve.tau", "τ-b of outputs"),
    "r_system": message("pair-curve.r-system", "r of systems"),
    "gain": message("pair-curve.gain", "gain in r of outputs"),
}
# The measures that are drawn, a panel for each.
DRAWN = ("r", "r_system")
PAIRS = message("pair-curve.pairs", "sentence pairs")
PROJECTION = message("pair-curve.projection", "projection")
COLUMNS = (
    *("projection", "pairs", "pairs_of_vectors"),
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
)
WIDTH, HEIGHT = 420, 190


@dataclass(frozen=True)
class Document:
    """The rows of a finished job, as its files have them; the first is without a projection."""

    job: int
    name: str
    campaign: str
    encoder: str
    layer: int
    direction: str
    seed: int
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Curve:
    """What the page shows: the figure, and values with intervals by row."""

    figure: Figure
    columns: list[Any]
    lines: list[tuple[dict[str, Any], list[tuple[Any, ...]]]]


def document_of(job: TrainingJob) -> Document | None:
    """Return the rows of a job; None for another kind and for one without a result."""
    if job.kind != KIND or not job.result:
        return None
    result = job.result
    return Document(
        job.pk,
        job.name,
        str(job.options["campaign"]),
        result["encoder"]["name"],
        result["layer"],
        result["direction"],
        int(job.options["seed"]),
        [{name: row.get(name) for name in COLUMNS} for row in result["correlations"]],
    )


def curve_of(job: TrainingJob) -> Curve | None:
    """Return what the page of a job shows; None as :func:`document_of`."""
    document = document_of(job)
    if document is None:
        return None
    lines = [
        (row, [tuple(row[name + end] for end in ("", "_low", "_high")) for name in MEASURES])
        for row in document.rows
    ]
    return Curve(_figures(job, document)["pairs"], list(MEASURES.values()), lines)


def _figures(job: TrainingJob, document: Document) -> dict[str, Figure]:
    return files.figures({"pairs": draw}, document, job.get_absolute_url(), "")


def draw(document: Document) -> Spec:
    """Draw correlations by the number of pairs, a panel per measure, a line per projection."""
    names = list(dict.fromkeys(row["projection"] for row in document.rows if row["projection"]))
    return figure(
        message(
            "pair-curve.title", "XMoverScore by the number of pairs, {name}", name=document.name
        ),
        [
            message(
                "pair-curve.drawn",
                "Correlation with the human scores of {campaign} by the number of sentence pairs "
                "that a projection was fitted to, with 95% intervals. The dotted line is the "
                "metric without a projection.",
                campaign=document.campaign,
            )
        ],
        vconcat=[_panel(document, measure, names) for measure in DRAWN],
    )


def _panel(document: Document, measure: str, names: Sequence[str]) -> Spec:
    title = MEASURES[measure]
    values = [
        {
            "projection": row["projection"],
            "pairs": row["pairs"],
            "value": row[measure],
            "low": row[f"{measure}_low"],
            "high": row[f"{measure}_high"],
        }
        for row in document.rows
        if row[measure] is not None
    ]
    x = {
        "field": "pairs",
        "type": "quantitative",
        "title": PAIRS,
        "scale": {"type": "log", "nice": False, "padding": 16},
        "axis": {"values": sorted({v["pairs"] for v in values if v["pairs"]}), "grid": False,
                 "format": ",d", "labelExpr": "datum.label"},
    }  # fmt: skip
    scale = {"domain": list(names), "range": CATEGORY[: len(names)]}
    projection = {"field": "projection", "type": "nominal", "title": None}
    colours = projection | {"scale": scale}
    dashes = projection | {"scale": scale | {"range": DASHES[: len(names)]}}
    shapes = projection | {"scale": scale | {"range": SHAPES[: len(names)]}}

    def y(field: str) -> Spec:
        return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}}

    tooltip = [
        {"field": "projection", "title": PROJECTION},
        {"field": "pairs", "title": PAIRS},
        number("value", title),
        *(number(field, end) for field, end in ENDS.items()),
    ]
    fitted = [value for value in values if value["pairs"]]
    # Their colours are fixed: in a scale they would take over the legend of the lines.
    bands = [
        {"data": {"values": [value for value in fitted
                             if value["projection"] == name and value["low"] is not None]},
         "mark": {"type": "area", "opacity": 0.12, "color": CATEGORY[place]},
         "encoding": {"x": x, "y": y("low"), "y2": {"field": "high"}}}
        for place, name in enumerate(names)
    ]  # fmt: skip
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            *bands,
            {"data": {"values": fitted},
             "mark": {"type": "line", "point": {"filled": True, "size": 40}},
             "encoding": {"x": x, "y": y("value"), "color": colours, "strokeDash": dashes,
                          "shape": shapes, "tooltip": tooltip}},
            {"data": {"values": [value for value in values if not value["pairs"]]},
             "mark": {"type": "rule", "color": INK, "strokeDash": [2, 3]},
             "encoding": {"y": y("value")}},
        ],
    }  # fmt: skip


def _document(request: HttpRequest, pk: int) -> tuple[TrainingJob, Document]:
    job = get_object_or_404(of_readable_projects(TrainingJob.objects.all(), request.user), pk=pk)
    document = document_of(job)
    if document is None:
        raise Http404
    return job, document


@researcher_required
@require_safe
@takes(Parameters())
def job_data(request: HttpRequest, pk: int, fmt: str) -> HttpResponseBase:
    """Return the rows of a curve as csv, or the document as json."""
    job, document = _document(request, pk)
    rows = [SimpleNamespace(**row) for row in document.rows]
    return data_response(fmt, f"{job.name}-pairs", COLUMNS, rows, document)


@researcher_required
@require_safe
@takes(Parameters(frozenset(files.MARKS)))
def job_figure(request: HttpRequest, pk: int, figure: str, fmt: str) -> HttpResponseBase:
    """Return the figure of a curve as svg, pdf, png or json."""
    job, document = _document(request, pk)
    drawn = _figures(job, document)
    if figure not in drawn:
        raise Http404
    return files.response(request, drawn[figure], fmt, job.name)
