"""Correlate every layer of metrics that store several, and choose a layer on folds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import slugify

from annotation.filters import Filters
from annotation.models import Campaign, TestSet
from core.caching import ttl_cache
from dashboards.charts.style import CATEGORY, DASHES, INK, NAME, SHAPES, Spec, figure, number
from dashboards.comparisons.statistics import CEILING, FLOOR, Bound, not_one_of, values_of_bounds
from dashboards.documents.head import CampaignDocument, head
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel, read_panel
from metaeval.messages import Message, message
from metaeval.sensitivity import Choice, choose, layer_profile
from metrics.base import MetricInfo
from metrics.catalogue import infos
from metrics.imported.naming import layer_of
from metrics.scores import latest_signatures

# Find the measures of a metric that are layers of its encoder.

PARTS = {"p": "P", "r": "R", "f": "F1"}
# The names in tables 11 to 14 of Cheng et al. 2023.
SHORT = {"p": "P", "r": "R", "f": "F"}
SCORE = message("layers.score", "score")


def part_label(part: str) -> Message | str:
    """Return the label of a part of a layer's measures."""
    return PARTS.get(part, part) if part else SCORE


def layers_of(info: MetricInfo) -> dict[str, tuple[int, str]]:
    """Return (layer, part) by measure of a metric that stores several layers, else nothing.

    Such measures are named `metric-layer` or `metric-layer-part`; part is `p`, `r`, `f` or other.
    """
    pattern = re.compile(rf"{re.escape(info.name)}-(\d+)(?:-([a-z0-9]+))?")
    found = {key: pattern.fullmatch(key) for key in info.measures}
    layers = {key: (int(m[1]), m[2] or "") for key, m in found.items() if m}
    several = len({layer for layer, _ in layers.values()}) > 1
    return layers if several and len(layers) == len(info.measures) else {}


@dataclass(frozen=True)
class Layered:
    """An encoder with several layers: the layer and part of each of its measures, by key.

    `metrics` are those of the catalogue that have the measures.
    """

    name: str
    label: str
    checkpoint: str
    places: Mapping[str, tuple[int, str]]
    metrics: Sequence[str]


def encoders(known: Mapping[str, MetricInfo]) -> list[Layered]:
    """Return the encoders of metrics: those that store all layers, and imported ones by layer."""
    found = [
        Layered(info.name, info.label, info.checkpoint, places, [info.name])
        for info in known.values()
        if (places := layers_of(info))
    ]
    imported: dict[str, dict[str, tuple[int, str]]] = {}
    for name, info in known.items():
        if place := layer_of(info):
            imported.setdefault(place[0], {})[name] = place[1:]
    return found + [
        Layered(slugify(name), name, name, places, list(places))
        for name, places in imported.items()
    ]


VERSION = 9
DEFAULT = "limit"
STATISTICS = {
    "limit": message("layers.limit", "System level, Pearson r over hybrids (limit)"),
    "kendall": message("layers.kendall", "Segment level, Kendall τ-b"),
    "pearson": message("layers.pearson", "Segment level, Pearson r"),
}
# The same statistics as questions of other pages.
QUESTIONS = {"limit": "limit", "kendall": "tau-b/none", "pearson": "pearson/none"}
Number = float | None


@dataclass(frozen=True, kw_only=True)
class Place:
    """A measure of one layer and part (precision, recall or F1), and whether it was chosen."""

    key: str
    layer: int
    part: str
    value: Number
    is_recommended: bool = False
    is_best: bool = False

    @property
    def name(self) -> str:
        """The name that the study prints, such as `layer.8.R`."""
        return f"layer.{self.layer}.{SHORT.get(self.part, self.part)}".removesuffix(".")


@dataclass(frozen=True, kw_only=True)
class Row(Place):
    """A measure of a campaign: a row of the data."""

    campaign: str
    metric: str


@dataclass(frozen=True)
class Chosen:
    """A `metaeval.sensitivity.Choice` by the keys of measures, with their values."""

    recommended: str
    recommended_value: Number
    n_agreeing: int
    n_folds: int
    held_out: Number
    best: str
    best_value: Number
    best_by_fold: Number


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """A metric that stores several layers; `choice` is None where none can be recommended."""

    metric: str
    label: str
    checkpoint: str
    choice: Chosen | None
    rows: Sequence[Any]

    @property
    def recommended(self) -> Any:
        """The row of the recommended measure."""
        return next((row for row in self.rows if row.is_recommended), None)

    @property
    def best(self) -> Any:
        """The row of the measure that is best on all segments."""
        return next((row for row in self.rows if row.is_best), None)


@dataclass(frozen=True, kw_only=True)
class Profiled(Encoder):
    """One metric over `n` outputs of a campaign; `train` and `held_out` are folds × rows."""

    n: int
    rows: Sequence[Row]
    train: Sequence[Sequence[Number]]
    held_out: Sequence[Sequence[Number]]

    @property
    def parts(self) -> dict[str, Message | str]:
        """The headings of the columns of a table of layers."""
        return {row.part: part_label(row.part) for row in self.rows}

    @property
    def lines(self) -> list[tuple[int, list[Row | None]]]:
        """Every layer with its row of each part."""
        found = {(row.layer, row.part): row for row in self.rows}
        layers = dict.fromkeys(row.layer for row in self.rows)
        return [(layer, [found.get((layer, part)) for part in self.parts]) for layer in layers]


@dataclass(frozen=True, kw_only=True)
class Layers(CampaignDocument):
    """The document; `refused` is the reason why no layer is recommended.

    `bounds` are baselines and human ceiling by the same statistic, over all judged outputs.
    """

    n_judged: int
    correlation: str
    statistic_label: Message
    metrics: Sequence[Profiled]
    rows: Sequence[Row]
    bounds: Sequence[Bound] = ()
    bound_notes: Sequence[Message] = ()
    refused: Message | None = None


DOCUMENT = Layers


def has_layers(campaign: Campaign) -> bool:
    """Return whether a metric that stores several layers has scored a campaign's texts (cached)."""
    found = campaign.test_set
    return ttl_cache(("layers", found.pk), lambda: any(map(_is_layered, _scored(found))))


def _scored(test_set: TestSet) -> list[MetricInfo]:
    known = infos(retired=True)
    return [known[name] for name in latest_signatures(test_set)]


def _is_layered(info: MetricInfo) -> bool:
    return bool(layers_of(info)) or layer_of(info) is not None


def parse(question: str) -> str:
    """Return the correlation of a question; FilterError for an unknown one."""
    if question not in STATISTICS:
        raise not_one_of("statistic", question, list(STATISTICS))
    return question


def compute(campaign: Campaign, filters: Filters, question: str = DEFAULT) -> Layers:
    """Return every layer's correlation by metric, over all segments and by fold."""
    correlation = parse(question)
    layered = encoders(infos(retired=True))
    panel = read_panel(campaign, filters, all_of=[n for each in layered for n in each.metrics])
    human = panel.human
    metrics = [
        _profiled(campaign, encoder, panel, correlation)
        for encoder in layered
        if human.n and encoder.places.keys() & panel.measures.keys()
    ]
    bounds = values_of_bounds(campaign, filters, panel, QUESTIONS[correlation]) if metrics else None
    return Layers(
        **head(campaign, human),
        n_judged=human.n,
        correlation=correlation,
        statistic_label=STATISTICS[correlation],
        metrics=metrics,
        warnings=list(human.warnings),
        rows=[row for metric in metrics for row in metric.rows],
        bounds=bounds.rows if bounds else (),
        bound_notes=bounds.notes if bounds else (),
    )


def _profiled(campaign: Campaign, encoder: Layered, panel: Panel, correlation: str) -> Profiled:
    places = encoder.places
    keys = [key for key in panel.measures if key in places]
    scored = panel.only(keys).scored
    ours = scored.human
    matrices = {key: ours.with_values(scored.oriented(key).values) for key in keys}
    found = layer_profile(ours, matrices, correlation)
    choice = chosen(choose([found]), keys, found.values)
    return Profiled(
        metric=encoder.name,
        label=encoder.label,
        checkpoint=encoder.checkpoint,
        n=int((ours.mask & matrices[keys[0]].mask).sum()),
        rows=[
            Row(
                campaign=campaign.slug,
                metric=encoder.name,
                layer=places[key][0],
                part=places[key][1],
                value=value,
                **marks(choice, key),
            )
            for key, value in zip(keys, found.values.tolist(), strict=True)
        ],
        choice=choice,
        train=found.train.tolist(),
        held_out=found.held_out.tolist(),
    )


def marks(choice: Chosen | None, key: str) -> dict[str, Any]:
    """Return the fields of a `Place` on its key and whether it was chosen."""
    recommended, best = (choice.recommended, choice.best) if choice else ("", "")
    return {"key": key, "is_recommended": key == recommended, "is_best": key == best}


def chosen(choice: Choice | None, keys: Sequence[str], values: Floats) -> Chosen | None:
    """Return a choice among measures with these keys and values."""
    if choice is None:
        return None
    return Chosen(
        keys[choice.recommended],
        float(values[choice.recommended]),
        choice.n_agreeing,
        choice.n_folds,
        choice.held_out,
        keys[choice.best],
        float(values[choice.best]),
        choice.best_by_fold,
    )


# Draw agreement with humans by layer: lines for precision, recall and F1, a panel per encoder.

CORRELATION = message("layers.correlation", "correlation")
LAYER = message("layers.layer", "layer")


def profiles(document: Layers) -> Spec | None:
    """Draw every layer of every encoder; a ring marks the layer chosen on held-out folds."""
    values = [
        {
            "encoder": metric.label,
            "layer": row.layer,
            "part": part_label(row.part),
            "value": row.value,
            "is_recommended": row.is_recommended,
        }
        for metric in document.metrics
        for row in metric.rows
        if row.value is not None
    ]
    if not values:
        return None
    parts = list(dict.fromkeys(value["part"] for value in values))
    values += [
        {"encoder": metric.label, "bound": bound.label, "value": bound.value}
        for metric in document.metrics
        for bound in _ends(document.bounds)
    ]
    x = {"field": "layer", "type": "quantitative", "title": LAYER, "axis": {"tickMinStep": 1}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": CORRELATION,
        "scale": {"zero": False},
    }
    part = {"field": "part", "type": "nominal", "title": None, "sort": parts}
    lines = {
        "transform": [{"filter": "isValid(datum.part)"}],
        "mark": {"type": "line", "point": {"filled": True, "size": 30}},
        "encoding": {
            "x": x,
            "color": part | {"scale": {"domain": parts, "range": CATEGORY[: len(parts)]}},
            "strokeDash": part | {"scale": {"domain": parts, "range": DASHES[: len(parts)]}},
            "shape": part | {"scale": {"domain": parts, "range": SHAPES[: len(parts)]}},
            "tooltip": [
                {"field": "part", "title": NAME},
                {"field": "layer", "title": LAYER},
                number("value", CORRELATION),
            ],
        },
    }
    ring = {
        "transform": [{"filter": "datum.is_recommended"}],
        "mark": {"type": "point", "size": 160, "color": INK, "strokeWidth": 2},
        "encoding": {"x": x},
    }
    bounds = [
        message("layers.bound", "{name}: {value:r}.", name=each.label, value=each.value)
        for each in _ends(document.bounds)
    ]
    described = message(
        "layers.described",
        "{statistic} of every layer; layer 0 is the embedding. A ring marks the layer chosen on "
        "held-out folds.",
        statistic=document.statistic_label,
    )
    title = message(
        "layers.title",
        "Agreement by layer in {name}: {statistic}",
        name=document.name,
        statistic=document.statistic_label,
    )
    return figure(
        title,
        [described, *bounds],
        data={"values": values},
        facet={"row": {"field": "encoder", "type": "nominal", "title": None}},
        spec={
            "width": 460,
            "height": 160,
            "encoding": {"y": y},
            "layer": [lines, ring, *(_rules() if document.bounds else [])],
        },
        resolve={"scale": {"y": "independent", "x": "independent"}},
    )


def _ends(bounds: Sequence[Any]) -> list[Any]:
    """Return the best baseline and the human ceiling, of a campaign or over those of a study."""
    known = [each for each in bounds if each.value is not None]
    floors = [each for each in known if each.kind == FLOOR]
    best = max(floors, key=lambda each: each.value or 0.0, default=None)
    return [*([best] if best else []), *(each for each in known if each.kind == CEILING)]


def _rules() -> list[Spec]:
    """Return a horizontal line for each of them, with its name."""
    only = [{"filter": "isValid(datum.bound)"}]
    text = {"type": "text", "align": "left", "dx": 4, "dy": -5, "color": INK}
    return [
        {"transform": only, "mark": {"type": "rule", "color": INK, "strokeDash": [2, 3]}},
        {
            "transform": only,
            "mark": text,
            "encoding": {"text": {"field": "bound"}, "x": {"value": 0}},
        },
    ]


FIGURES = {"profiles": profiles}
