"""Test sets drawn by document: metrics, systems and hybrids whose truth is known.

Half or less of what varies over segments is shared by a document: the difficulty of its segments,
and what a system, or a metric, does in all of it. Sizes are documents × segments of one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.metaeval.covered import correlations, worlds
from benchmarks.metaeval.covered.case import REJECTS, Case, Size, holds, pair_of, rejects, seed_of
from metaeval import ScoreMatrix
from metaeval.arrays import FloatArray, IntArray
from metaeval.correlation import Measure, correlate_metrics
from metaeval.correlation.hybrids import hybrid_limit_intervals
from metaeval.correlation.intervals import (
    correlation_intervals,
    mean_interval,
    soft_pairwise_intervals,
)
from metaeval.scores import CorpusStatistics, bleu_score
from metaeval.significance import boot_interval, perm_test
from metaeval.systems import (
    approximate_randomization,
    paired_bootstrap,
    preference,
    rank_systems,
)
from metaeval.systems.shortness import own_forms, partial_on_length

N_SYSTEMS, CAMPAIGNS = 4, 400
# The share of variance that segments of a document have in common; UNEVEN has documents of 1 to 19.
LOW, HIGH, UNEVEN = (
    "documents, ρ = .1",
    "documents, ρ = .3",
    "uneven documents, ρ = .3",
)
SHARES = {LOW: 0.1, HIGH: 0.3, UNEVEN: 0.3}
SIZES: tuple[Size, ...] = ((10, 10), (27, 10), (60, 4))
LARGE: tuple[Size, ...] = ((27, 10), (60, 4))


def documents_of(rng: np.random.Generator, data: str, size: Size) -> IntArray:
    """Return the document of each segment."""
    n, m = pair_of(size)
    sizes = rng.integers(1, 2 * m, size=n) if data == UNEVEN else np.full(n, m)
    return np.repeat(np.arange(n), sizes)


def labels(of: IntArray) -> list[str] | None:
    """Return documents as functions take them."""
    return [str(one) for one in of]


def shared(
    rng: np.random.Generator, data: str, of: IntArray, draw: Callable[[int], FloatArray]
) -> FloatArray:
    """Return ``draw`` of segments, a share of whose variance is the document's."""
    share, n = SHARES[data], int(of.max()) + 1
    return np.asarray(np.sqrt(share) * draw(n)[..., of] + np.sqrt(1.0 - share) * draw(len(of)))


def metric_scores(
    rng: np.random.Generator, data: str, size: Size, n: int = 1
) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    """Return humans and n equally good metrics, with the covariances of `worlds.scores`."""
    of = documents_of(rng, data, size)
    effects = worlds.fixed_systems(N_SYSTEMS)[[0] + [1] * n]
    difficulty = shared(rng, data, of, lambda k: worlds.sides(rng, "segment", (k,), n))
    cells = shared(rng, data, of, lambda k: worlds.sides(rng, "cell", (N_SYSTEMS, k), n))
    return matrices(effects[:, :, None] + difficulty[:, None, :] + cells, of)


def matrices(values: FloatArray, of: IntArray) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    """Return the humans and the metrics by name, with documents."""
    names = [f"S{i}" for i in range(values.shape[1])], [str(j) for j in range(values.shape[2])]
    human, *metrics = (ScoreMatrix(each, *names, labels(of)) for each in values)
    return human, {f"m{k}": metric for k, metric in enumerate(metrics)}


def correlation(name: str, data: str, rng: np.random.Generator, size: Size) -> float:
    human, metrics = metric_scores(rng, data, size)
    found = correlation_intervals(human, metrics, Measure(name))
    return holds(
        float(found.lows[0]), float(found.highs[0]), correlations.truth(name, "none", N_SYSTEMS)
    )


def difference(
    name: str, grouping: str, data: str, is_test: bool, rng: np.random.Generator, size: Size
) -> float:
    """Two equally good metrics."""
    human, metrics = metric_scores(rng, data, size, 2)
    if name == "acc_eq":
        human = human.with_values(human.values.round())
    found = correlation_intervals(human, metrics, Measure(name, grouping))
    if is_test:
        return rejects(float(found.difference_pvalues[0, 1]))
    return holds(float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1]), 0.0)


def limit(data: str, rng: np.random.Generator, size: Size) -> float:
    human, metrics = metric_scores(rng, data, size)
    found = hybrid_limit_intervals(human, metrics)
    truth = worlds.correlation_of(worlds.covariances_within(N_SYSTEMS))
    return holds(float(found.lows[0]), float(found.highs[0]), truth)


def difference_of_limits(data: str, rng: np.random.Generator, size: Size) -> float:
    human, metrics = metric_scores(rng, data, size, 2)
    found = hybrid_limit_intervals(human, metrics)
    return holds(float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1]), 0.0)


def accuracy(data: str, rng: np.random.Generator, size: Size) -> float:
    human, metrics = metric_scores(rng, data, size)
    found = soft_pairwise_intervals(human, metrics)
    return holds(float(found.lows[0]), float(found.highs[0]), expected_accuracy(data, size))


@cache
def expected_accuracy(data: str, size: Size) -> float:
    """Return the mean over campaigns of this size, which decides the p-values that it is of."""
    rng = np.random.default_rng(3)
    drawn = (metric_scores(rng, data, size) for _ in range(CAMPAIGNS))
    return float(np.mean([
        correlate_metrics(human, metrics, "soft_pairwise_accuracy", rng=1).correlations[0]
        for human, metrics in drawn
    ]))  # fmt: skip


def bootstrapped(data: str, rng: np.random.Generator, size: Size) -> float:
    human, metrics = metric_scores(rng, data, size)
    ends = boot_interval(
        human, metrics["m0"], resample="inputs", n_resamples=200, rng=seed_of(rng)
    ).interval
    known = correlations.truth("pearson", "none", N_SYSTEMS)
    return holds(ends[0], ends[1], known) if ends else np.nan


def permuted(name: str, swap: str, data: str, rng: np.random.Generator, size: Size) -> float:
    human, metrics = metric_scores(rng, data, size, 2)
    found = perm_test(
        human, metrics["m0"], metrics["m1"], Measure(name), swap=swap, n_resamples=200,
        rng=seed_of(rng),
    )  # fmt: skip
    return rejects(found.pvalue)


def systems(
    rng: np.random.Generator, data: str, size: Size, *, is_skewed: bool = False, n: int = 2
) -> ScoreMatrix:
    """Equally good systems on segments that are as hard for all."""
    of = documents_of(rng, data, size)
    values = np.sqrt(0.4) * shared(rng, data, of, lambda k: rng.normal(size=k))
    values = values + np.sqrt(0.6) * shared(rng, data, of, lambda k: rng.normal(size=(n, k)))
    if is_skewed:
        values = penalties(values)
    return ScoreMatrix(values, "ABCD"[:n], map(str, range(len(of))), labels(of))


def penalties(values: FloatArray) -> FloatArray:
    """Return MQM-like scores of normal ones: half of them 0, few far below."""
    return np.asarray(-np.round(np.maximum(np.expm1(1.2 * values), 0.0)))


def mean_of_a_system(is_skewed: bool, data: str, rng: np.random.Generator, size: Size) -> float:
    matrix = systems(rng, data, size, is_skewed=is_skewed)
    low, high, _ = mean_interval(matrix.values[0], clusters=matrix.clusters)
    return holds(low, high, MEAN_PENALTY if is_skewed else 0.0)


def mean_of_segments(rng: np.random.Generator, size: Size) -> float:
    """The same without documents."""
    low, high, _ = mean_interval(penalties(rng.normal(size=size)))
    return holds(low, high, MEAN_PENALTY)


# The expectation of a penalty: -sum over k >= 1 of P(expm1(1.2 z) >= k - 1/2).
MEAN_PENALTY = -1.3046786010352056


def compared(test: str, data: str, rng: np.random.Generator, size: Size) -> float:
    matrix = systems(rng, data, size)
    run = {"bootstrap": paired_bootstrap, "randomisation": approximate_randomization}[test]
    return rejects(float(run(matrix, "A", n_resamples=500, rng=seed_of(rng)).pvalues[0]))


def of_two_systems(data: str, rng: np.random.Generator, size: Size) -> float:
    found = paired_bootstrap(systems(rng, data, size), "A", n_resamples=500, rng=seed_of(rng))
    lows, highs = found.lows, found.highs
    return np.nan if lows is None or highs is None else holds(lows[0], highs[0], 0.0)


def bleu_compared(data: str, rng: np.random.Generator, size: Size) -> float:
    of = documents_of(rng, data, size)
    length = rng.integers(8, 30, size=len(of))
    quality = shared(rng, data, of, lambda k: rng.normal(size=(2, k)))
    rates = np.clip(0.6 + 0.1 * quality, 0.05, 0.95)
    rows = np.zeros((2, len(of), 10))
    rows[..., 0] = rows[..., 1] = length
    for order in range(4):
        total = np.maximum(length - order, 0)
        rows[..., 2 + order] = rng.binomial(total, rates ** (1 + 0.7 * order))
        rows[..., 6 + order] = total
    counts = CorpusStatistics(rows, "AB", map(str, range(len(of))), bleu_score, labels(of))
    found = paired_bootstrap(counts, "A", n_resamples=500, rng=seed_of(rng))
    return rejects(float(found.pvalues[0]))


def ranked(test: str, data: str, rng: np.random.Generator, size: Size) -> float:
    """One-sided: the first system above the second."""
    found = rank_systems(systems(rng, data, size), test=test, n_resamples=500, rng=seed_of(rng))
    first, second = (found.systems.index(name) for name in "AB")
    return rejects(float(found.pvalues[first, second]))


def preferred(data: str, rng: np.random.Generator, size: Size) -> float:
    """A fifth of the segments prefer the altered text."""
    of = documents_of(rng, data, size)
    gaps = shared(rng, data, of, lambda k: rng.normal(size=k)) - 0.8416212335729143
    ends = preference(gaps, np.zeros(len(of)), documents=labels(of)).interval
    return holds(ends[0], ends[1], 0.2) if ends else np.nan


def with_length(data: str, rng: np.random.Generator, size: Size) -> float:
    """Metric and length of outputs share a part that the humans do not see: r = .3."""
    of = documents_of(rng, data, size)
    human, own, length, part = (
        shared(rng, data, of, lambda k: rng.normal(size=(N_SYSTEMS, k))) for _ in range(4)
    )
    metric = 0.5 * human + np.sqrt(0.3) * part + np.sqrt(0.7) * own
    length = np.sqrt(0.3) * part + np.sqrt(0.7) * length
    ends = partial_on_length(
        metric, human, length, documents=labels(of), n_resamples=400, rng=seed_of(rng)
    ).interval
    return holds(ends[0], ends[1], 0.3) if ends else np.nan


def of_forms(data: str, rng: np.random.Generator, size: Size) -> float:
    """Metric and humans take off as much for the shorter form."""
    of = documents_of(rng, data, size)
    sides: Any = [
        shared(rng, data, of, lambda k: rng.normal(size=(N_SYSTEMS, k))) for _ in range(4)
    ]
    long, short = (sides[0] + 0.5, sides[2] + 0.5), (sides[1], sides[3])
    ends = own_forms(
        long[0], short[0], long[1], short[1], documents=labels(of), n_resamples=400,
        rng=seed_of(rng),
    ).interval  # fmt: skip
    return holds(ends[0], ends[1], 0.0) if ends else np.nan


NAMES = {"pearson": "r", "kendall": "τ-b"}
PLAIN_T = "corrected for skewness; plain t: 77 / 82 / 87 / 90"
WMT26 = "either of two tests: too often; not the default"
CASES = (
    *(
        Case(f"pooled {NAMES[name]}", data, partial(correlation, name, data), SIZES, share=0.5)
        for name in ("pearson", "kendall")
        for data in (LOW, HIGH, UNEVEN)
    ),
    *(
        Case(f"difference of pooled {NAMES[name]}", data,
             partial(difference, name, "none", data, False), SIZES, share=0.5)
        for name in ("pearson", "kendall")
        for data in (HIGH, UNEVEN)
    ),
    *(
        Case(f"test of pooled {NAMES[name]}, clustered t", data,
             partial(difference, name, "none", data, True), SIZES, REJECTS, 0.5)
        for name in ("pearson", "kendall")
        for data in (HIGH, UNEVEN)
    ),
    Case("difference of acc-eq by item", HIGH, partial(difference, "acc_eq", "item", HIGH, False),
         LARGE, share=0.3),
    *(Case("r over hybrids, limit", data, partial(limit, data), SIZES, share=0.5)
      for data in (LOW, HIGH, UNEVEN)),
    Case("difference of limits", HIGH, partial(difference_of_limits, HIGH), SIZES, share=0.5),
    Case("SPA, jackknife over documents", HIGH, partial(accuracy, HIGH), LARGE, share=0.5),
    Case("`correlate --resamples`, inputs", HIGH, partial(bootstrapped, HIGH), LARGE, share=0.2),
    *(
        Case(f"permutation, {name}, swap inputs", HIGH, partial(permuted, name, "inputs", HIGH),
             LARGE, REJECTS, 0.3)
        for name in ("pearson", "kendall")
    ),
    *(Case("mean of a system", f"{kind}; {data}", partial(mean_of_a_system, is_skewed, data), SIZES)
      for kind, is_skewed in (("normal", False), ("penalties", True))
      for data in (LOW, HIGH, UNEVEN)),
    Case("mean of a system", "penalties; no documents", mean_of_segments, (10, 20, 50, 200),
         note=PLAIN_T),
    *(Case("difference of two systems", data, partial(of_two_systems, data), SIZES)
      for data in (LOW, HIGH, UNEVEN)),
    *(Case("paired bootstrap, p", data, partial(compared, "bootstrap", data), SIZES, REJECTS)
      for data in (LOW, HIGH, UNEVEN)),
    Case("paired bootstrap, p", f"BLEU; {HIGH}", partial(bleu_compared, HIGH), SIZES, REJECTS, 0.5),
    *(Case("approximate randomisation", data, partial(compared, "randomisation", data), SIZES,
           REJECTS) for data in (HIGH, UNEVEN)),
    *(Case(f"system ranks, {test}", data, partial(ranked, test, data), SIZES, REJECTS)
      for test in ("permutation", "rank-sum") for data in (HIGH, UNEVEN)),
    Case("system ranks, WMT26’s rule", HIGH, partial(ranked, "wmt26", HIGH), SIZES, REJECTS,
         note=WMT26),
    *(Case("preference (W2W)", data, partial(preferred, data), SIZES)
      for data in (LOW, HIGH, UNEVEN)),
    Case("partial correlation with length", HIGH, partial(with_length, HIGH), SIZES, share=0.5),
    Case("loss from longer to shorter form", HIGH, partial(of_forms, HIGH), SIZES, share=0.5),
)  # fmt: skip
