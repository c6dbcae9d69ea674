"""Corpus metrics from sufficient statistics: scores of summed counts, many sums at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray
from metaeval.scores import ScoreMatrix

ScoreFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """Additive statistics of a corpus metric.

    Parameters
    ----------
    values
        float64, systems x segments x k: the counts of each output. A cell is missing where any
        of its k entries is nan.
    systems, segments
        Names of the first two axes.
    score
        Maps summed counts (h x k) to scores (h): `bleu_score`, `bleu_star_score`, `chrf_score`
        or your own; it must be vectorised over h.

    Examples
    --------
    >>> counts = [[[1, 4], [2, 4]], [[4, 4], [4, 4]]]
    >>> ratio = lambda sums: sums[:, 0] / sums[:, 1]
    >>> CorpusStatistics(counts, ["A", "B"], ["s1", "s2"], ratio).system_scores().tolist()
    [0.375, 1.0]
    """

    values: FloatArray
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    score: ScoreFunction

    def __init__(
        self,
        values: ArrayLike,
        systems: Iterable[str],
        segments: Iterable[str],
        score: ScoreFunction,
    ) -> None:
        array = np.array(values, dtype=np.float64)
        if array.ndim != 3 or array.shape[2] == 0:
            raise ValueError(f"values: expected systems x segments x k, got {array.shape}")
        names = ScoreMatrix(array[:, :, 0], systems, segments)
        array.setflags(write=False)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "systems", names.systems)
        object.__setattr__(self, "segments", names.segments)
        object.__setattr__(self, "score", score)

    def presence(self) -> ScoreMatrix:
        """Return a matrix that is 0 where statistics are present and nan where not."""
        missing = np.isnan(self.values).any(axis=2)
        return ScoreMatrix(np.where(missing, np.nan, 0.0), self.systems, self.segments)

    def subset(self, systems: Iterable[str], segments: Iterable[str]) -> FloatArray:
        """Return the counts of the named systems and segments, in that order."""
        rows = [self.systems.index(name) for name in systems]
        index = {name: position for position, name in enumerate(self.segments)}
        return self.values[np.ix_(rows, [index[name] for name in segments])]

    def system_scores(self) -> FloatArray:
        """Return the corpus score of each system over its segments."""
        return self.score(np.nan_to_num(self.values, nan=0.0).sum(axis=1))


def bleu_score(sums: FloatArray) -> FloatArray:
    """BLEU (0-100) of summed counts, without smoothing of zero counts except exp, as sacrebleu.

    Parameters
    ----------
    sums
        h x 10: system length, reference length, matches of order 1-4, n-grams of order 1-4
        (the order of sacrebleu's sufficient statistics).

    Notes
    -----
    BLEU = BP x exp(mean log p_n) (Papineni et al. 2002); a zero match count of an order that has
    n-grams counts as 1/2^k of one for the k-th such order (method 3 of Chen and Cherry 2014).
    """
    length, reference = sums[:, 0], sums[:, 1]
    penalty = np.zeros(len(sums))
    np.divide(reference, length, out=penalty, where=length > 0)
    penalty = np.where(length > 0, np.exp(np.minimum(0.0, 1.0 - penalty)), 0.0)
    return penalty * bleu_star_score(sums)


def bleu_star_score(sums: FloatArray) -> FloatArray:
    """BLEU* = BLEU without the brevity penalty: 100 x geometric mean of the precisions.

    Takes the same h x 10 counts as `bleu_score` (Cheng et al. 2023: outputs are meant to be
    shorter than the reference, so the penalty would measure the task, not the quality).

    Examples
    --------
    >>> counts = [[10, 12, 8, 6, 4, 2, 10, 8, 6, 4]]
    >>> bleu_star_score(np.array(counts, dtype=float)).round(3).tolist()
    [66.874]
    """
    matches, totals = sums[:, 2:6], sums[:, 6:10]
    empty = (matches == 0) & (totals > 0)
    smoothed = np.where(empty, 0.5 ** np.cumsum(empty, axis=1), matches)
    precisions = np.zeros_like(smoothed)
    np.divide(smoothed, totals, out=precisions, where=totals > 0)
    with np.errstate(divide="ignore"):
        scores = 100.0 * np.exp(np.log(precisions).mean(axis=1))
    return np.where(matches.any(axis=1), scores, 0.0)


def chrf_score(sums: FloatArray, *, beta: float = 2.0) -> FloatArray:
    """chrF (0-100) of summed counts (Popović 2015).

    Parameters
    ----------
    sums
        h x 3 orders: per order n-grams of the output, of the reference, and matches (the order
        of sacrebleu's sufficient statistics). Orders without n-grams on either side are left out
        of the average ("effective order").
    beta
        Weight of recall.
    """
    output, reference, match = (sums[:, start::3] for start in range(3))
    used = (output > 0) & (reference > 0)
    precision, recall = np.zeros_like(match), np.zeros_like(match)
    np.divide(match, output, out=precision, where=used)
    np.divide(match, reference, out=recall, where=used)
    orders = used.sum(axis=1)
    mean_p, mean_r = np.zeros(len(sums)), np.zeros(len(sums))
    np.divide(precision.sum(axis=1), orders, out=mean_p, where=orders > 0)
    np.divide(recall.sum(axis=1), orders, out=mean_r, where=orders > 0)
    factor = beta * beta
    scores = np.zeros(len(sums))
    below = factor * mean_p + mean_r
    np.divide(100.0 * (1.0 + factor) * mean_p * mean_r, below, out=scores, where=below > 0)
    return scores
