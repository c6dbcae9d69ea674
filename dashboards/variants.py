"""Correlations of many variants of the human scores that differ from each other in few cells.

Every cell and every other value of one is put in order once; a variant is which of them it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboards import brief
from dashboards.selectors import Floats
from metaeval.arrays import IntArray
from metaeval.resampled import weighted, weighted_pearson

# A variant with more new values than this share of the cells is computed by itself.
FEW = 0.1


@dataclass(frozen=True, eq=False)
class Variants:
    """The entries of all variants: cells (as indices of systems x segments) and human scores.

    `weights` (variants x entries) is 1 where a variant has an entry; `systems` (entries x systems)
    is 1 where an entry is of a system.
    """

    cells: IntArray
    scores: Floats
    weights: Floats
    systems: Floats

    def correlations(self, one: brief.Brief) -> tuple[Floats, Floats]:
        """Return tau and Pearson's r over outputs of a measure in every variant."""
        theirs = one.values.ravel()[self.cells]
        known = ~np.isnan(theirs)
        x, y, w = self.scores[known], theirs[known], self.weights[:, known]
        if not len(x):
            nothing = np.full(len(w), np.nan)
            return nothing, nothing
        return weighted(x, y, w, brief.KENDALL), weighted_pearson(x - x.mean(), y - y.mean(), w)

    def means(self, one: brief.Brief) -> tuple[Floats, Floats]:
        """Return the systems' human scores and mean scores of a measure: variants x systems."""
        theirs = one.values.ravel()[self.cells]
        known = ~np.isnan(theirs)
        w, systems = self.weights[:, known], self.systems[known]
        n = w @ systems
        with np.errstate(invalid="ignore", divide="ignore"):
            ours = w @ (systems * self.scores[known, None]) / n
            return ours, w @ (systems * theirs[known, None]) / n


def tables(
    human: Floats, others: Sequence[Floats], measures: Sequence[brief.Brief]
) -> list[Floats]:
    """Return measures x statistics (of brief.STATISTICS) for each variant, systems x segments.

    `human` is what most variants agree with in most cells; nan is no score.
    """
    found = np.full((len(others), len(measures), len(brief.STATISTICS)), np.nan)
    most = FEW * np.count_nonzero(~np.isnan(human))
    is_alike = np.array([_n_new(human, one) <= most for one in others], dtype=bool)
    few = [one for one, yes in zip(others, is_alike, strict=True) if yes]
    alike = _entries(human, few)
    for at, measure in enumerate(measures):
        if alike is not None:
            found[is_alike, at] = _of_alike(alike, measure, few)
        for row in np.flatnonzero(~is_alike):
            found[row, at] = brief.correlations(others[row], measure)
    return list(found)


def _of_alike(alike: Variants, measure: brief.Brief, others: Sequence[Floats]) -> Floats:
    """Return variants x statistics; the scores of a corpus metric are no means."""
    tau, r = alike.correlations(measure)
    if measure.statistics is None:
        over = brief.over_systems(*alike.means(measure))
    else:
        sides = [brief.sides(one, measure) for one in others]
        over = brief.over_systems(*(np.array(side) for side in zip(*sides, strict=True)))
    return np.stack([tau, r, over], axis=1)


def _n_new(human: Floats, other: Floats) -> int:
    return int(np.count_nonzero(~np.isnan(other) & (other != human)))


def _entries(human: Floats, others: Sequence[Floats]) -> Variants | None:
    if not others:
        return None
    table = np.stack(others).reshape(len(others), -1)
    base = np.flatnonzero(~np.isnan(human.ravel()))
    is_new = ~np.isnan(table) & (table != human.ravel())
    row, cell = np.nonzero(is_new)
    cells = np.concatenate([base, cell])
    weights = np.zeros((len(others), len(cells)))
    weights[:, : len(base)] = (~np.isnan(table) & ~is_new)[:, base]
    weights[row, len(base) + np.arange(len(row))] = 1.0
    scores = np.concatenate([human.ravel()[base], table[row, cell]])
    systems = np.eye(len(human))[cells // human.shape[1]]
    return Variants(cells, scores, weights, systems)
