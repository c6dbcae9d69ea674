"""The points of a scatter plot: which outputs, how they are drawn, where the axes disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.measured import Measured, about
from dashboards.panel.human import Floats
from dashboards.panel.lengths import lengths, unit_of
from dashboards.panel.measures import told
from dashboards.panel.panel import Panel
from dashboards.scatter.region import with_category
from metaeval.scores.oriented import OrientedScores
from metrics.grid import Integers

# Above this many points a page gets counts of a grid instead of the points.
MOST_POINTS = 3_000
BINS = 40
N_WORST = 15


# (x, y, output, system, segment), and a square of the grid: (x and y of its middle, how many
# points it has, the output nearest the middle).
Point = tuple[float, float, int, str, str]
Bin = tuple[float, float, int, int]


@dataclass(frozen=True)
class Disagreement:
    """An output on which the axes disagree; `side` says which is higher."""

    side: str
    gap: float
    system: str
    segment: str
    document: str
    x: float
    y: float
    output: int


@dataclass(frozen=True, eq=False)
class Axis:
    """Scores of one side; larger is better. `about` is what a reader must know to quote them."""

    about: Measured
    scores: OrientedScores
    warnings: Sequence[str]


def human_axis(panel: Panel) -> Axis:
    """The human scores."""
    human = panel.human
    said = Measured(
        key="human", label="Human score", signature=human.source, origin="", is_turned=False
    )
    return Axis(said, panel.scored.humans, human.warnings)


def measure_axis(panel: Panel, key: str) -> Axis:
    """A measure of a metric."""
    measure = panel.measures[key]
    return Axis(Measured(**about(measure)), panel.scored.oriented(key), told([measure]))


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

    def part(self, chosen: NDArray[np.bool_]) -> "Points":
        """Return some of them."""
        at = np.flatnonzero(chosen).tolist()
        return Points(
            self.x[at],
            self.y[at],
            self.system[at],
            self.output[at],
            [self.segment[place] for place in at],
            [self.document[place] for place in at],
            self.systems,
        )


class Subset(Protocol):
    """What says which outputs a reader wants to see."""

    @property
    def system(self) -> str: ...
    @property
    def document(self) -> str: ...
    @property
    def category(self) -> str: ...
    def whole(self, name: str) -> int | None: ...


def choose(
    campaign: Campaign, panel: Panel, x: Axis, y: Axis, subset: Subset, filters: Filters
) -> Points:
    """Return the outputs that both axes score and the reader wants."""
    segments = list(
        campaign.test_set.segments.order_by("position").values_list("key", "document", "source")
    )
    columns = _columns(campaign.test_set.source_language, segments, subset)
    rows = np.array([subset.system in ("", name) for name in panel.human.names], dtype=bool)
    wanted = rows[:, None] & columns & x.scores.mask & y.scores.mask
    if subset.category:
        wanted &= np.isin(panel.outputs, with_category(campaign, filters, subset.category))
    systems, places = np.nonzero(wanted)
    return Points(
        x.scores.values[wanted],
        y.scores.values[wanted],
        systems,
        panel.outputs[wanted],
        [segments[place][0] for place in places],
        [segments[place][1] for place in places],
        panel.human.names,
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


def system_points(panel: Panel, x: Axis, y: Axis, points: Points, subset: Subset) -> Points:
    """Return a point for every system, over the outputs chosen; corpus metrics from counts.

    Where all outputs are chosen, scores of whole systems that were published or imported as such
    count, and the other axis is over all that it has, as in the table of correlations.
    """
    cells = np.isin(panel.outputs, points.output) & (panel.outputs >= 0)
    is_part = bool(subset.document) or any(
        subset.whole(name) is not None for name in ("shortest", "longest")
    )
    of_whole = [axis.scores.systems is not None and not is_part for axis in (x, y)]
    both = [
        _of_systems(axis.scores, cells, is_whole=own, is_beside=other)
        for axis, own, other in zip((x, y), of_whole, reversed(of_whole), strict=True)
    ]
    wanted = [subset.system in ("", name) for name in points.systems]
    rows = enumerate(zip(*(side.tolist() for side in both), wanted, strict=True))
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


def _of_systems(
    scores: OrientedScores, cells: NDArray[np.bool_], *, is_whole: bool, is_beside: bool
) -> Floats:
    """One axis's scores of the systems: of whole ones, or beside such, or over some cells."""
    if is_whole and scores.systems is not None:
        return scores.systems
    return scores.over(scores.mask if is_beside else cells)


def drawn(points: Points) -> tuple[list[Point], list[Bin]]:
    """Return the points, or above `MOST_POINTS` the bins of a grid."""
    if len(points) > MOST_POINTS:
        return [], _bins(points)
    names = [points.systems[i] for i in points.system]
    columns = (points.x.tolist(), points.y.tolist(), points.output.tolist(), names)
    return list(zip(*columns, points.segment, strict=True)), []


def _bins(points: Points) -> list[Bin]:
    (columns, x_middles), (rows, y_middles) = _cut(points.x), _cut(points.y)
    far = ((points.x - x_middles[columns]) / (np.ptp(points.x) or 1.0)) ** 2
    far += ((points.y - y_middles[rows]) / (np.ptp(points.y) or 1.0)) ** 2
    place = rows * BINS + columns
    order = np.lexsort((far, place))
    cells, first, counts = np.unique(place[order], return_index=True, return_counts=True)
    nearest = points.output[order][first]
    return [
        (float(x_middles[cell % BINS]), float(y_middles[cell // BINS]), int(n), int(output))
        for cell, n, output in zip(cells, counts, nearest, strict=True)
    ]


def _cut(values: Floats) -> tuple[Integers, Floats]:
    """Bin of every value, and the middles of the bins."""
    low, high = float(values.min()), float(values.max())
    width = (high - low) / BINS or 1.0
    index = np.minimum(((values - low) / width).astype(np.int64), BINS - 1)
    return index, low + (np.arange(BINS) + 0.5) * width


def worst(points: Points, found: Floats | None, inside: NDArray[np.bool_]) -> list[Disagreement]:
    """Return where the axes disagree most, in both directions, of the points that are chosen.

    `found` are the gaps of all points (`metaeval.sensitivity.gaps`), None where there are none.
    """
    if found is None:
        return []
    shown = np.where(inside, found, 0.0)
    high, low = (np.argsort(side, kind="stable")[:N_WORST] for side in (-shown, shown))
    above = [_row(points, found, i, "metric higher") for i in high if shown[i] > 0]
    below = [_row(points, found, i, "metric lower") for i in low if shown[i] < 0]
    return above + below


def _row(points: Points, found: Floats, i: int, side: str) -> Disagreement:
    return Disagreement(
        side=side,
        gap=float(found[i]),
        system=points.systems[points.system[i]],
        segment=points.segment[i],
        document=points.document[i],
        x=float(points.x[i]),
        y=float(points.y[i]),
        output=int(points.output[i]),
    )
