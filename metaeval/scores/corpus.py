"""Scores of whole systems: means of segment scores, or corpus scores of summed counts.

A system's score is computed over the cells that both sides have: the mean of its segment scores, or
a corpus metric's score of the summed counts. Otherwise means over different segments would be
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, mean_along, of_shape, ratio
from metaeval.documents import clusters_from
from metaeval.messages import data_error
from metaeval.results import ShortRepr
from metaeval.scores.matrix import ScoreMatrix, placed

ScoreFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CorpusStatistics(ShortRepr):
    """Additive statistics of a corpus metric.

    Parameters
    ----------
    values
        float64, systems x segments x k: the counts of each output. A cell is missing where any
        of its k entries is nan.
    systems, segments, documents
        Names of the first two axes, and the document of each segment (`ScoreMatrix`).
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
    documents: tuple[str, ...] | None

    def __init__(
        self,
        values: ArrayLike,
        systems: Iterable[str],
        segments: Iterable[str],
        score: ScoreFunction,
        documents: Iterable[str] | None = None,
    ) -> None:
        array = np.array(values, dtype=np.float64)
        if array.ndim != 3 or array.shape[2] == 0:
            raise data_error(
                "argument.shape", "{name}: expected shape {shape}, got {got}.",
                name="values", shape="systems × segments × k", got=str(array.shape),
            )  # fmt: skip
        names = ScoreMatrix(array[:, :, 0], systems, segments, documents)
        array.setflags(write=False)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "systems", names.systems)
        object.__setattr__(self, "segments", names.segments)
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "documents", names.documents)

    @cached_property
    def clusters(self) -> IntArray:
        """The number of each segment's document, (segments,): 0, 1, … in order of appearance."""
        return clusters_from(self.documents, len(self.segments))

    def by_segment(self) -> CorpusStatistics:
        """Return the same counts with every segment as a document of its own."""
        return CorpusStatistics(self.values, self.systems, self.segments, self.score)

    def of_others(self, values: ArrayLike, systems: Sequence[str]) -> CorpusStatistics:
        """Return counts of other systems on the same segments."""
        array, found = np.array(values, dtype=np.float64), copy(self)
        of_shape("values", array, (len(systems), *self.values.shape[1:]))
        array.setflags(write=False)
        object.__setattr__(found, "values", array)
        object.__setattr__(found, "systems", tuple(systems))
        return found

    def at(self, systems: Sequence[str], segments: Sequence[str]) -> FloatArray:
        """Return the counts at the places of other names (systems x segments x k), else nan."""
        return placed(self.values, (self.systems, self.segments), (systems, segments))

    def subset(self, systems: Iterable[str], segments: Iterable[str]) -> FloatArray:
        """Return the counts of the named systems and segments, in that order."""
        rows = [self.systems.index(name) for name in systems]
        index = {name: position for position, name in enumerate(self.segments)}
        return self.values[np.ix_(rows, [index[name] for name in segments])]

    def system_scores(self) -> FloatArray:
        """Return the corpus score of each system over its segments; nan for one without any."""
        totals = self.values.sum(axis=2)  # nan where any count is
        cells = ~np.isnan(totals)
        return system_scores(totals, cells, counts=self.values, score=self.score)

    @classmethod
    def of(cls, scores: MetricScores) -> CorpusStatistics:
        """Return segment scores as counts, a sum and a one: the score is their mean."""
        if isinstance(scores, CorpusStatistics):
            return scores
        ones = np.where(scores.mask, 1.0, np.nan)
        values = np.stack([scores.values, ones], axis=2)
        return cls(values, scores.systems, scores.segments, _mean_score, scores.documents)


def _mean_score(sums: FloatArray) -> FloatArray:
    return ratio(*sums.T)


# A metric's scores of outputs, or counts if a system's score is computed from summed counts.
MetricScores: TypeAlias = ScoreMatrix | CorpusStatistics


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
    ratio = np.divide(reference, length, where=length > 0, out=np.ones(len(sums)))
    penalty = np.where(length < reference, np.exp(1.0 - ratio), 1.0)
    penalty = np.where((length == 0) & (reference > 0), 0.0, penalty)
    return np.asarray(bleu_star_score(sums) * penalty)


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
    exists = totals > 0
    halvings = np.cumsum(exists & (matches == 0), axis=1)
    smoothed = np.where(matches > 0, matches, 0.5**halvings)
    logs = np.zeros_like(totals)
    np.log(100 * smoothed / np.where(exists, totals, 1), where=exists, out=logs)
    mean = np.where(exists.all(axis=1), logs.sum(axis=1) / 4, -np.inf)
    return np.where(matches.any(axis=1), np.exp(mean), 0.0)


def chrf_score(sums: FloatArray, *, beta: float = 2.0) -> FloatArray:
    """chrF (0-100) of summed counts (Popović 2015).

    Parameters
    ----------
    sums
        h x 3 orders: per order n-grams of the output, of the reference, and matches (the order
        of sacrebleu's sufficient statistics). The average excludes orders without n-grams on either
        side ("effective order").
    beta
        Weight of recall.
    """
    counts = sums.reshape(len(sums), sums.shape[1] // 3, 3)
    output, reference, match = counts.transpose(2, 1, 0)
    used = (output > 0) & (reference > 0)
    orders = np.maximum(used.sum(axis=0), 1)
    precision = _sum_of_ratios(match, output, used) / orders
    recall = _sum_of_ratios(match, reference, used) / orders
    weighted = beta**2 * precision + recall
    scores = (1 + beta**2) * precision * recall / np.where(weighted > 0, weighted, 1)
    return np.asarray(100 * scores)


def _sum_of_ratios(part: FloatArray, whole: FloatArray, where: BoolArray) -> FloatArray:
    """Sum order by order, as sacrebleu does; `sum` may differ in the last digit."""
    ratios = np.divide(part, whole, where=where, out=np.zeros_like(part))
    total: FloatArray = np.cumsum(ratios, axis=0)[-1]
    return total


def ter_score(sums: FloatArray) -> FloatArray:
    """TER (Snover et al. 2006) in percent of summed counts, h x 2: edits, reference words.

    Without reference words 100 where there are edits, else 0, as sacrebleu.
    """
    edits, words = sums[:, 0], sums[:, 1]
    rates = np.divide(edits, words, where=words > 0, out=(edits > 0).astype(np.float64))
    return np.asarray(100 * rates)


# By the names that files and the command line use.
FORMULAS: dict[str, ScoreFunction] = {
    "bleu": bleu_score,
    "bleu-star": bleu_star_score,
    "chrf": chrf_score,
    "ter": ter_score,
}


def system_scores(
    values: FloatArray,
    cells: BoolArray,
    *,
    counts: FloatArray | None = None,
    score: ScoreFunction | None = None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Score systems over some cells: (systems,), or samples x systems with weights.

    Parameters
    ----------
    values, cells
        systems x segments: scores, and True for cells that count. A cell without a score never
        counts; a system without any cell is nan.
    counts, score
        Of a corpus metric: systems x segments x k, and the score of their sums (h x k).
    weights
        samples x segments: how often each segment counts, as in a bootstrap sample.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 6.0], [3.0, np.nan, 5.0]])
    >>> system_scores(values, np.array([[True, True, False]] * 2)).tolist()
    [1.5, 3.0]
    >>> system_scores(values, values > 0, weights=np.array([[2.0, 0, 1]])).round(2).tolist()
    [[2.67, 3.67]]
    """
    known = cells & ~np.isnan(values)
    if weights is None and (counts is None or score is None):
        return mean_along(np.where(known, values, np.nan))
    drawn = np.ones((1, values.shape[1])) if weights is None else weights
    n = drawn @ known.T.astype(np.float64)
    if counts is None or score is None:
        sums = drawn @ np.where(known, values, 0.0).T
        return np.where(n > 0, sums / np.maximum(n, 1.0), np.nan)
    used = np.where(known[:, :, None], counts, 0.0)
    added = np.einsum("bs,hsk->bhk", drawn, used) if weights is not None else used.sum(axis=1)[None]
    scored = np.asarray(score(added.reshape(-1, added.shape[2]))).reshape(n.shape)
    found = np.where(n > 0, scored, np.nan)
    return np.asarray(found if weights is not None else found[0])
