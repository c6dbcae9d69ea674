"""Correlations of many variants of the human scores that differ from each other in few cells.

All cells, with all values that they have in any variant, are sorted once. A variant then selects
some of these entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.scores.oriented import OrientedScores, sides
from metaeval.sensitivity.levels import (
    KENDALL,
    LEVELS,
    alike,
    level_correlations,
    over_systems,
    ranks,
)
from metaeval.significance.bootstrap_values import (
    stretches,
    weighted_kendall,
    weighted_pearson,
)

# A variant with more new values than this share of the cells is computed separately.
FEW = 0.1
# Bytes of variants that are computed at a time: a byte a cell.
MOST = 2**27


@dataclass(frozen=True, eq=False)
class _Entries:
    """The entries of all variants: cells (as indices of systems x segments) and human scores.

    `weights` (variants x entries) is True where a variant has an entry; `systems` (entries x
    systems) is 1 where an entry is of a system.
    """

    cells: IntArray
    scores: FloatArray
    weights: BoolArray
    systems: FloatArray

    def levels(self, metrics: Sequence[OrientedScores]) -> FloatArray:
        """Return metrics x variants x LEVELS; over systems by means on both sides."""
        theirs = [metric.values.ravel()[self.cells] for metric in metrics]
        found = np.full((len(metrics), len(self.weights), len(LEVELS)), np.nan)
        for known, places in alike([~np.isnan(each) for each in theirs]):
            if known.any():
                others = [theirs[place][known] for place in places]
                found[places] = self._on(known).against(others)
        return found

    def _on(self, known: BoolArray) -> _Entries:
        return _Entries(
            self.cells[known], self.scores[known], self.weights[:, known], self.systems[known]
        )

    def against(self, others: Sequence[FloatArray]) -> FloatArray:
        """Return others x variants x LEVELS, of scores that have every entry."""
        taus = weighted_kendall(self.scores, others, self.weights, KENDALL)
        parts = [
            self._sums(others, self.weights[at].astype(np.float64))
            for at in stretches(*self.weights.shape)
        ]
        return np.concatenate([taus[:, :, None], np.concatenate(parts, axis=1)], axis=2)

    def _sums(self, others: Sequence[FloatArray], w: FloatArray) -> FloatArray:
        """Return both Pearson's r, which are of sums over entries."""
        x, n = self.scores, w @ self.systems
        with np.errstate(invalid="ignore", divide="ignore"):
            ours = w @ (self.systems * x[:, None]) / n
            means = [w @ (self.systems * y[:, None]) / n for y in others]
        r = [weighted_pearson(x - x.mean(), y - y.mean(), w) for y in others]
        return np.stack([r, [over_systems(ours, each) for each in means]], axis=2)


def variant_tables(
    human: FloatArray, others: Sequence[OrientedScores], metrics: Sequence[OrientedScores]
) -> list[FloatArray]:
    """Return metrics x LEVELS for each variant of the human scores, systems x segments.

    ``human`` has the scores that most variants share in most cells; nan is missing.
    """
    found = np.full((len(others), len(metrics), len(LEVELS)), np.nan)
    are_means = all(one.systems is None for one in (*others, *metrics))
    most = FEW * np.count_nonzero(~np.isnan(human)) if are_means else -1.0
    is_alike = np.array([_n_new(human, one.values) <= most for one in others], dtype=bool)
    few = [one for one, yes in zip(others, is_alike, strict=True) if yes]
    places, step = np.flatnonzero(is_alike), max(1, MOST // max(human.size, 1))
    for start in range(0, len(few), step):
        entries = _entries(human, [one.values for one in few[start : start + step]])
        found[places[start : start + step]] = entries.levels(metrics).swapaxes(0, 1)
    for at, metric in enumerate(metrics):
        if metric.counts is not None and few:
            # A score of summed counts is not a mean, so it is computed for each variant.
            both = [sides(one, metric) for one in few]
            found[is_alike, at, -1] = over_systems(*map(np.array, zip(*both, strict=True)))
        for row in np.flatnonzero(~is_alike):
            found[row, at] = level_correlations(others[row], metric)
    return list(found)


def _n_new(human: FloatArray, other: FloatArray) -> int:
    return int(np.count_nonzero(~np.isnan(other) & (other != human)))


def _entries(human: FloatArray, others: Sequence[FloatArray]) -> _Entries:
    base, known = human.ravel(), np.flatnonzero(~np.isnan(human.ravel()))
    tables = [other.ravel() for other in others]
    new = [np.flatnonzero(~np.isnan(table) & (table != base)) for table in tables]
    cells = np.concatenate([known, *new])
    scores = np.concatenate(
        [base[known], *(table[at] for table, at in zip(tables, new, strict=True))]
    )
    weights = np.zeros((len(others), len(cells)), dtype=np.bool_)
    end = len(known)
    for row, table, at in zip(weights, tables, new, strict=True):
        row[: len(known)] = (table == base)[known]
        row[end : end + len(at)] = True
        end += len(at)
    systems = np.eye(len(human))[cells // human.shape[1]]
    return _Entries(cells, scores, weights, systems)


@dataclass(frozen=True, eq=False)
class Movement:
    """Changes of metrics on one level: ``change`` is new - old, nan if one is undefined.

    ``rank_change`` is above 0 if a metric's rank improves. ``most`` is the metric with the largest
    change and ``best`` the best one afterwards, None if all are undefined. ``n_ranks`` counts the
    metrics whose rank changes.
    """

    change: FloatArray
    rank: FloatArray
    rank_change: FloatArray
    most: int | None
    best: int | None
    n_ranks: int | None


def movement(old: FloatArray, new: FloatArray) -> Movement:
    """Compare the correlations of (metrics,) before and after.

    Examples
    --------
    >>> found = movement(np.array([0.5, 0.4]), np.array([0.3, 0.4]))
    >>> found.most, found.best, found.n_ranks, found.rank_change.tolist()
    (0, 1, 2, [-1.0, 1.0])
    """
    change, before, after = new - old, ranks(old), ranks(new)
    known = ~np.isnan(change)
    most = best = n_ranks = None
    if known.any():
        most = int(np.argmax(np.where(known, np.abs(change), -1.0)))
        best = int(np.argmax(np.where(known, new, -np.inf)))
        n_ranks = int(((after != before) & known).sum())
    return Movement(change, after, before - after, most, best, n_ranks)
