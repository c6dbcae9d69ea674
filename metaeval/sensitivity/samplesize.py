"""Correlations as a function of the number of segments, from resamples of different sizes.

Documents are drawn with replacement, all systems' outputs of a document together, so the band at
the full size is the percentile bootstrap's (Deutsch et al. 2021, with documents drawn and systems
fixed). It shows how a correlation converges; with few documents it is too narrow as an interval. If
no document has two segments, segments are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray, mean
from metaeval.resampling import percentile_interval
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity.levels import LEVELS, draw_segments, resampled_levels


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
