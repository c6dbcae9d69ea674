import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation import (
    kendall,
    pairwise_accuracy,
    pearson,
    spearman,
    system_correlation,
)
from metaeval.correlation.intervals import (
    accuracy_interval,
    jackknife_interval,
    system_intervals,
)
from metaeval.correlation.measure import COEFFICIENTS, SYSTEM_LEVEL, Measure
from metaeval.correlation.rows import (
    kendall_tau,
    row_kendall,
    row_pearson,
    row_ranks,
    row_spearman,
)
from metaeval.messages import DataError
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity.levels import level_correlations
from metaeval.significance import boot_interval
from tests.metaeval.published import numbers, pivot, table
from tests.refusals import refused

RNG = np.random.default_rng(4)
X, Y = RNG.integers(0, 9, 60).astype(float), RNG.integers(0, 9, 60).astype(float)


def test_vectors_equal_scipy():
    for function, peer in (
        (pearson, stats.pearsonr),
        (spearman, stats.spearmanr),
        (kendall, stats.kendalltau),
    ):
        own, other = function(X, Y), peer(X, Y)
        assert own.statistic == pytest.approx(other.statistic)
        assert own.pvalue == pytest.approx(other.pvalue)
    own = kendall(X, Y, variant="c").statistic
    assert own == pytest.approx(stats.kendalltau(X, Y, variant="c").statistic)


@given(
    arrays(np.float64, (2, 8), elements=st.integers(0, 4).map(float)),
    st.sampled_from("bc"),
)
def test_short_rows_equal_the_long_algorithm(pair, variant):
    short = row_kendall(pair[:1], pair[1:], variant)[0]
    assert short == pytest.approx(kendall_tau(pair[0], pair[1], variant), nan_ok=True)
    if np.ptp(pair[0]) and np.ptp(pair[1]):
        rho = row_spearman(pair[:1], pair[1:])[0]
        assert rho == pytest.approx(stats.spearmanr(*pair).statistic)


@pytest.mark.parametrize("variant", ["b", "c"])
def test_two_cells_in_a_long_row_have_tau_of_one(variant):
    x, y = np.full(65, np.nan), np.arange(65.0)
    x[[3, 60]] = 1.0, 2.0
    for sign in (1.0, -1.0):
        with pytest.warns(MissingDataWarning):
            assert kendall(x, sign * y, variant=variant).statistic == sign
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(kendall(0.0 * x, y, variant=variant).statistic)
    two = np.full((3, 40), np.nan)
    two[0, 1], two[2, 7] = 1.0, 2.0
    sides = [OrientedScores(values) for values in (two, RNG.permutation(120).reshape(3, 40) * 1.0)]
    assert abs(level_correlations(*sides)[0]) == 1.0


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e-80, 1.0, 1e80, 1e155, 1e300])
def test_very_small_and_large_scores_correlate_as_others(unit):
    """Raw probabilities of sentences are of the order of exp(-400)."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 40))
    y = x + rng.normal(size=x.shape)
    expected = [stats.pearsonr(*pair).statistic for pair in zip(x, y, strict=True)]
    assert row_pearson(x * unit, y) == pytest.approx(expected, abs=1e-12)
    assert row_pearson(y, x * unit) == pytest.approx(expected, abs=1e-12)
    assert pearson(x[0] * unit, y[0] * unit).statistic == pytest.approx(expected[0], abs=1e-12)


def test_groupings_equal_a_plain_loop():
    x, y = RNG.normal(size=(5, 12)), RNG.normal(size=(5, 12))
    names = [f"S{i}" for i in range(5)], [str(j) for j in range(12)]
    left, right = ScoreMatrix(x, *names), ScoreMatrix(y, *names)
    item = [stats.kendalltau(x[:, j], y[:, j]).statistic for j in range(12)]
    assert kendall(left, right, grouping="item").statistic == pytest.approx(np.mean(item))
    system = [stats.spearmanr(x[i], y[i]).statistic for i in range(5)]
    assert spearman(left, right, grouping="system").statistic == pytest.approx(np.mean(system))
    flat = stats.pearsonr(x.ravel(), y.ravel()).statistic
    assert pearson(left, right).statistic == pytest.approx(flat)


def test_undefined_groups_are_left_out_and_counted():
    left = ScoreMatrix([[1, 1, 5], [2, 1, 7]], "AB", "stu")
    right = ScoreMatrix([[1, 2, 9], [2, 3, np.nan]], "AB", "stu")
    with pytest.warns(UndefinedGroupWarning):
        result = pearson(left, right, grouping="item")
    assert result.statistic == 1.0
    assert (result.n, result.n_excluded) == (5, 1)


def test_degenerate_vectors_are_nan_with_a_warning():
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(kendall([0.1] * 3, [1, 2, 3]).statistic)
    with pytest.warns(TooFewWarning):
        assert np.isnan(pearson([1], [2]).statistic)
    with pytest.warns(MissingDataWarning):
        assert pearson([1, 2, np.nan, 3], [2, 4, 5, 7]).n == 3
    with refused("argument.no-grid", kind=DataError, grouping="item"):
        pearson([1, 2], [1, 2], grouping="item")


@pytest.mark.parametrize(
    ("metric", "system", "segment"),
    [("BLEU", 0.917, 0.192), ("chrF", 0.866, 0.232), ("GEMBA-MQM", 0.993, 0.502)],
)
def test_published_wmt23_correlations(metric, system, segment):
    scores = table("wmt23-meta/en-de/segment-scores.tsv")
    column = next(name for name in scores if name.split("-src")[0].split("-refA")[0] == metric)
    keep = [i for i, name in enumerate(scores["system"]) if name != "refA"]
    pick = lambda name: [scores[name][i] for i in keep]  # noqa: E731
    axes = pick("system"), pick("seg")
    human = ScoreMatrix(*pivot(*axes, numbers(pick("mqm"))))
    own = ScoreMatrix(*pivot(*axes, numbers(pick(column))))
    with pytest.warns(MissingDataWarning):
        result = pearson(human, own)
    assert result.n == 5520
    assert round(result.statistic, 3) == segment
    given_scores = table("wmt23-meta/en-de/system-scores.tsv")
    rows = [i for i, name in enumerate(given_scores["system"]) if name != "refA"]
    pairs = [[numbers(given_scores[name])[i] for i in rows] for name in ("mqm", column)]
    assert round(system_correlation(*pairs).statistic, 3) == system


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("metric", [[3, 1], [1, 3], [2, 2]])
def test_over_two_systems_nothing_correlates(name, metric):
    """Random scores would: half the time at 1."""
    with pytest.warns(TooFewWarning):
        alone = system_correlation([1, 2], metric, name)
    with pytest.warns(TooFewWarning):
        among = system_intervals([1, 2], {"m": metric}, name)
    for found in (alone, among):
        assert [each.message.code for each in found.warnings] == ["correlation.few-systems"]
    assert np.isnan([alone.statistic, *among.values]).all()
    segments = [str(n) for n in range(30)]
    scores = np.random.default_rng(3).normal(size=(2, 2, 30))
    human, other = (ScoreMatrix(values, "AB", segments) for values in scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = boot_interval(human, other, Measure(name, SYSTEM_LEVEL), n_resamples=9, rng=1)
    assert np.isnan([drawn.statistic, *drawn.interval[:2]]).all()


@pytest.mark.parametrize("unit", [1.0, 1e-13, 1e9])
def test_rounding_breaks_no_ties_of_systems(unit):
    values = unit * np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.5, 0.4, 0.6]])
    ranks = np.repeat([[1.0], [2.0], [3.0], [4.0]], 3, axis=1)
    for order in itertools.permutations(range(3)):
        human, metric = (ScoreMatrix(x[:, order], "ABCD", "stu") for x in (values, ranks))
        means = human.values.mean(axis=1), metric.values.mean(axis=1)
        for name, value in (("kendall", np.sqrt(0.5)), ("spearman", np.sqrt(0.6))):
            found = [
                system_correlation(human, metric, name).statistic,
                system_correlation(human, metric, name, cells="own").statistic,
                system_correlation(*means, name).statistic,
                system_intervals(means[0], {"m": means[1]}, name).values[0],
            ]
            assert found == pytest.approx([value] * 4)
        for sides in ((human, metric), means):
            assert pairwise_accuracy(*sides).statistic == 0.5
        assert accuracy_interval(*means) == accuracy_interval([2, 2, 2, 5], [1, 2, 3, 4])


def test_means_equal_but_for_rounding_have_no_pearson():
    equal = ScoreMatrix([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2]], "ABC", "stu")
    other = equal.with_values(RNG.normal(size=(3, 3)))
    assert np.ptp(equal.system_means()) > 0.0
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(system_correlation(other, equal).statistic)


def test_the_jackknife_sees_ties_of_means():
    thirds = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.2, 0.3, 0.1]])
    means = [*thirds.mean(axis=1), 0.5, 0.1, 0.7]
    metric = [1, 2, 3, 4, 6, 5, 8]
    found = jackknife_interval(means, metric, "kendall")
    assert found == jackknife_interval([2, 2, 2, 2, 5, 1, 7], metric, "kendall")


@pytest.mark.parametrize("n", [3, 10, 33, 34, 64, 65, 129, 700, 11_000, 70_000])
@pytest.mark.parametrize("digits", [0, 1, 9])
@pytest.mark.parametrize("slope", [-1e9, -1.0, 0.0, 0.5, 1e9])
def test_kendalls_p_and_tau_and_ranks_are_scipys(n, digits, slope):
    """Few and many scores, tied or not, in no, in some and in the same or opposite order."""
    rng = np.random.default_rng(n)
    human = rng.normal(size=n).round(digits)
    metric = (slope * human + rng.normal(size=n)).round(digits)
    human[:2], metric[:2] = (9.0, -9.0), (8.0, 7.0)
    for variant in "bc":
        found = kendall(human, metric, variant=variant)
        expected = stats.kendalltau(human, metric, variant=variant)
        assert found.statistic == pytest.approx(expected.statistic, abs=1e-14)
        assert found.pvalue == pytest.approx(expected.pvalue, abs=1e-13, rel=1e-9)
    gaps = np.where(rng.random(n) < 0.2, np.nan, human)
    np.testing.assert_array_equal(
        row_ranks(np.array([human, gaps])),
        stats.rankdata([human, gaps], axis=1, nan_policy="omit"),
    )
