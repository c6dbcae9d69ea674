"""A metric's scores with the sign that makes larger better, and what they make of whole systems.

A system's score is one that the metric came with, the score of its summed counts, or the mean of
its segments: whoever needs it asks here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from metaeval.arrays import BoolArray, FloatArray
from metaeval.scores.corpus import ScoreFunction, system_scores


@dataclass(frozen=True, eq=False)
class TurnedScores:
    """Scores of one metric, or of the humans; nan where there is none.

    ``values`` is systems x segments. ``counts`` (systems x segments x k) and ``score`` (of h x k
    sums) are there where a system's score is made of summed counts. ``systems`` has the scores of
    whole systems that came with the others: they count instead.
    """

    values: FloatArray
    counts: FloatArray | None = None
    score: ScoreFunction | None = None
    systems: FloatArray | None = None

    @property
    def mask(self) -> BoolArray:
        """Where there is a score, systems x segments."""
        return ~np.isnan(self.values)

    def over(self, cells: BoolArray, weights: FloatArray | None = None) -> FloatArray:
        """Score the systems over some cells, as `system_scores` does."""
        return system_scores(
            self.values, cells, counts=self.counts, score=self.score, weights=weights
        )

    def on_segments(self, chosen: BoolArray) -> TurnedScores:
        """The same on some segments, which scores of whole systems say nothing of."""
        counts = None if self.counts is None else self.counts[:, chosen]
        return TurnedScores(self.values[:, chosen], counts, self.score)

    def without_systems(self) -> TurnedScores:
        """The same where scores of whole systems are not known."""
        return self if self.systems is None else replace(self, systems=self.systems * np.nan)


def sides(
    human: TurnedScores, metric: TurnedScores, cells: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the systems' human scores and those of a metric, (systems,) each.

    Both over the same cells: those given, by default those that both scored. Human scores of whole
    systems are of all segments: there the metric covers all that it scored. Scores of systems that
    a metric came with stand beside all that the humans judged.

    Examples
    --------
    >>> human = TurnedScores(np.array([[1.0, 3.0], [2.0, np.nan]]))
    >>> metric = TurnedScores(np.array([[4.0, np.nan], [6.0, 8.0]]))
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
