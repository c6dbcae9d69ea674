"""Three correlations of a metric with the humans, fast enough to be computed many times.

The numbers are those of `kendall`, `pearson` and `system_correlation` (`metaeval.correlation`),
without their intervals and warnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray, mean
from metaeval.correlation.measure import Measure
from metaeval.correlation.rows import kendall_tau, row_pearson
from metaeval.documents import recoded
from metaeval.messages import message
from metaeval.resampling import percentile_interval
from metaeval.scores.oriented import OrientedScores, sides
from metaeval.significance.bootstrap_values import weighted_kendall

LEVELS = {
    "tau": message("sensitivity.tau", "Segment level, Kendall τ-b"),
    "r_segment": message("sensitivity.r-segment", "Segment level, Pearson r"),
    "r_system": message("sensitivity.r-system", "System level, Pearson r over systems"),
}
KENDALL, PEARSON = Measure("kendall"), Measure()


def level_correlations(human: OrientedScores, metric: OrientedScores) -> FloatArray:
    """Return tau, r over outputs and r over systems, in the order of LEVELS; nan if undefined."""
    both = human.mask & metric.mask
    x, y = human.values[both], metric.values[both]
    over = over_systems(*(side[None] for side in sides(human, metric)))[0]
    return np.array([kendall_tau(x, y), row_pearson(x[None], y[None])[0], over])


def resampled_levels(
    human: FloatArray, metrics: Sequence[OrientedScores], counts: FloatArray
) -> FloatArray:
    """Return metrics x samples x 3: the correlations over segments drawn as ``counts`` says.

    Copies of an output tie on both sides. ``counts`` is samples x segments. Systems are scored over
    the drawn segments; given scores of whole systems are ignored.
    """
    found = np.empty((len(metrics), len(counts), len(LEVELS)))
    for both, places in alike([~np.isnan(human) & metric.mask for metric in metrics]):
        means, cells = OrientedScores(human).over(both, counts), np.nonzero(both)[1]
        others, small = [metrics[place].values[both] for place in places], counts.astype(np.float32)
        taus = weighted_kendall(human[both], others, small, KENDALL, cells)
        for place, tau in zip(places, taus, strict=True):
            r = _pearson(human, metrics[place].values, both, counts)
            over = over_systems(means, metrics[place].over(both, counts))
            found[place] = np.stack([tau, r, over], axis=1)
    return found


def alike(masks: Sequence[BoolArray]) -> list[tuple[BoolArray, list[int]]]:
    """Return each mask that occurs, with the places where it does."""
    found: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for place, mask in enumerate(masks):
        found.setdefault(mask.tobytes(), (mask, []))[1].append(place)
    return list(found.values())


def _pearson(
    human: FloatArray, values: FloatArray, both: BoolArray, counts: FloatArray
) -> FloatArray:
    """Pearson's r over cells from sums per segment, centred first so that digits survive."""
    if not both.any():
        return np.full(len(counts), np.nan)
    x = np.where(both, human - human[both].mean(), 0.0)
    y = np.where(both, values - values[both].mean(), 0.0)
    per_segment = [part.sum(axis=0) for part in (both.astype(float), x, y, x * x, y * y, x * y)]
    n, sx, sy, sxx, syy, sxy = (counts @ np.stack(per_segment, axis=1)).T
    vx, vy = n * sxx - sx**2, n * syy - sy**2
    known = (vx > 1e-12 * n * sxx) & (vy > 1e-12 * n * syy)
    r = np.full(len(counts), np.nan)
    r[known] = (n * sxy - sx * sy)[known] / np.sqrt(vx[known] * vy[known])
    return np.clip(r, -1.0, 1.0)


def over_systems(means: FloatArray, theirs: FloatArray) -> FloatArray:
    """Pearson over systems, a row a sample; nan for fewer than three systems."""
    return PEARSON.over_systems(np.broadcast_to(means, theirs.shape), theirs)


def draw_segments(
    rng: np.random.Generator, samples: int, n: int, size: int, clusters: IntArray | None = None
) -> FloatArray:
    """Return how often each of ``n`` segments occurs in samples of ``size`` with replacement.

    If ``clusters`` has the number of each segment's document (n,), whole documents are drawn: as
    many as have ``size`` segments on average. The result is samples x segments.
    """
    codes = np.arange(n) if clusters is None else recoded(clusters)
    units = int(codes.max(initial=-1)) + 1
    count = size if units == n else max(1, round(size * units / n))
    drawn = rng.integers(0, units, size=(samples, count)) + np.arange(samples)[:, None] * units
    counts = np.bincount(drawn.ravel(), minlength=samples * units).reshape(samples, units)
    return np.asarray(np.take(counts, codes, axis=1), dtype=np.float64)


def ranks(values: Sequence[float] | FloatArray) -> FloatArray:
    """Rank the largest 1; equal values share the better rank, nan has none.

    Examples
    --------
    >>> ranks([0.5, 0.7, 0.5]).tolist()
    [2.0, 1.0, 2.0]
    """
    table = np.asarray(values, dtype=np.float64)
    above = (table[None, :] > table[:, None]).sum(axis=1) + 1.0
    return np.where(np.isnan(table), np.nan, above)


# Correlations as a function of the number of segments, from resamples of different sizes.
# Documents are drawn with replacement, all systems' outputs of a document together, so the band
# at the full size is the percentile bootstrap's (Deutsch et al. 2021, with documents drawn and
# systems fixed). It shows how a correlation converges; with few documents it is too narrow as
# an interval. If no document has two segments, segments are drawn.


@dataclass(frozen=True)
class SizePoint:
    """One level of one metric at one size: mean and ends of the middle 95% of the samples.

    ``metric`` and ``size`` are indices; mean, low and high are nan if no sample is defined.
    """

    metric: int
    size: int
    level: str
    mean: float
    low: float
    high: float
    n_defined: int


def curves(
    human: FloatArray,
    metrics: Sequence[OrientedScores],
    sizes: Sequence[int],
    *,
    n_samples: int,
    rng: np.random.Generator,
    clusters: IntArray | None = None,
) -> Iterator[SizePoint]:
    """Yield a point for every metric, size and level, over judged segments.

    ``human`` is systems x segments, ``sizes`` are numbers of segments to draw: as many documents
    are drawn as have this number of segments on average. ``clusters`` is the number of each
    segment's document; by default each segment is a document of its own.
    """
    judged = ~np.isnan(human).all(axis=0)
    n, units = int(judged.sum()), None if clusters is None else clusters[judged]
    drawn = [draw_segments(rng, n_samples, n, size, units) for size in sizes]
    if not drawn:
        return
    # All samples are computed at once, so that the cells are sorted once and not for every size.
    parts = [metric.on_segments(judged) for metric in metrics]
    for place, found in enumerate(resampled_levels(human[:, judged], parts, np.concatenate(drawn))):
        for size, part in enumerate(np.split(found, len(drawn))):
            for level, values in zip(LEVELS, part.T, strict=True):
                yield _point(place, size, level, values[~np.isnan(values)])


def _point(metric: int, size: int, level: str, known: FloatArray) -> SizePoint:
    low, high, _ = percentile_interval(known)
    return SizePoint(metric, size, level, mean(known), low, high, len(known))
