"""Choose the points of a scatter plot, bin them, and find where the axes disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.reasons import Measured, measure_fields
from dashboards.panel.human import Floats
from dashboards.panel.measures import lengths, unit_of, warnings_of
from dashboards.panel.panel import Panel
from dashboards.scatter.region import with_category
from metaeval.messages import Message, message
from metaeval.scores.oriented import OrientedScores
from metrics.grid import Integers

HIGHER, LOWER = "metric higher", "metric lower"
HUMAN_SCORE = message("scatter.human-score", "Human score")
# With more points than this, a page gets counts on a grid instead of the points.
MOST_POINTS = 3_000
BINS = 40
N_WORST = 15


# (x, y, output, system, segment), and a square of the grid: (x and y of its center, the number of
# its points, the output nearest the center).
Point = tuple[float, float, int, str, str]
Bin = tuple[float, float, int, int]


@dataclass(frozen=True)
class Disagreement:
    """An output on which the axes disagree; `side` is HIGHER or LOWER."""

    side: str
    gap: float
    system: str
    segment: str
    document: str
    x: float
    y: float
    output: int


@dataclass(frozen=True, kw_only=True)
class Side(Measured):
    """A measure, or the human scores, whose label and signature are messages."""

    label: Message | str  # type: ignore[assignment]
    signature: Message | str  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Axis:
    """Scores of one axis, larger is better, with a description and warnings."""

    about: Side
    scores: OrientedScores
    warnings: Sequence[Message]


def human_axis(panel: Panel) -> Axis:
    """Return the axis of the human scores."""
    human = panel.human
    described = Side(
        key="human", label=HUMAN_SCORE, signature=human.source, origin="", is_turned=False
    )
    return Axis(described, panel.scored.humans, human.warnings)


def measure_axis(panel: Panel, key: str) -> Axis:
    """Return the axis of a measure."""
    measure = panel.measures[key]
    return Axis(Side(**measure_fields(measure)), panel.scored.oriented(key), warnings_of([measure]))


@dataclass(frozen=True, eq=False)
class Points:
    """One entry per point: an output, or a whole system (`output` is then −1)."""

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
        """Return the chosen points."""
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
    """A choice of outputs."""

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
    """Return the chosen outputs that have scores on both axes."""
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
    """Return a point for every system, over the chosen outputs; corpus metrics use counts.

    Where all outputs are chosen, published or imported scores of whole systems are used, and the
    other axis is over all outputs that it scored, as in the table of correlations.
    """
    cells = np.isin(panel.outputs, points.output) & (panel.outputs >= 0)
    is_part = bool(subset.document) or any(
        subset.whole(name) is not None for name in ("shortest", "longest")
    )
    of_whole = [axis.scores.systems is not None and not is_part for axis in (x, y)]
    both = [
        _of_systems(axis.scores, cells, is_whole=own, is_other_whole=other)
        for axis, own, other in zip((x, y), of_whole, reversed(of_whole), strict=True)
    ]
    wanted = [subset.system in ("", name) for name in points.systems]
    rows = enumerate(zip(*(side.tolist() for side in both), wanted, strict=True))
    both_known = [(i, a, b) for i, (a, b, is_wanted) in rows if is_wanted and a == a and b == b]
    n = len(both_known)
    return Points(
        np.array([a for _, a, _ in both_known], dtype=float),
        np.array([b for _, _, b in both_known], dtype=float),
        np.array([i for i, _, _ in both_known], dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        [""] * n,
        [""] * n,
        points.systems,
    )


def _of_systems(
    scores: OrientedScores, cells: NDArray[np.bool_], *, is_whole: bool, is_other_whole: bool
) -> Floats:
    """Return one axis's scores of the systems, whole ones or over outputs."""
    if is_whole and scores.systems is not None:
        return scores.systems
    return scores.over(scores.mask if is_other_whole else cells)


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
    """Return the bin of every value, and the centers of the bins."""
    low, high = float(values.min()), float(values.max())
    width = (high - low) / BINS or 1.0
    index = np.minimum(((values - low) / width).astype(np.int64), BINS - 1)
    return index, low + (np.arange(BINS) + 0.5) * width


def worst(points: Points, found: Floats | None, inside: NDArray[np.bool_]) -> list[Disagreement]:
    """Return the chosen points with the largest disagreements, in both directions.

    `found` are the gaps of all points (`metaeval.sensitivity.gaps`), None where there are none.
    """
    if found is None:
        return []
    shown = np.where(inside, found, 0.0)
    high, low = (np.argsort(side, kind="stable")[:N_WORST] for side in (-shown, shown))
    above = [_row(points, found, i, HIGHER) for i in high if shown[i] > 0]
    below = [_row(points, found, i, LOWER) for i in low if shown[i] < 0]
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
