"""How human scores and metrics' correlations change with the difficulty of the sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import as_floats, one_length, positive_int
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS, correlation_intervals
from metaeval.correlation.intervals.independent import mean_interval
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import panel
from metaeval.messages import data_error
from metaeval.results import Interval, Notes
from metaeval.scores.matrix import ScoreMatrix


@dataclass(frozen=True, kw_only=True, eq=False)
class DifficultyBin:
    """Segments of similar difficulty.

    ``low`` and ``high`` are the smallest and the largest difficulty score, ``human`` the mean human
    score with its interval over documents, ``correlations`` those of the metrics. Below 20 segments
    no interval is given: its ends are nan.
    """

    low: float
    high: float
    n_segments: int
    human: float
    human_interval: Interval
    correlations: CorrelationIntervals


def by_difficulty(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    difficulty: ArrayLike,
    measure: Measure | str = "pearson",
    *,
    n_bins: int = 5,
) -> list[DifficultyBin]:
    """Split segments into bins of about equal size by difficulty, hardest first.

    Parameters
    ----------
    human, metrics
        Matched by names, on the cells that the humans and every metric have.
    difficulty
        One score per human segment, smaller for harder ones, as quality estimates of the source
        alone (sentinel-src) are; segments with nan are excluded. A score that comes from the same
        human judgments makes the curve of human scores circular.
    n_bins
        Number of bins; segments with one score stay together, so there may be fewer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.normal(size=100)
    >>> human = ScoreMatrix(rng.normal(size=(3, 100)) + ease, "ABC", map(str, range(100)))
    >>> found = by_difficulty(human, {"m": human}, ease, n_bins=4)
    >>> [each.n_segments for each in found], found[0].human < found[-1].human
    ([25, 25, 25, 25], True)
    """
    positive_int("n_bins", n_bins)
    ease = as_floats("difficulty", difficulty, ndim=1)
    one_length(difficulty=ease, segments=human.segments)
    of_segment = dict(zip(human.segments, ease.tolist(), strict=True))
    scores = panel(human, metrics, Notes())
    own = np.array([of_segment[name] for name in scores.segments])
    own[~scores.valid.any(axis=0)] = np.nan
    known = np.sort(own[~np.isnan(own)])
    if not len(known):
        raise data_error("data.no-difficulty", "No judged segment has a difficulty score.")
    edges = np.unique(np.quantile(known, np.arange(1, n_bins) / n_bins, method="higher"))
    places = np.where(np.isnan(own), -1, np.searchsorted(edges, own, side="right"))
    found = []
    for place in np.unique(places[places >= 0]):
        names = [name for name, at in zip(scores.segments, places, strict=True) if at == place]
        part = scores.human_matrix.subset(segments=names)
        of_bin = {
            name: scores.matrix(index).subset(segments=names)
            for index, name in enumerate(scores.names)
        }
        means = part.segment_means()
        # Where the metrics' intervals are refused, that of the humans is no better.
        interval = mean_interval(means, clusters=part.clusters)
        if len(names) < FEWEST_SEGMENTS:
            interval = Interval(np.nan, np.nan, interval.confidence)
        found.append(
            DifficultyBin(
                low=float(own[places == place].min()),
                high=float(own[places == place].max()),
                n_segments=len(names),
                human=float(np.nanmean(means)),
                human_interval=interval,
                correlations=correlation_intervals(part, of_bin, measure),
            )
        )
    return found
