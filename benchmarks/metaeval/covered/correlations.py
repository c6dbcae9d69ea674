"""Correlations of metrics with humans over cells, by item, and over systems."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scipy.stats import kendalltau, spearmanr

from benchmarks.metaeval.covered import worlds
from benchmarks.metaeval.covered.case import (
    REJECTS,
    Case,
    Size,
    count_of,
    holds,
    pair_of,
    rejects,
    seed_of,
)
from metaeval.arrays import FloatArray
from metaeval.correlation import (
    Measure,
    correlate_metrics,
    kendall,
    pearson,
    spearman,
    system_correlation,
)
from metaeval.correlation.intervals import (
    accuracy_interval,
    correlation_intervals,
    system_intervals,
)
from metaeval.significance import boot_interval, zou_interval

LARGE, RUNS = 20_000, 20


@cache
def truth(correlation: str, grouping: str, systems: int) -> float:
    """Return the correlation over these systems and very many segments."""
    if (correlation, grouping) == ("pearson", "none"):
        return worlds.correlation_of(worlds.covariances(systems))
    rng, values = np.random.default_rng(7), []
    for _ in range(RUNS):
        drawn = rounded(worlds.scores(rng, systems, LARGE // systems), correlation)
        values.append(_whole(drawn, correlation, grouping))
    return float(np.mean(values))


def _whole(drawn: FloatArray, correlation: str, grouping: str) -> float:
    """One correlation of very many cells; over all cells by scipy."""
    if grouping == "none":
        statistic = {"spearman": spearmanr, "kendall": kendalltau}[correlation]
        return float(statistic(drawn[0].ravel(), drawn[1].ravel()).statistic)
    human, metrics = worlds.matrices(drawn)
    measure = Measure(correlation, grouping)
    return float(correlate_metrics(human, metrics, measure, rng=1).correlations[0])


@cache
def truth_anywhere(correlation: str) -> float:
    """Return the correlation over infinitely many systems and segments: all is normal."""
    r = worlds.correlation_of(worlds.covariances_anywhere())
    if correlation == "kendall":
        return float(2.0 / np.pi * np.arcsin(r))
    return float(6.0 / np.pi * np.arcsin(r / 2.0)) if correlation == "spearman" else r


def rounded(values: FloatArray, correlation: str) -> FloatArray:
    """Humans who tie often, where ties are what is measured."""
    if correlation == "acc_eq":
        values = np.concatenate([values[:1].round(), values[1:]])
    return values


def over_cells(
    correlation: str, grouping: str, target: str, rng: np.random.Generator, size: Size
) -> float:
    systems, segments = pair_of(size)
    is_fixed = target == "segments"
    values = rounded(worlds.scores(rng, systems, segments, is_fixed=is_fixed), correlation)
    human, metrics = worlds.matrices(values)
    found = correlation_intervals(human, metrics, Measure(correlation, grouping), target=target)
    known = truth(correlation, grouping, systems) if is_fixed else truth_anywhere(correlation)
    return holds(float(found.lows[0]), float(found.highs[0]), known)


def of_a_difference(correlation: str, grouping: str, rng: np.random.Generator, size: Size) -> float:
    """Two equally good metrics."""
    human, metrics = worlds.matrices(rounded(worlds.scores(rng, *pair_of(size), n=2), correlation))
    found = correlation_intervals(human, metrics, Measure(correlation, grouping))
    return holds(float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1]), 0.0)


def test_of_a_difference(correlation: str, rng: np.random.Generator, size: Size) -> float:
    """Two equally good metrics, one-sided, by t clustered by segment: the pages' default."""
    human, metrics = worlds.matrices(worlds.scores(rng, *pair_of(size), n=2))
    found = correlation_intervals(human, metrics, correlation)
    return rejects(float(found.difference_pvalues[0, 1]))


def of_vectors(correlation: str, rng: np.random.Generator, size: Size) -> float:
    """Independent observations: Fisher's interval."""
    x = rng.normal(size=count_of(size))
    y = 0.465 * x + np.sqrt(1.0 - 0.465**2) * rng.normal(size=len(x))
    statistic = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    ends = statistic[correlation](x, y).interval
    return holds(ends[0], ends[1], truth_anywhere(correlation)) if ends else np.nan


def over_systems(data: str, rng: np.random.Generator, size: Size) -> float:
    human, metric = system_scores(rng, data, count_of(size))
    found = system_intervals(human, {"m": metric})
    return holds(float(found.lows[0]), float(found.highs[0]), 0.5)


def accuracy_over_systems(data: str, rng: np.random.Generator, size: Size) -> float:
    """Pairs of an elliptical distribution agree with probability 1/2 + asin(rho) / pi."""
    low, high, _ = accuracy_interval(*system_scores(rng, data, count_of(size)))
    return holds(low, high, 2 / 3)


def difference_over_systems(data: str, rng: np.random.Generator, size: Size) -> float:
    human, first, second = system_scores(rng, data, count_of(size), n=2)
    found = system_intervals(human, {"a": first, "b": second})
    return holds(float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1]), 0.0)


def of_system_means(rng: np.random.Generator, size: Size) -> float:
    """New systems on these segments, whose means keep some of the noise of their cells."""
    systems, segments = pair_of(size)
    human, metrics = worlds.matrices(worlds.scores(rng, systems, segments, is_fixed=False))
    ends = system_correlation(human, metrics["m0"]).interval
    covariance = worlds.covariances_of_means(segments)
    return holds(ends[0], ends[1], worlds.correlation_of(covariance)) if ends else np.nan


def zou(rng: np.random.Generator, size: Size) -> float:
    """Two equally good metrics over independent observations."""
    values = system_scores(rng, "normal", count_of(size), n=2)
    r = np.corrcoef(values)
    ends = zou_interval(r[0, 1], r[0, 2], r[1, 2], values.shape[1]).interval
    return holds(ends[0], ends[1], 0.0) if ends else np.nan


def system_scores(rng: np.random.Generator, data: str, systems: int, n: int = 1) -> FloatArray:
    """Return one score a system of the humans and of n metrics, r = .5 with each."""
    human = rng.normal(size=systems)
    values = np.concatenate(
        [human[None], 0.5 * human + np.sqrt(0.75) * rng.normal(size=(n, systems))]
    )
    if data == "t3":
        values = values / np.sqrt(rng.chisquare(3, size=systems) / 3.0)
    return values


def bootstrapped(resample: str, rng: np.random.Generator, size: Size) -> float:
    """The percentile interval that `correlate --resamples` prints."""
    systems, segments = pair_of(size)
    is_fixed = resample == "inputs"
    human, metrics = worlds.matrices(worlds.scores(rng, systems, segments, is_fixed=is_fixed))
    found = boot_interval(
        human, metrics["m0"], resample=resample, n_resamples=200, rng=seed_of(rng)
    ).interval
    known = truth("pearson", "none", systems) if is_fixed else truth_anywhere("pearson")
    return holds(found[0], found[1], known) if found else np.nan


GRID = ((4, 20), (5, 20), (5, 100), (12, 50), (12, 200), (25, 100))
NAMES = {"pearson": "r", "spearman": "ρ", "kendall": "τ-b", "acc_eq": "acc-eq"}
SAME, NEW = "systems .1, segments .4, cells .5; same systems", "the same; new systems too"
PERCENTILE = "percentile intervals of few units are too narrow"
SUM = "five systems: too wide rather than too narrow"
TWO_WAY = "systems and segments drawn at once: too wide rather than too narrow"
CASES = (
    *(
        Case(f"pooled {NAMES[name]}", SAME, partial(over_cells, name, "none", "segments"), GRID)
        for name in ("pearson", "spearman", "kendall")
    ),
    *(
        Case(f"pooled {NAMES[name]}", NEW, partial(over_cells, name, "none", "systems"), GRID,
             note=SUM)
        for name in ("pearson", "spearman", "kendall")
    ),
    *(
        Case(f"{NAMES[name]} by item", SAME, partial(over_cells, name, "item", "segments"),
             ((4, 20), (5, 100), (12, 50)), share=0.5)
        for name in ("pearson", "kendall", "acc_eq")
    ),
    Case("r by system", SAME, partial(over_cells, "pearson", "system", "segments"),
         ((5, 30), (5, 100), (12, 50))),
    *(
        Case(f"difference of pooled {NAMES[name]}; gain of a head", "two equally good metrics",
             partial(of_a_difference, name, "none"), ((4, 20), (5, 100), (12, 50)), share=0.5)
        for name in ("pearson", "kendall")
    ),
    *(
        Case(f"test of pooled {NAMES[name]}, clustered t", "two equally good metrics",
             partial(test_of_a_difference, name), ((4, 20), (5, 50), (12, 50)), REJECTS, 0.5)
        for name in ("pearson", "kendall")
    ),
    Case("difference of acc-eq by item", "two equally good metrics",
         partial(of_a_difference, "acc_eq", "item"), ((4, 20), (5, 100), (12, 50)), share=0.5),
    *(
        Case(f"{NAMES[name]} of independent pairs (Fisher)", "normal", partial(of_vectors, name),
             (10, 20, 100))
        for name in ("pearson", "spearman", "kendall")
    ),
    Case("r over systems", "normal, ρ = .5", partial(over_systems, "normal"), (4, 6, 8, 10, 20)),
    Case("r over systems", "t₃ tails, ρ = .5", partial(over_systems, "t3"), (4, 6, 8, 10, 20)),
    Case("pairwise accuracy of systems", "normal, ρ = .5", partial(accuracy_over_systems, "normal"),
         (3, 4, 6, 8, 10, 20)),
    Case("pairwise accuracy of systems", "t₃ tails, ρ = .5", partial(accuracy_over_systems, "t3"),
         (4, 6, 8, 10, 20)),
    Case("difference of r over systems", "normal, equally good",
         partial(difference_over_systems, "normal"), (4, 6, 8, 10, 20)),
    Case("r of system means", "systems .1, cells .5; new systems, these segments",
         of_system_means, ((4, 50), (6, 50), (12, 50), (25, 200))),
    Case("Zou's interval of independent pairs", "normal, equally good", zou, (6, 20, 100)),
    Case("`correlate --resamples`, inputs", SAME, partial(bootstrapped, "inputs"),
         ((5, 20), (5, 100)), share=0.5, note=PERCENTILE),
    Case("`correlate --resamples`, both", NEW, partial(bootstrapped, "both"),
         ((5, 100), (12, 50)), share=0.5, note=TWO_WAY),
)  # fmt: skip
