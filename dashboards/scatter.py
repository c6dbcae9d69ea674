"""The points of a scatter plot: which outputs, how they are drawn, where the axes disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from annotation.models import Campaign
from dashboards.frame import Frame, Integers, system_values
from dashboards.lengths import lengths, unit_of
from dashboards.measures import told
from dashboards.selectors import Floats
from metaeval.arrays import row_means

# Above this many points a page gets counts of a grid instead of the points.
MOST_POINTS = 3_000
BINS = 40
N_WORST = 15


@dataclass(frozen=True, eq=False)
class Axis:
    """Scores of one side, systems × segments; larger is better.

    `systems` are scores of whole systems that were published or imported as such, else None.
    """

    key: str
    label: str
    signature: str
    is_turned: bool
    values: Floats
    warnings: tuple[str, ...] = ()
    systems: Floats | None = None
    origin: str = ""

    def as_json(self) -> dict[str, Any]:
        """What a reader must know to quote it."""
        names = ("key", "label", "signature", "is_turned", "origin")
        return {name: getattr(self, name) for name in names}


def human_axis(frame: Frame) -> Axis:
    """The human scores."""
    human = frame.human
    return Axis(
        *("human", "Human score", human.source, False, human.values, human.warnings),
        systems=human.published_systems,
    )


def measure_axis(frame: Frame, key: str) -> Axis:
    """A measure of a metric."""
    measure = frame.measures[key]
    turned = not measure.higher_is_better
    systems = measure.systems if measure.systems is None or not turned else -measure.systems
    return Axis(
        *(key, measure.label, measure.signature, turned, frame.turned(key), tuple(told([measure]))),
        systems=systems,
        origin=measure.origin,
    )


@dataclass(frozen=True, eq=False)
class Points:
    """One entry a point: an output, or a whole system (`output` is then that of none)."""

    x: Floats
    y: Floats
    system: Integers
    output: Integers
    segment: Sequence[str]
    document: Sequence[str]
    systems: Sequence[str]

    def __len__(self) -> int:
        return len(self.x)


class Subset(Protocol):
    """What says which outputs a reader wants to see."""

    @property
    def system(self) -> str: ...
    @property
    def document(self) -> str: ...
    def whole(self, name: str) -> int | None: ...


def choose(campaign: Campaign, frame: Frame, x: Axis, y: Axis, subset: Subset) -> Points:
    """Return the outputs that both axes score and the reader wants."""
    segments = list(
        campaign.test_set.segments.order_by("position").values_list("key", "document", "source")
    )
    columns = _columns(campaign.test_set.source_language, segments, subset)
    rows = np.array([subset.system in ("", name) for name in frame.human.names], dtype=bool)
    wanted = rows[:, None] & columns & ~np.isnan(x.values) & ~np.isnan(y.values)
    systems, places = np.nonzero(wanted)
    return Points(
        x.values[wanted],
        y.values[wanted],
        systems,
        frame.outputs[wanted],
        [segments[place][0] for place in places],
        [segments[place][1] for place in places],
        frame.human.names,
    )


def _columns(
    language: str, segments: Sequence[tuple[str, str, str]], subset: Subset
) -> NDArray[np.bool_]:
    size = np.array(lengths([source for _, _, source in segments], unit_of(language)), dtype=int)
    wanted = np.array([subset.document in ("", document) for _, document, _ in segments], bool)
    low, high = subset.whole("shortest"), subset.whole("longest")
    if low is not None:
        wanted &= size >= low
    if high is not None:
        wanted &= size <= high
    return wanted


def system_points(frame: Frame, x: Axis, y: Axis, points: Points, subset: Subset) -> Points:
    """Return a point for every system, over the outputs chosen; corpus metrics from counts.

    Where all outputs are chosen, scores of whole systems that were published or imported as such
    count, and the other axis is over all that it has, as in the table of correlations.
    """
    cells = np.isin(frame.outputs, points.output) & (frame.outputs >= 0)
    is_part = bool(subset.document) or any(
        subset.whole(name) is not None for name in ("shortest", "longest")
    )
    sides = [
        _side(frame, axis, cells, is_part=is_part, is_beside=other.systems is not None)
        for axis, other in ((x, y), (y, x))
    ]
    wanted = [subset.system in ("", name) for name in points.systems]
    rows = enumerate(zip(*sides, wanted, strict=True))
    kept = [(i, a, b) for i, (a, b, is_wanted) in rows if is_wanted and a == a and b == b]
    index = np.array([i for i, _, _ in kept], dtype=np.int64)
    return Points(
        np.array([a for _, a, _ in kept], dtype=float),
        np.array([b for _, _, b in kept], dtype=float),
        index,
        np.full(len(kept), -1, dtype=np.int64),
        [""] * len(kept),
        [""] * len(kept),
        points.systems,
    )


def _side(
    frame: Frame, axis: Axis, cells: NDArray[np.bool_], *, is_part: bool, is_beside: bool
) -> list[float]:
    """One axis's scores of the systems; `is_beside`: the other's are of whole systems."""
    if is_part or not (is_beside or axis.systems is not None):
        return _system_scores(frame, axis, cells)
    if axis.systems is not None:
        return axis.systems.tolist()  # type: ignore[no-any-return]
    return _system_scores(frame, axis, ~np.isnan(axis.values))


def _system_scores(frame: Frame, axis: Axis, cells: NDArray[np.bool_]) -> list[float]:
    measure = frame.measures.get(axis.key)
    if measure is None:
        return row_means(np.where(cells, axis.values, np.nan)).tolist()  # type: ignore[no-any-return]
    return system_values(measure, cells).tolist()  # type: ignore[no-any-return]


def drawn(points: Points) -> dict[str, Any]:
    """Return `points` (x, y, output, system), or above `MOST_POINTS` the `bins` of a grid.

    A bin has its middle, its number of points, and the output nearest the middle.
    """
    if len(points) <= MOST_POINTS:
        names = [points.systems[i] for i in points.system]
        columns = (points.x.tolist(), points.y.tolist(), points.output.tolist(), names)
        rows = zip(*columns, points.segment, strict=True)
        return {"points": [list(row) for row in rows], "bins": []}
    return {"points": [], "bins": _bins(points)}


def _bins(points: Points) -> list[list[float]]:
    (columns, x_middles), (rows, y_middles) = _cut(points.x), _cut(points.y)
    far = ((points.x - x_middles[columns]) / (np.ptp(points.x) or 1.0)) ** 2
    far += ((points.y - y_middles[rows]) / (np.ptp(points.y) or 1.0)) ** 2
    place = rows * BINS + columns
    order = np.lexsort((far, place))
    cells, first, counts = np.unique(place[order], return_index=True, return_counts=True)
    nearest = points.output[order][first]
    return [
        [float(x_middles[cell % BINS]), float(y_middles[cell // BINS]), int(n), int(output)]
        for cell, n, output in zip(cells, counts, nearest, strict=True)
    ]


def _cut(values: Floats) -> tuple[Integers, Floats]:
    """Bin of every value, and the middles of the bins."""
    low, high = float(values.min()), float(values.max())
    width = (high - low) / BINS or 1.0
    index = np.minimum(((values - low) / width).astype(np.int64), BINS - 1)
    return index, low + (np.arange(BINS) + 0.5) * width


def worst(points: Points, order: str) -> list[dict[str, Any]]:
    """Return where the axes disagree most, in both directions.

    `gap` is z_y − z_x over the points shown, or with order `rank` the difference of their ranks
    as shares (0 lowest, 1 highest).
    """
    gaps = _gaps(points, order)
    if gaps is None:
        return []
    chosen = np.argsort(-gaps, kind="stable")[:N_WORST], np.argsort(gaps, kind="stable")[:N_WORST]
    above = [_row(points, gaps, i, "metric higher") for i in chosen[0] if gaps[i] > 0]
    below = [_row(points, gaps, i, "metric lower") for i in chosen[1] if gaps[i] < 0]
    return above + below


def _gaps(points: Points, order: str) -> Floats | None:
    """None where one axis does not vary: nothing can be said to be too high."""
    if len(points) < 2 or np.ptp(points.x) == 0 or np.ptp(points.y) == 0:
        return None
    x, y = (points.x, points.y) if order == "z" else (rankdata(points.x), rankdata(points.y))
    if order == "rank":
        return np.asarray((y - x) / (len(points) - 1))
    return np.asarray((y - y.mean()) / y.std(ddof=1) - (x - x.mean()) / x.std(ddof=1))


def _row(points: Points, gaps: Floats, i: int, side: str) -> dict[str, Any]:
    return {
        "side": side,
        "gap": float(gaps[i]),
        "system": points.systems[points.system[i]],
        "segment": points.segment[i],
        "document": points.document[i],
        "x": float(points.x[i]),
        "y": float(points.y[i]),
        "output": int(points.output[i]),
    }
