"""Tests and intervals between MT systems that are equally good."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.metaeval.covered.case import REJECTS, Case, Size, count_of, holds, rejects, seed_of
from metaeval import ScoreMatrix
from metaeval.arrays import FloatArray
from metaeval.scores import CorpusStatistics, bleu_score
from metaeval.systems import approximate_randomization, paired_bootstrap, rank_systems


def scores(rng: np.random.Generator, segments: int, is_skewed: bool) -> ScoreMatrix:
    """Two systems on segments that are as hard for both."""
    values: FloatArray = np.sqrt(0.4) * rng.normal(size=segments)
    values = values + np.sqrt(0.6) * rng.normal(size=(2, segments))
    if is_skewed:
        values = -np.round(np.maximum(np.expm1(1.2 * values), 0.0))
    return ScoreMatrix(values, ["A", "B"], map(str, range(segments)))


def counts(rng: np.random.Generator, segments: int) -> CorpusStatistics:
    """n-gram counts of two systems, for BLEU: lengths, then matches and totals of each order."""
    length = rng.integers(8, 30, size=segments)
    rates = np.clip(0.6 + 0.1 * rng.normal(size=(2, segments)), 0.05, 0.95)
    rows = np.zeros((2, segments, 10))
    rows[..., 0] = rows[..., 1] = length
    for order in range(4):
        total = np.maximum(length - order, 0)
        rows[..., 2 + order] = rng.binomial(total, rates ** (1 + 0.7 * order))
        rows[..., 6 + order] = total
    return CorpusStatistics(rows, ["A", "B"], map(str, range(segments)), bleu_score)


def tested(test: str, is_skewed: bool, rng: np.random.Generator, size: Size) -> float:
    matrix = scores(rng, count_of(size), is_skewed)
    run = {"bootstrap": paired_bootstrap, "randomisation": approximate_randomization}[test]
    return rejects(float(run(matrix, "A", n_resamples=500, rng=seed_of(rng)).pvalues[0]))


def bleu_tested(rng: np.random.Generator, size: Size) -> float:
    found = paired_bootstrap(counts(rng, count_of(size)), "A", n_resamples=500, rng=seed_of(rng))
    return rejects(float(found.pvalues[0]))


def interval(rng: np.random.Generator, size: Size) -> float:
    matrix = scores(rng, count_of(size), False)
    found = paired_bootstrap(matrix, "A", n_resamples=500, rng=seed_of(rng))
    if found.lows is None or found.highs is None:
        return np.nan
    return holds(float(found.lows[0]), float(found.highs[0]), 0.0)


def ranked(test: str, is_skewed: bool, rng: np.random.Generator, size: Size) -> float:
    """One-sided: the first system above the second."""
    matrix = scores(rng, count_of(size), is_skewed)
    found = rank_systems(matrix, test=test, n_resamples=500, rng=seed_of(rng))
    first, second = (found.systems.index(name) for name in "AB")
    return rejects(float(found.pvalues[first, second]))


def ranked_sparse(test: str, rng: np.random.Generator, size: Size) -> float:
    """The same where each system was judged on a third of the segments."""
    values = rng.normal(size=count_of(size)) + rng.normal(size=(2, count_of(size)))
    values[rng.random(values.shape) > 1 / 3] = np.nan
    if np.isnan(values).all(axis=1).any():
        return np.nan
    matrix = ScoreMatrix(values, "AB", map(str, range(count_of(size))))
    found = rank_systems(matrix, test=test, n_resamples=500, rng=seed_of(rng))
    first, second = (found.systems.index(name) for name in "AB")
    return rejects(float(found.pvalues[first, second]))


EITHER = "either of two tests: too often; not the default"
UNPAIRED = "unpaired test of segments that both share: too careful"
SIZES = (20, 50, 200)
CASES = (
    Case("paired bootstrap, p", "normal", partial(tested, "bootstrap", False), SIZES, REJECTS),
    Case("paired bootstrap, p", "skewed", partial(tested, "bootstrap", True), SIZES, REJECTS),
    Case("paired bootstrap, p", "BLEU", bleu_tested, SIZES, REJECTS, 0.5),
    Case("paired bootstrap, interval", "normal", interval, SIZES),
    Case("approximate randomisation", "normal", partial(tested, "randomisation", False), SIZES,
         REJECTS),
    Case("approximate randomisation", "skewed", partial(tested, "randomisation", True), SIZES,
         REJECTS),
    Case("system ranks, permutation", "normal", partial(ranked, "permutation", False), SIZES,
         REJECTS),
    Case("system ranks, rank-sum", "normal", partial(ranked, "rank-sum", False), SIZES, REJECTS,
         note=UNPAIRED),
    Case("system ranks, rank-sum", "skewed, half zeros", partial(ranked, "rank-sum", True), SIZES,
         REJECTS, note=UNPAIRED),
    Case("system ranks, WMT26’s rule", "normal", partial(ranked, "wmt26", False), SIZES, REJECTS,
         note=EITHER),
    Case("system ranks, WMT26’s rule", "normal, a third judged", partial(ranked_sparse, "wmt26"),
         (100, 200, 600), REJECTS, note=EITHER),
    Case("system ranks, permutation", "normal, a third judged",
         partial(ranked_sparse, "permutation"), (100, 200, 600), REJECTS),
)  # fmt: skip
