"""Compare a metric with the humans by output or system, and find the largest disagreements."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from dashboards.comparisons.statistics import CEILING, FLOOR, ceiling_label
from dashboards.correlations.agreement import NO_HUMAN_SCORES, NO_SCORES
from dashboards.correlations.document import MOST_PEOPLE, person_label
from dashboards.documents.head import CampaignDocument, head
from dashboards.panel.choice import Choice
from dashboards.panel.human import Floats, read_ratings
from dashboards.panel.measures import unit_of
from dashboards.panel.panel import Panel, baseline_label, floor_panel, read_panel
from dashboards.scatter import region
from dashboards.scatter.points import (
    Axis,
    Bin,
    Disagreement,
    Point,
    Points,
    Side,
    choose,
    drawn,
    human_axis,
    measure_axis,
    system_points,
    worst,
)
from metaeval import StatisticsWarning
from metaeval.messages import Message, message, truncated
from metaeval.replication.bounds import Ceiling, Ratings, ceiling
from metaeval.replication.questions import parse
from metaeval.sensitivity import Pooled, gaps, pooled, within_systems
from metrics.grid import Integers

if TYPE_CHECKING:
    pass

PERSON = "person"


@dataclass(frozen=True, kw_only=True)
class OnPoints:
    """A baseline, an annotator against the others, or the mean over annotators, on `n` points."""

    key: str
    label: Message | str
    kind: str
    n: int
    r: float | None
    tau: float | None
    r_within: float | None = None


def baselines_on(panel: Panel, x: Axis, points: Points, choice: "ScatterChoice") -> list[OnPoints]:
    """Return every baseline against the horizontal axis, over the same outputs or systems."""
    floors = floor_panel(panel)
    return [
        _floor(key, measure_axis(floors, key), panel, x, points, choice) for key in floors.measures
    ]


def _floor(
    key: str, floor: Axis, panel: Panel, x: Axis, points: Points, choice: "ScatterChoice"
) -> OnPoints:
    if choice.level == "system":
        found = system_points(panel, x, floor, points, choice)
        ours, theirs, systems = found.x, found.y, None
    else:
        values = floor.scores.values.ravel()[_places(panel, points.output)]
        known = np.isfinite(values)
        ours, theirs, systems = points.x[known], values[known], points.system[known]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        statistics = pooled(ours, theirs, systems)
    return OnPoints(
        key=key,
        label=baseline_label(key, str(floor.about.label)),
        kind=FLOOR,
        n=len(ours),
        r=statistics.r,
        tau=statistics.tau,
        r_within=statistics.r_within,
    )


def _places(panel: Panel, outputs: Integers) -> Integers:
    """Return the positions of outputs in the flattened grid."""
    flat = panel.outputs.ravel()
    order = np.argsort(flat, kind="stable")
    return np.asarray(order[np.searchsorted(flat, outputs, sorter=order)])


def annotators_on(
    campaign: Campaign, filters: Filters, panel: Panel, outputs: Integers
) -> list[OnPoints]:
    """Return the mean over annotators, and each of up to `MOST_PEOPLE`; empty without ratings."""
    ratings = read_ratings(campaign, filters, panel.human)
    if ratings is None or not len(outputs):
        return []
    chosen = np.isin(ratings.place, _places(panel, outputs))
    part = Ratings(ratings.annotator[chosen], ratings.place[chosen], ratings.score[chosen])
    scored = panel.only([]).scored
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        r, tau = (ceiling(part, scored, parse(key)) for key in ("pearson/none", "tau-b/none"))
    return _people(campaign, r, tau) if r.n else []


def _people(campaign: Campaign, r: Ceiling, tau: Ceiling) -> list[OnPoints]:
    labels = dict(campaign.annotators.values_list("pk", "label"))
    taus = dict(zip(tau.annotators.tolist(), tau.values.tolist(), strict=True))
    rows = zip(r.annotators.tolist(), r.overlaps.tolist(), r.values.tolist(), strict=True)
    mean = OnPoints(
        key=CEILING,
        label=ceiling_label(r.n),
        kind=CEILING,
        n=int(r.overlaps.max()),
        r=r.mean,
        tau=tau.mean,
    )
    every: Sequence[OnPoints] = [
        OnPoints(
            key=f"person:{labels.get(pk, pk)}",
            label=person_label(labels.get(pk, str(pk))),
            kind=PERSON,
            n=n,
            r=value,
            tau=taus.get(pk),
        )
        for pk, n, value in rows
    ]
    return [mean, *(every if len(every) <= MOST_PEOPLE else [])]


VERSION = 6
HUMAN = "human"
SEGMENT, SYSTEM = "segment", "system"
NO_POINTS = message("scatter.no-points", "No output has both scores under this choice.")
SAME_AXES = message("scatter.same-axes", "Choose a metric to plot against the humans.")


@dataclass(frozen=True)
class ScatterChoice(Choice):
    """`metric` against `against` (the humans, or another measure), and a choice of outputs.

    `shortest` and `longest` bound the length of the source, `category` is the category of a marked
    error, and `order` the measure of disagreement. The others select a region of the plot
    (`dashboards.scatter.region`), over which everything but the plot is computed.
    """

    metric: str = ""
    against: str = HUMAN
    level: str = SEGMENT
    system: str = ""
    document: str = ""
    shortest: str = ""
    longest: str = ""
    order: str = "z"
    category: str = ""
    x_from: str = ""
    x_to: str = ""
    y_from: str = ""
    y_to: str = ""
    apart: str = ""
    side: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("level", SEGMENT, SYSTEM)
        self.one_of("order", "z", "rank")
        low, high = self.whole("shortest"), self.whole("longest")
        if low is not None and high is not None and low > high:
            raise FilterError(
                message(
                    "scatter.lengths",
                    "shortest ({low}) must not be above longest ({high}).",
                    low=low,
                    high=high,
                )
            )
        region.check(self)


@dataclass(frozen=True)
class Offered:
    """A measure that a reader may choose."""

    key: str
    label: str


@dataclass(frozen=True)
class Statistics:
    """Statistics over all points; `r_within` after subtracting each system's mean on both sides."""

    r: float | None
    tau: float | None
    r_within: float | None
    is_paradox: bool


@dataclass(frozen=True)
class OfSystem:
    """One system's outputs; `is_opposite` where r has another sign than the pooled r."""

    system: str
    n: int
    mean_x: float | None
    mean_y: float | None
    r: float | None
    tau: float | None
    is_opposite: bool


@dataclass(frozen=True, kw_only=True)
class Scatter(CampaignDocument):
    """`metric` (vertical) against `against`: `n` points, or above `MOST_POINTS` bins of them.

    `problem` is the reason where there is nothing to show; the fields below it are empty then.
    `statistics`, `by_system` and `rows` (the largest disagreements) use the `n_selected` points of
    the chosen region, and `selected` are their positions; `overall` uses all points. `bounds` are
    baselines and annotators on the same points.
    """

    source_language: str
    target_language: str
    level: str
    order: str
    length_unit: str
    measures: Sequence[Offered]
    systems: Sequence[str]
    documents: Sequence[str]
    categories: Sequence[str]
    n_outputs: int
    problem: Message | None = None
    metric: Side | None = None
    against: Side | None = None
    n: int = 0
    statistics: Statistics | None = None
    overall: Statistics | None = None
    n_selected: int = 0
    selected: Sequence[int] = ()
    points: Sequence[Point] = ()
    bins: Sequence[Bin] = ()
    rows: Sequence[Disagreement] = ()
    by_system: Sequence[OfSystem] = ()
    bounds: Sequence[OnPoints] = ()


FILTERS = ScatterChoice
DOCUMENT = Scatter


def compute(campaign: Campaign, filters: Filters) -> Scatter:
    """Return the points (or their bins), statistics, and the largest disagreements."""
    if not isinstance(filters, ScatterChoice):
        filters = ScatterChoice(**vars(filters))
    panel = read_panel(campaign, filters)
    axes = _axes(panel, filters)
    if not isinstance(axes, Message) and _has_systems_alone(*axes):
        filters = replace(filters, level=SYSTEM)
    known = _head(campaign, panel, filters)
    if isinstance(axes, Message):
        return Scatter(**known, problem=axes, warnings=panel.human.warnings)
    y, x = axes
    points = choose(campaign, panel, x, y, filters, filters)
    if filters.level == SYSTEM:
        by_system = _by_system(points, np.ones(len(points), dtype=np.bool_))
        bounds = baselines_on(panel, x, points, filters) if len(points) else []
        points = system_points(panel, x, y, points, filters)
        return Scatter(**known, **_body(points, x, y, filters), by_system=by_system, bounds=bounds)
    inside = region.inside(points.x, points.y, _gaps(points, filters), filters)
    part = points.part(inside)
    bounds = baselines_on(panel, x, part, filters) if len(part) else []
    if filters.against == HUMAN:
        bounds += annotators_on(campaign, filters, panel, part.output)
    by_system = _by_system(points, inside)
    return Scatter(**known, **_body(points, x, y, filters), by_system=by_system, bounds=bounds)


def _has_systems_alone(y: Axis, x: Axis) -> bool:
    """Return whether no output has both scores, but systems have."""
    is_somewhere = bool((y.scores.mask & x.scores.mask).any())
    return not is_somewhere and any(axis.scores.systems is not None for axis in (y, x))


def _by_system(points: Points, inside: NDArray[np.bool_]) -> list[OfSystem]:
    found = within_systems(points.x[inside], points.y[inside], points.system[inside])
    return [OfSystem(**vars(one) | {"system": points.systems[one.system]}) for one in found]


def _gaps(points: Points, filters: ScatterChoice) -> Floats | None:
    return gaps(points.x, points.y, by=filters.order)


def _body(points: Points, x: Axis, y: Axis, filters: ScatterChoice) -> dict[str, Any]:
    systems = points.system if filters.level == SEGMENT else None
    apart = _gaps(points, filters)
    inside = region.inside(points.x, points.y, apart, filters)
    every = pooled(points.x, points.y, systems)
    part = None if systems is None else systems[inside]
    found = pooled(points.x[inside], points.y[inside], part)
    paradox = [_paradox(found)] if found.is_paradox else []
    shown, bins = drawn(points)
    return {
        "problem": None if len(points) else NO_POINTS,
        "metric": y.about,
        "against": x.about,
        "n": len(points),
        "statistics": _statistics(found),
        "overall": _statistics(every),
        "n_selected": int(inside.sum()),
        "selected": np.flatnonzero(inside).tolist() if shown and not inside.all() else (),
        "warnings": list(dict.fromkeys([*x.warnings, *y.warnings, *paradox, *found.warnings])),
        "points": shown,
        "bins": bins,
        "rows": worst(points, apart, inside),
    }


def _statistics(found: Pooled) -> Statistics:
    return Statistics(found.r, found.tau, found.r_within, found.is_paradox)


def _paradox(found: Pooled) -> Message:
    return message(
        "scatter.simpsons-paradox",
        "Simpson’s paradox: r is {pooled:r} pooled over systems but {within:r} within systems, and "
        "{opposite} of {systems} systems have the opposite sign. The pooled value reflects "
        "differences between systems, not between their outputs (or the reverse). Report both.",
        pooled=found.r,
        within=found.r_within,
        opposite=found.n_opposite,
        systems=found.n_known,
    )


def _axes(panel: Panel, filters: ScatterChoice) -> tuple[Axis, Axis] | Message:
    """Return the vertical and the horizontal axis, or the reason why there are none."""
    if not panel.measures:
        return NO_SCORES
    chosen = filters.metric or next(iter(panel.measures))
    for key in (chosen, filters.against):
        if key not in panel.measures and key != HUMAN:
            return message(
                "scatter.no-measure",
                "There are no scores of “{metric}” here. There are scores of {metrics}.",
                metric=key,
                metrics=truncated(list(panel.measures), 30),
            )
    if chosen == HUMAN:
        return SAME_AXES
    if filters.against == HUMAN and not panel.human.is_there:
        return NO_HUMAN_SCORES
    y = measure_axis(panel, chosen)
    return y, human_axis(panel) if filters.against == HUMAN else measure_axis(
        panel, filters.against
    )


def _head(campaign: Campaign, panel: Panel, filters: ScatterChoice) -> dict[str, Any]:
    test_set = campaign.test_set
    documents = test_set.segments.order_by("position").values_list("document", flat=True)
    measures = panel.measures.values()
    return {
        **head(campaign, panel.human),
        "unit": "",
        "source_language": test_set.source_language,
        "target_language": test_set.target_language,
        "level": filters.level,
        "order": filters.order,
        "length_unit": unit_of(test_set.source_language),
        "measures": [Offered(each.key, each.label) for each in measures],
        "systems": panel.human.names,
        "documents": list(dict.fromkeys(name for name in documents if name)),
        "categories": region.categories(campaign),
        "n_outputs": int((panel.outputs >= 0).sum()),
    }
