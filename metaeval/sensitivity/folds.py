"""Choose the measure that agrees best with the humans, and estimate its agreement by folds.

The correlation of the best of many layers is biased upwards, because it is chosen on the scores on
which it is evaluated. So segments are split into folds, by document. On each fold the layer that is
best on the other folds is evaluated, and the mean over folds estimates the agreement of a chosen
layer. Only the choice is fitted, so the inner loop of this nested cross-validation is the
correlation over the training segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.correlation.coefficients import correlate
from metaeval.correlation.hybrids.limits import hybrid_limits
from metaeval.scores.matrix import ScoreMatrix

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Profile:
    """Correlations of m measures; nan where undefined.

    `values` (m,) over all segments, `train` and `held_out` (folds, m) over the segments outside
    and inside each fold.
    """

    values: FloatArray
    train: FloatArray
    held_out: FloatArray


@dataclass(frozen=True)
class Choice:
    """A measure chosen on other segments than those on which it is evaluated; indices of measures.

    `recommended` is the measure that most folds chose, in `n_agreeing` of `n_folds`. `held_out` is
    the mean over folds of the agreement of each fold's choice. `best` is the best over all
    segments, and `best_by_fold` its mean over the same folds, which is biased upwards.
    """

    recommended: int
    n_agreeing: int
    n_folds: int
    held_out: float
    best: int
    best_by_fold: float


def folds(n_segments: int, clusters: IntArray | None = None) -> FloatArray:
    """Return folds x segments, 1 inside a fold: the same for all data with the same documents.

    A document is in one fold, because its segments resemble each other. There are five folds, or as
    many as documents. A source that several campaigns use is in the same fold in each of them.
    ``clusters`` is the number of each segment's document; by default each is one of its own.
    """
    codes = np.arange(n_segments) if clusters is None else clusters
    n_units = int(codes.max(initial=-1)) + 1
    n_folds = N_FOLDS if n_units == n_segments else min(N_FOLDS, n_units)
    position = np.random.default_rng(0).permutation(n_units) % n_folds
    return np.asarray(np.arange(n_folds)[:, None] == position[codes], dtype=np.float64)


def layer_profile(
    human: ScoreMatrix, measures: Mapping[str, ScoreMatrix], correlation: str
) -> Profile:
    """Correlate all measures with the humans over all segments and by fold.

    `correlation`: `limit` of hybrid systems, `kendall` (τ-b) or `pearson` over all cells.
    """
    inside = folds(human.shape[1], human.clusters)
    n_folds = len(inside)
    weights = np.vstack([np.ones(human.shape[1]), 1.0 - inside, inside])
    if correlation == "limit":
        found = hybrid_limits(human, measures, weights)
    else:
        found = np.array([_cells(human, measures, chosen, correlation) for chosen in weights > 0])
    return Profile(found[0], found[1 : n_folds + 1], found[n_folds + 1 :])


def _cells(
    human: ScoreMatrix, measures: Mapping[str, ScoreMatrix], chosen: BoolArray, correlation: str
) -> FloatArray:
    if not chosen.any():
        return np.full(len(measures), np.nan)
    segments = [name for name, is_in in zip(human.segments, chosen, strict=True) if is_in]
    ours = human.subset(segments=segments)
    found = [
        correlate(ours, measure.subset(segments=segments), correlation, has_interval=False)
        for measure in measures.values()
    ]
    return np.array([each.statistic for each in found])


def choose(found: Sequence[Profile]) -> Choice | None:
    """Choose by the mean over several profiles; None if no measure is defined in all of them."""
    values = np.mean([profile.values for profile in found], axis=0)
    train = np.mean([profile.train for profile in found], axis=0)
    held = np.mean([profile.held_out for profile in found], axis=0)
    if np.isnan(values).all() or np.isnan(train).all(axis=1).any():
        return None
    chosen = np.nanargmax(train, axis=1)
    votes = Counter(chosen.tolist())
    best = int(np.nanargmax(values))
    # If folds are tied, the value over all segments decides.
    recommended = max(votes, key=lambda index: (votes[index], values[index]))
    return Choice(
        recommended=int(recommended),
        n_agreeing=votes[recommended],
        n_folds=len(chosen),
        held_out=float(held[np.arange(len(chosen)), chosen].mean()),
        best=best,
        best_by_fold=float(held[:, best].mean()),
    )
