"""Which of many measures agrees best with the humans, and how well without having looked.

The best of many layers flatters: it is chosen on the very scores it is then judged by. So segments
are split into folds, by document; on each the layer is used that was best on the others, and the
mean over folds is what a chosen layer is worth. Nothing but the choice is fitted, so the inner
loop of this nested cross-validation is the correlation over the training segments.
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
    """A measure chosen without the segments that it is then judged by; indices of measures.

    `recommended` is the measure that most folds chose, in `n_agreeing` of `n_folds`; `held_out` is
    the mean over folds of what each fold's own choice reached there. `best` is the best over all
    segments, and `best_by_fold` its mean over the same folds: chosen on what it is judged by.
    """

    recommended: int
    n_agreeing: int
    n_folds: int
    held_out: float
    best: int
    best_by_fold: float


def folds(n_segments: int, clusters: IntArray | None = None) -> FloatArray:
    """Return folds x segments, 1 inside a fold: the same for all data with the same documents.

    A document is in one fold: its segments resemble each other, so that a layer chosen on some of
    them would be judged by what it was chosen on. There are five folds, or as many as documents.
    Several campaigns rate outputs for the same sources; a source is then in one fold everywhere.
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
    """Choose by the mean over several profiles; None where no measure is defined everywhere."""
    values = np.mean([profile.values for profile in found], axis=0)
    train = np.mean([profile.train for profile in found], axis=0)
    held = np.mean([profile.held_out for profile in found], axis=0)
    if np.isnan(values).all() or np.isnan(train).all(axis=1).any():
        return None
    chosen = np.nanargmax(train, axis=1)
    votes = Counter(chosen.tolist())
    best = int(np.nanargmax(values))
    # Where folds disagree evenly, all segments decide.
    recommended = max(votes, key=lambda index: (votes[index], values[index]))
    return Choice(
        recommended=int(recommended),
        n_agreeing=votes[recommended],
        n_folds=len(chosen),
        held_out=float(held[np.arange(len(chosen)), chosen].mean()),
        best=best,
        best_by_fold=float(held[:, best].mean()),
    )
