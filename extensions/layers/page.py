"""Show agreement by layer, for a campaign and averaged over a study's campaigns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.comparisons.selection import array, shows_bounds
from dashboards.comparisons.statistics import CEILING, HUMAN_CEILING, Bound
from dashboards.documents.head import StudyDocument
from dashboards.pages.page import Page, routes
from dashboards.papers import latex
from dashboards.papers.averages import Column, Line, columns_of, latex_table, line, warnings_of
from dashboards.trust.marks import forbidden
from extensions.layers.document import (
    DEFAULT,
    FIGURES,
    PARTS,
    STATISTICS,
    Encoder,
    Layers,
    Place,
    Profiled,
    Row,
    chosen,
    marks,
    parse,
)
from metaeval.messages import Message, message
from metaeval.sensitivity import Profile, choose

COLUMNS = ("campaign", "metric", "key", "layer", "part", "value", "is_recommended", "is_best")


@dataclass(frozen=True, kw_only=True)
class LayerLine(Line, Place):
    """A layer's measure over the campaigns of a study; `value` is the average."""


@dataclass(frozen=True, kw_only=True)
class Averaged(Encoder):
    """One metric over all campaigns, best average first."""

    rows: Sequence[LayerLine]


@dataclass(frozen=True)
class BoundRow:
    """A baseline or the human ceiling as a row of the data, without a layer."""

    campaign: str
    metric: str
    key: str
    value: float | None
    layer: str = ""
    part: str = ""
    is_recommended: bool = False
    is_best: bool = False


@dataclass(frozen=True, kw_only=True)
class BoundLine(Line):
    """A baseline or the human ceiling over the campaigns of a study; `value` is the average."""

    label: Message | str  # type: ignore[assignment]
    kind: str
    value: float | None


@dataclass(frozen=True, kw_only=True)
class LayersOfStudy(StudyDocument):
    """The document; `rows` belong to the campaigns."""

    name: str
    columns: Sequence[Column]
    statistic_label: Message | str
    metrics: Sequence[Averaged]
    rows: Sequence[Row]
    bounds: Sequence[BoundLine] = ()
    bound_rows: Sequence[BoundRow] = ()
    refused: Message | None = None


D = TypeVar("D", Layers, LayersOfStudy)


def ask(query: QueryDict) -> str:
    """Return the correlation of an address; FilterError for an unknown one."""
    return parse(query.get("statistic") or DEFAULT)


def choose_marks(document: D, query: QueryDict) -> D:
    """Remove recommendations where the verdict forbids marks; `refused` gives the reason.

    Baselines and human ceiling stay where the address asks for them.
    """
    if not shows_bounds(query):
        document = _without_bounds(document)
    reason = forbidden(document.trust)
    if not reason:
        return document
    metrics = [replace(each, choice=None, rows=_bare(each.rows)) for each in document.metrics]
    return replace(document, metrics=metrics, rows=_bare(document.rows), refused=reason)


def _without_bounds(document: D) -> D:
    if isinstance(document, LayersOfStudy):
        return replace(document, bounds=(), bound_rows=())
    return replace(document, bounds=())


def _bare(rows: Sequence[Place]) -> list[Any]:
    return [replace(row, is_recommended=False, is_best=False) for row in rows]


def lines(document: Layers) -> list[Row | BoundRow]:
    """Return all layers, and baselines and human ceiling where they are shown."""
    return [*document.rows, *_bound_rows(document.campaign, document.bounds)]


def _bound_rows(campaign: str, found: Sequence[Bound]) -> list[BoundRow]:
    return [BoundRow(campaign, each.kind, each.key, each.value) for each in found]


def tables(document: Layers) -> list[latex.Table]:
    """Return one table per metric: layers as rows, parts as columns, the recommended in bold."""
    found = [_layer_table(metric, document) for metric in document.metrics]
    return [*found, _bound_table(document)] if document.bounds else found


def _bound_table(document: Layers) -> latex.Table:
    body = [[latex.Cell(str(each.label)), latex.number(each.value)] for each in document.bounds]
    caption = f"Baselines and human ceiling: {document.statistic_label}, {document.name}."
    label = f"{document.campaign}-layers-bounds"
    return latex.Table(caption, label, "lr", [latex.texts("", "Value")], body)


def _layer_table(metric: Profiled, document: Layers) -> latex.Table:
    def number(row: Row | None) -> latex.Cell:
        return latex.number(row.value, is_bold=row.is_recommended) if row else latex.number(None)

    body = [[latex.Cell(str(layer)), *map(number, cells)] for layer, cells in metric.lines]
    caption = (
        f"{metric.label} by layer: {document.statistic_label}, {document.name}. Bold: "
        "recommended by held-out folds."
    )
    head = latex.texts("Layer", *metric.parts.values())
    label = f"{document.campaign}-{metric.metric}-layers"
    return latex.Table(caption, label, "r" * len(head), [head], body)


def combine(campaigns: Sequence[Campaign], documents: Sequence[Layers]) -> LayersOfStudy:
    """Average every layer over the campaigns of a study, and choose over all of them."""
    study = campaigns[0].study if campaigns else ""
    names = dict.fromkeys(each.metric for document in documents for each in document.metrics)
    return LayersOfStudy(
        study=study,
        name=study,
        columns=columns_of(campaigns),
        statistic_label=documents[0].statistic_label if documents else "",
        metrics=[_averaged(name, documents) for name in names],
        warnings=warnings_of(documents),
        rows=[row for document in documents for row in document.rows],
        bounds=_averaged_bounds(documents),
        bound_rows=[row for one in documents for row in _bound_rows(one.campaign, one.bounds)],
    )


def _averaged_bounds(documents: Sequence[Layers]) -> list[BoundLine]:
    """Return baselines and human ceiling over the campaigns."""
    found = {each.key: each for one in documents for each in one.bounds}
    values = [{each.key: each.value for each in document.bounds} for document in documents]
    lines = [line(key, key, [own.get(key) for own in values]) for key in found]
    return [
        BoundLine(
            **vars(each) | {"label": _label(found[each.key])},
            kind=found[each.key].kind,
            value=each.average,
        )
        for each in lines
    ]


def _label(bound: Bound) -> Message | str:
    """Return the label of a row over campaigns, which have different annotators."""
    return HUMAN_CEILING if bound.kind == CEILING else bound.label


def _averaged(name: str, documents: Sequence[Layers]) -> Averaged:
    found = [{each.metric: each for each in document.metrics}.get(name) for document in documents]
    present = [metric for metric in found if metric]
    places = {row.key: row for row in present[0].rows}
    values = [{row.key: row.value for row in metric.rows} if metric else {} for metric in found]
    lines = [line(key, row.name, [own.get(key) for own in values]) for key, row in places.items()]
    is_everywhere = all([*own] == [*places] for own in values)
    choice = choose([_profile(metric) for metric in present]) if is_everywhere else None
    best = chosen(choice, [*places], array([each.average for each in lines]))
    rows = [
        LayerLine(
            **vars(each) | marks(best, each.key),
            layer=places[each.key].layer,
            part=places[each.key].part,
            value=each.average,
        )
        for each in lines
    ]
    return Averaged(
        metric=name,
        label=present[0].label,
        checkpoint=present[0].checkpoint,
        choice=best,
        rows=sorted(rows, key=lambda row: float("inf") if row.value is None else -row.value),
    )


def _profile(metric: Profiled) -> Profile:
    values = array([row.value for row in metric.rows])
    return Profile(values, array(metric.train), array(metric.held_out))


def study_tables(document: LayersOfStudy) -> list[latex.Table]:
    """Return tables 8 and 11 to 14 of Cheng et al. 2023 with the study's own numbers."""
    overview = latex.Table(
        f"Recommended layer of each encoder, chosen on held-out folds: "
        f"{document.statistic_label}, averaged over campaigns.",
        "study-layers",
        "lrlrr",
        [latex.texts("Model", "Layer", "Type", "All segments", "Held out")],
        [_recommendation(metric) for metric in document.metrics if metric.choice],
    )
    return [
        overview,
        *(
            latex_table(
                f"{metric.label} ({metric.checkpoint}) by layer: {document.statistic_label}.",
                f"study-{metric.metric}-layers",
                document.columns,
                [("", metric.rows)],
            )
            for metric in document.metrics
        ),
        *([_study_bounds(document)] if document.bounds else []),
    ]


def _study_bounds(document: LayersOfStudy) -> latex.Table:
    caption = f"Baselines and human ceiling: {document.statistic_label}."
    rows = [replace(each, label=str(each.label)) for each in document.bounds]
    return latex_table(caption, "study-layers-bounds", document.columns, [("", rows)])


def study_lines(document: LayersOfStudy) -> list[Row | BoundRow]:
    """Return all layers of all campaigns, with baselines where they are shown."""
    return [*document.rows, *document.bound_rows]


def _recommendation(metric: Averaged) -> list[latex.Cell]:
    row, choice = metric.recommended, metric.choice
    return [
        latex.Cell(metric.checkpoint.rsplit("/", 1)[-1]),
        latex.Cell(str(row.layer)),
        latex.Cell(PARTS.get(row.part, row.part)),
        latex.number(choice.recommended_value if choice else None),
        latex.number(choice.held_out if choice else None),
    ]


LAYERS = Page(
    name="layers",
    title=message("page.layers", "Layers"),
    kind="layers",
    figures=FIGURES,
    template="layers/campaign.html",
    columns=COLUMNS,
    rows=lines,
    ask=ask,
    choose=choose_marks,
    tables=tables,
    takes=("statistic", "bounds"),
    statistics=STATISTICS,
    statistic=DEFAULT,
)
STUDY_LAYERS = LAYERS.of_study(
    figures=FIGURES,
    template="layers/study.html",
    tables=study_tables,
    rows=study_lines,
    combine=combine,
)


urlpatterns = [*routes(LAYERS), *routes(STUDY_LAYERS)]
