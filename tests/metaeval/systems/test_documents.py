"""Systems over documents: against loops over documents, and what few documents say."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from benchmarks.metaeval.covered.documents import HIGH, systems
from metaeval import ScoreMatrix
from metaeval.correlation.intervals import mean_interval, wilson_interval
from metaeval.correlation.intervals.independent import effective_outcomes, share_interval
from metaeval.documents import effective_units
from metaeval.resampling import expanded_pvalue, expanded_tail, random_bits, resample_counts, stream
from metaeval.results import TooFewWarning
from metaeval.systems import (
    approximate_randomization,
    paired_bootstrap,
    pool_preferences,
    preference,
    rank_systems,
    system_table,
)
from metaeval.systems.ranking import N_RESAMPLES, OWN, PAIRED, either_bootstrap
from metaeval.systems.shortness import own_forms, partial_on_length

RNG = np.random.default_rng(17)
SIZES = RNG.integers(1, 9, size=24)
OF = RNG.permutation(np.repeat(np.arange(24), SIZES))
N = len(OF)
VALUES = RNG.normal(size=(3, N)) + RNG.normal(size=(3, 24))[:, OF]
MATRIX = ScoreMatrix(VALUES, "ABC", map(str, range(N)), map(str, OF))
# Documents are numbered by their first segment.
DOCUMENTS = [np.flatnonzero(of == OF) for of in dict.fromkeys(OF.tolist())]


def documents(n: int, size: int = 10) -> ScoreMatrix:
    values = np.random.default_rng(1).normal(size=(3, n * size))
    return ScoreMatrix(values, "ABC", map(str, range(n * size)), np.repeat(range(n), size))


def test_the_bootstrap_copies_whole_documents():
    found = paired_bootstrap(MATRIX, "A", n_resamples=128, rng=5)
    gaps = []
    for counts in resample_counts(stream(5, 0), 128, 24).astype(int):
        drawn = np.concatenate([DOCUMENTS[k] for k, n in enumerate(counts) for _ in range(n)])
        means = VALUES[:, drawn].mean(axis=1)
        gaps.append(means[1:] - means[0])
    tail = expanded_tail(0.025, effective_units(OF))
    assert found.lows == pytest.approx(np.quantile(gaps, tail, axis=0))
    assert found.highs == pytest.approx(np.quantile(gaps, 1 - tail, axis=0))
    assert (found.unit, found.n_units, found.n) == ("documents", 24, N)
    assert found.n_effective == pytest.approx(N**2 / (SIZES**2).sum())
    assert found.method.parameters["units"].parameters["n"] == 24


def test_randomisation_swaps_whole_documents():
    found = approximate_randomization(MATRIX, "A", n_resamples=128, rng=5)
    swaps = random_bits(stream(5, 0), 128, 24)
    observed = VALUES[1:].mean(axis=1) - VALUES[0].mean()
    reached = np.zeros(2)
    for bits in swaps:
        swapped = np.zeros(N, dtype=bool)
        for k in np.flatnonzero(bits):
            swapped[DOCUMENTS[k]] = True
        for j in (0, 1):
            gap = np.where(swapped, -1, 1) * (VALUES[j + 1] - VALUES[0])
            reached[j] += abs(gap.mean()) >= abs(observed[j]) - 1e-12
    assert found.pvalues == pytest.approx((reached + 1) / 129)
    assert (found.unit, found.n_units) == ("documents", 24)


def test_the_expanded_interval_excludes_what_its_p_rejects():
    tails = np.array([0.001, 0.01, 0.025, 0.2])
    expanded = [expanded_tail(tail, 12) for tail in tails]
    assert expanded_pvalue(expanded, 12, "greater") == pytest.approx(tails)
    assert expanded_pvalue(2 * np.array(expanded), 12, "two-sided") == pytest.approx(2 * tails)
    assert expanded_pvalue([1.0, 1.0], 12, "two-sided").tolist() == [1.0, 1.0]


def test_the_rank_sum_has_mann_whitneys_share_and_obuchowskis_variance():
    """Structural components as in Obuchowski (1997), by loops; documents of one size."""
    scores = systems(np.random.default_rng(2), HIGH, (9, 5))
    x, y, of = *scores.values, scores.clusters
    found = rank_systems(scores)
    order = [found.systems.index(name) for name in "AB"]
    share = np.mean([[(a > b) + 0.5 * (a == b) for b in y] for a in x])
    assert share == pytest.approx(stats.mannwhitneyu(x, y).statistic / len(x) / len(y))
    above = np.array([np.mean((a > y) + 0.5 * (a == y)) for a in x])
    below = np.array([np.mean((x > b) + 0.5 * (x == b)) for b in y])
    first, second = (
        np.array([side[of == d].sum() - (of == d).sum() * share for d in range(9)])
        for side in (above, below)
    )
    n = len(x)
    s10, s01, s11 = (9 / 8 / n * (a * b).sum() for a, b in (
        (first, first), (second, second), (first, second)))  # fmt: skip
    variance = s10 / n + s01 / n + 2 * s11 / n
    expected = stats.t.sf((share - 0.5) / np.sqrt(variance), 8)
    assert found.pvalues[order[0], order[1]] == pytest.approx(expected)
    assert found.pvalues[order[1], order[0]] == pytest.approx(1 - expected)


def test_wmt26s_bootstraps_draw_documents():
    scores = np.where(RNG.random((2, N)) < 0.3, np.nan, VALUES[:2])
    table = either_bootstrap(scores, clusters=OF, seed=3)

    def means(values: np.ndarray, key: tuple[int, ...]) -> np.ndarray:
        known = ~np.isnan(values)
        parts = [np.flatnonzero(known & (of == OF)) for of in dict.fromkeys(OF[known].tolist())]
        counts = resample_counts(stream(3, *key), N_RESAMPLES, len(parts)).astype(int)
        drawn = [np.concatenate([parts[k] for k, n in enumerate(row) for _ in range(n)])
                 for row in counts]  # fmt: skip
        return np.array([values[at].mean() for at in drawn])

    paired = (means(scores[0] - scores[1], (PAIRED, 0, 1)) <= 0).mean()
    own = (means(scores[0], (OWN, 0)) - means(scores[1], (OWN, 1)) <= 0).mean()
    assert table[0, 1] == min(paired, own)


@pytest.mark.parametrize("is_clustered", [False, True])
def test_halls_transformation_of_the_ends_is_t(is_clustered):
    rng = np.random.default_rng(6)
    scores = -np.round(np.expm1(np.maximum(rng.normal(size=60), 0)) * 3)
    of = np.arange(60) // 3 if is_clustered else np.arange(60)
    n = int(of.max()) + 1
    low, high, _ = mean_interval(scores, clusters=of)
    sums = np.array([(scores[of == d] - scores.mean()).sum() for d in range(n)])
    error = np.sqrt(n / (n - 1) * (sums**2).sum()) / 60
    skew = (sums**3).sum() / (sums**2).sum() ** 1.5

    def transformed(end: float) -> float:
        t = (scores.mean() - end) / error
        return t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6

    reach = stats.t.ppf(0.975, n - 1)
    assert low == pytest.approx(brentq(lambda end: transformed(end) - reach, -50, 50))
    assert high == pytest.approx(brentq(lambda end: transformed(end) + reach, -50, 50))
    assert scores.mean() - low > high - scores.mean()


def test_a_ranking_has_the_intervals_of_its_means():
    ranking = rank_systems(MATRIX)
    for name, mean, low, high in zip(
        ranking.systems, ranking.scores, ranking.lows, ranking.highs, strict=True
    ):
        row = MATRIX.values[MATRIX.systems.index(name)]
        assert mean_interval(row, clusters=MATRIX.clusters)[:2] == (low, high)
        assert low < mean < high
    assert (ranking.unit, ranking.n_units) == ("documents", 24)


def test_segments_that_all_say_the_same_count_as_their_document():
    hits, of = np.repeat(RNG.random(30) < 0.4, 8), np.repeat(np.arange(30), 8)
    assert effective_outcomes(hits, of) == pytest.approx(29)
    level = 2 * stats.norm.cdf(stats.t.ppf(0.975, 29)) - 1
    expected = wilson_interval(hits.mean(), 29, confidence=level)
    assert share_interval(hits, of)[:2] == pytest.approx(expected)


def test_preferences_of_several_sets_count_the_documents_of_each():
    gaps, of = RNG.normal(size=200), [str(each) for each in np.repeat(range(40), 5)]
    sources = [[f"{number} {k}" for k in range(200)] for number in range(2)]
    twice = pool_preferences([gaps, gaps], sources, [of, of])
    whole = preference(
        np.tile(gaps, 2), np.zeros(400), documents=[*of, *(f"b{each}" for each in of)]
    )
    assert (twice.unit, twice.n_units) == ("documents", 80)
    assert twice.interval == whole.interval


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_below_twenty_documents_a_comparison_warns(test):
    with pytest.warns(TooFewWarning):
        test(documents(19), "A", n_resamples=50, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        test(documents(20), "A", n_resamples=50, rng=1)


def test_below_six_documents_there_is_no_interval():
    few, enough = documents(5, 40), documents(6, 40)
    with pytest.warns(TooFewWarning):
        found = paired_bootstrap(few, "A", n_resamples=50, rng=1)
    assert np.isnan([found.lows, found.highs, found.pvalues]).all()
    with pytest.warns(TooFewWarning):
        ranking = rank_systems(few)
    assert np.isnan(ranking.pvalues).all()
    assert np.isnan([ranking.lows, ranking.highs]).all()
    with pytest.warns(TooFewWarning):
        known = paired_bootstrap(enough, "A", n_resamples=50, rng=1)
    with pytest.warns(TooFewWarning):
        ranking = rank_systems(enough)
    assert not np.isnan([known.lows, known.highs, ranking.lows[:2], ranking.highs[:2]]).any()


@pytest.mark.parametrize(
    "run",
    [
        lambda values, of: preference(values[0], values[1], documents=of),
        lambda values, of: partial_on_length(
            *values[:, None], within_segments=False, documents=of, n_resamples=50
        ),
        lambda values, of: own_forms(*values[[0, 1, 2, 0], None], documents=of, n_resamples=50),
    ],
    ids=["preference", "partial_on_length", "own_forms"],
)
def test_preferences_and_lengths_need_six_documents(run):
    few, enough = documents(5, 40), documents(6, 40)
    with pytest.warns(TooFewWarning):
        assert run(few.values, few.clusters).interval is None
    with pytest.warns(TooFewWarning):
        found = run(enough.values, enough.clusters)
    assert found.interval.low < found.statistic < found.interval.high
    assert (found.unit, found.n_units) == ("documents", 6)


def test_a_table_says_which_metrics_compare_systems_on_few_documents():
    few, some = documents(5, 40), documents(12, 40)
    with pytest.warns(TooFewWarning):
        column = system_table(few, {"m": few}, n_resamples=50, rng=1).columns[0]
    assert np.isnan(column.pvalues).all()
    assert not any(column.marks)
    assert (column.unit, column.n_units) == ("documents", 5)
    assert column.shared_units.tolist() == [5, 5, 0]
    with pytest.warns(TooFewWarning):
        column = system_table(some, {"m": some}, n_resamples=50, rng=1).columns[0]
    assert not np.isnan(column.pvalues[:2]).any()


def test_pairs_judged_on_few_common_documents_are_named():
    values = np.full((2, 80), np.nan)
    values[0, :60], values[1, 20:] = RNG.normal(size=60), RNG.normal(size=60)
    matrix = ScoreMatrix(values, "AB", map(str, range(80)), np.repeat(range(8), 10))
    with pytest.warns(TooFewWarning):
        rank_systems(matrix)


def test_segments_on_request():
    found = paired_bootstrap(MATRIX.by_segment(), "A", n_resamples=50, rng=1)
    assert (found.unit, found.n_units) == ("segments", N)
