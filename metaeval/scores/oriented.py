"""A metric's scores, oriented so that higher is better, and its scores of systems.

The score of a system is an imported system score, the score of its summed counts, or the mean of
its segments. This module decides which.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from metaeval.arrays import BoolArray, FloatArray
from metaeval.scores.corpus import ScoreFunction, system_scores


@dataclass(frozen=True, eq=False)
class OrientedScores:
    """Scores of one metric or the human scores; nan if missing.

    ``values`` has shape (systems, segments). ``counts`` (systems, segments, k) and ``score`` (of
    sums of shape (h, k)) are given if a system's score is computed from summed counts. ``systems``
    has imported system scores, which are used instead of means or counts.
    """

    values: FloatArray
    counts: FloatArray | None = None
    score: ScoreFunction | None = None
    systems: FloatArray | None = None

    @property
    def mask(self) -> BoolArray:
        """Whether there is a score; shape (systems, segments)."""
        return ~np.isnan(self.values)

    def over(self, cells: BoolArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the system scores over some cells (`system_scores`)."""
        return system_scores(
            self.values, cells, counts=self.counts, score=self.score, weights=weights
        )

    def on_segments(self, chosen: BoolArray) -> OrientedScores:
        """Return the scores of some segments; imported system scores do not apply to them."""
        counts = None if self.counts is None else self.counts[:, chosen]
        return OrientedScores(self.values[:, chosen], counts, self.score)

    def without_systems(self) -> OrientedScores:
        """Return the scores with unknown imported system scores (nan)."""
        return self if self.systems is None else replace(self, systems=self.systems * np.nan)


def sides(
    human: OrientedScores, metric: OrientedScores, cells: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the human scores and the metric scores of systems; shape (systems,) each.

    Both are computed over the same cells: the given ones, by default those that both scored.
    Human scores of whole systems are based on all segments, so the metric's scores are computed
    over all cells that it scored. Imported system scores of a metric are compared with human
    scores over all judged cells.

    Examples
    --------
    >>> human = OrientedScores(np.array([[1.0, 3.0], [2.0, np.nan]]))
    >>> metric = OrientedScores(np.array([[4.0, np.nan], [6.0, 8.0]]))
    >>> [side.tolist() for side in sides(human, metric)]
    [[1.0, 2.0], [4.0, 6.0]]
    """
    if metric.systems is not None:
        judged = human.mask if cells is None else cells
        return (human.over(judged) if human.systems is None else human.systems), metric.systems
    if human.systems is not None:
        return human.systems, metric.over(metric.mask)
    both = human.mask & metric.mask if cells is None else cells
    return human.over(both), metric.over(both)
