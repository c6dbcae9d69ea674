"""Hybrid systems: their limit, and the study's intervals over drawn ones."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.metaeval.covered import worlds
from benchmarks.metaeval.covered.case import REJECTS, Case, Size, holds, pair_of, seed_of
from metaeval.arrays import FloatArray
from metaeval.correlation.hybrids import hybrid_limit_intervals, hybrid_supersample
from metaeval.significance import zou_interval

N_HYBRIDS = 10_000


def scores(rng: np.random.Generator, size: Size, n: int, uneven: float = 0.0) -> FloatArray:
    """Scores whose segments spread their systems as a lognormal of this deviation has it."""
    spreads = np.exp(uneven * rng.normal(size=pair_of(size)[1]))
    return np.asarray(worlds.scores(rng, *pair_of(size), n=n) * spreads)


def limit(uneven: float, rng: np.random.Generator, size: Size) -> float:
    human, metrics = worlds.matrices(scores(rng, size, 1, uneven))
    found = hybrid_limit_intervals(human, metrics)
    truth = worlds.correlation_of(worlds.covariances_within(pair_of(size)[0]))
    return holds(float(found.lows[0]), float(found.highs[0]), truth)


def difference(rng: np.random.Generator, size: Size) -> float:
    human, metrics = worlds.matrices(scores(rng, size, 2))
    found = hybrid_limit_intervals(human, metrics)
    return holds(float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1]), 0.0)


def test_of_limits(rng: np.random.Generator, size: Size) -> float:
    """One-sided: the first better than the second."""
    human, metrics = worlds.matrices(scores(rng, size, 2))
    pvalue = float(hybrid_limit_intervals(human, metrics).difference_pvalues[0, 1])
    return float(pvalue <= 0.05) if pvalue == pvalue else np.nan


def drawn(rng: np.random.Generator, size: Size) -> float:
    """Zou's interval with as many observations as hybrids, as the study has it."""
    human, metrics = worlds.matrices(scores(rng, size, 2))
    found = hybrid_supersample(human, metrics, n_hybrids=N_HYBRIDS, rng=seed_of(rng))
    ends = zou_interval(
        float(found.r[0]), float(found.r[1]), float(found.between[0, 1]), N_HYBRIDS
    ).interval
    return holds(ends[0], ends[1], 0.0) if ends else np.nan


STUDY = "the study's way: hybrids are no independent observations"
UNEVEN = "few segments decide: below 100 a warning is shown"
CASES = (
    Case("r over hybrids, limit", "segments of one spread", partial(limit, 0.0),
         ((2, 20), (4, 20), (4, 50), (4, 100), (4, 500))),
    Case("r over hybrids, limit", "spreads of segments up to 5 : 1", partial(limit, 0.4),
         ((4, 20), (4, 50), (4, 100), (4, 500)), note=UNEVEN),
    Case("r over hybrids, limit", "spreads of segments up to 23 : 1", partial(limit, 0.8),
         ((4, 20), (4, 50), (4, 100), (4, 500)), note=UNEVEN),
    Case("difference of limits", "two equally good metrics", difference,
         ((2, 20), (4, 20), (4, 100), (4, 500))),
    Case("test of limits, one-sided", "two equally good metrics", test_of_limits,
         ((4, 20), (4, 100)), REJECTS),
    Case("Zou over 10,000 hybrids", "two equally good metrics", drawn, ((4, 100),),
         share=0.2, note=STUDY),
)  # fmt: skip
