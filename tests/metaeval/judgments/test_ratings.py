import numpy as np
import pytest
from scipy import stats

from metaeval.judgments import annotator_severity
from metaeval.judgments.agreement import icc, weighted_kappa
from metaeval.judgments.agreement.ratings import ICC_FORMS
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, TooFewWarning
from metaeval.significance import compare_seeds
from metaeval.significance.trainings import violation_ratio
from metaeval.systems import length_deviation
from tests.refusals import refused

# Shrout and Fleiss (1979), table 2: four judges, six targets.
SHROUT = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]


@pytest.mark.parametrize(
    ("form", "value"),
    [("1", 0.17), ("A1", 0.29), ("C1", 0.71), ("1k", 0.44), ("Ak", 0.62), ("Ck", 0.91)],
)
def test_icc_of_shrout_and_fleiss(form, value):
    result = icc(SHROUT, form=form)
    assert result.statistic == pytest.approx(value, abs=0.005)
    assert result.interval.low < result.statistic < result.interval.high


def test_icc_intervals_as_published_with_the_psych_package():
    intervals = {"1": (-0.133, 0.723), "A1": (0.019, 0.761), "C1": (0.342, 0.946)}
    for form, (low, high) in intervals.items():
        assert icc(SHROUT, form=form).interval[:2] == pytest.approx((low, high), abs=0.001)


def test_icc_of_too_little_or_constant_ratings_is_undefined():
    with pytest.warns(TooFewWarning):
        assert np.isnan(icc([[1, 2], [np.nan, 3]]).statistic)
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(icc(np.ones((2, 4))).statistic)


@pytest.mark.parametrize(
    ("ratings", "forms"),
    [
        ([[100] * 4, [0] * 4], ("C1", "1k", "Ck")),
        ([[0.3] * 4, [0.1] * 4], ("C1", "1k", "Ck")),
        ([[1, 2, 3], [3, 2, 1]], ("A1", "1k", "Ak", "Ck")),
        ([[1, 0], [0, 1]], ("A1", "1k", "Ak", "Ck")),
    ],
)
def test_icc_of_items_with_equal_means_is_undefined_where_it_divides_by_them(ratings, forms):
    for form in forms:
        with pytest.warns(ConstantInputWarning):
            result = icc(ratings, form=form)
        assert np.isnan([result.statistic, *result.interval[:2]]).all()


def test_icc_is_negative_where_its_formula_is_and_undefined_where_it_is_no_correlation():
    # Mean squares by hand: R = 0, E = W = 2 of three annotators, so C1 and 1 are -1 / (k - 1).
    cycle = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    for form in ("1", "C1"):
        assert icc(cycle, form=form).statistic == pytest.approx(-1 / 2)
    # R = C = 1/6, E = 7/6 of two annotators: A1 is -1.5, and Ak divides by less than 0.
    crossed = [[1, 2, 3], [3, 2, 2]]
    for form in ("A1", "Ak"):
        with pytest.warns(TooFewWarning):
            assert np.isnan(icc(crossed, form=form).statistic)
    # The mean of k ratings has no bound below: (R - E) / R.
    means = icc(crossed, form="Ck")
    assert means.statistic < -1
    assert means.interval.low < means.statistic < means.interval.high


def test_icc_intervals_hold_the_estimate_or_say_that_there_is_none():
    rng = np.random.default_rng(7)
    for _ in range(300):
        shape = rng.integers(2, 5), rng.integers(2, 6)
        ratings = rng.integers(0, rng.choice([2, 3, 100]), size=shape) * rng.choice([1, 0.1])
        for form in ICC_FORMS:
            result = icc(ratings, form=form)
            low, high, _ = result.interval
            if np.isnan([result.statistic, low, high]).any():
                assert result.warnings
                continue
            assert low - 1e-9 <= result.statistic <= high + 1e-9 <= 1.0 + 1e-8
            assert form.endswith("k") or low >= -1.0


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_kappa_equals_its_definition_on_the_table_of_counts(weights, power):
    x, y = np.random.default_rng(1).integers(0, 4, (2, 80))
    observed = np.zeros((4, 4))
    np.add.at(observed, (x, y), 1 / 80)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    grid = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) ** power
    value = 1 - (grid * observed).sum() / (grid * expected).sum()
    assert weighted_kappa(x, y, weights=weights).statistic == pytest.approx(value)
    assert weighted_kappa(x, x, weights=weights).statistic == 1.0


def test_balanced_variances_equal_those_of_the_analysis_of_variance():
    rng = np.random.default_rng(2)
    y = rng.normal(size=(6, 40)) + 2 * rng.normal(size=40) + 1.5 * rng.normal(size=6)[:, None]
    annotators, items = np.indices(y.shape).reshape(2, -1).tolist()
    result = annotator_severity(y.ravel(), annotators, items)
    rows, columns = y.mean(axis=0), y.mean(axis=1)
    residual = y - rows - columns[:, None] + y.mean()
    error = (residual**2).sum() / (5 * 39)
    assert result.residual_variance == pytest.approx(error, rel=1e-3)
    assert result.item_variance == pytest.approx((6 * rows.var(ddof=1) - error) / 6, rel=1e-3)
    expected = (40 * columns.var(ddof=1) - error) / 40
    assert result.annotator_variance == pytest.approx(expected, rel=1e-2)


def test_severity_has_the_unit_of_the_scores():
    rng = np.random.default_rng(8)
    who, what = rng.integers(0, 4, 200).tolist(), rng.integers(0, 40, 200).tolist()
    scores = rng.normal(size=40)[what] + rng.normal(size=4)[who] + rng.normal(size=200)
    plain = annotator_severity(scores, who, what)
    assert 0.3 < plain.reliability < 0.9
    far = annotator_severity(scores + 1e9, who, what)
    assert far.reliability == pytest.approx(plain.reliability, abs=1e-6)
    assert far.mean == pytest.approx(1e9 + plain.mean)
    small = annotator_severity(scores * 1e-8, who, what)
    assert small.reliability == pytest.approx(plain.reliability)
    assert small.severity == pytest.approx(plain.severity * 1e-8, abs=1e-12)
    assert small.item_variance == pytest.approx(plain.item_variance * 1e-16, rel=1e-9)


def test_severity_of_equal_or_no_scores_is_undefined():
    with pytest.warns(ConstantInputWarning):
        flat = annotator_severity([5, 5, 5, 5], "AABB", [1, 2, 1, 2])
    assert (flat.mean, flat.counts.tolist(), flat.annotators) == (5.0, [2, 2], ("A", "B"))
    with pytest.warns(TooFewWarning):
        none = annotator_severity([np.nan, np.nan], "AB", [1, 1])
    assert (none.n, none.n_excluded) == (0, 2)
    for result in (flat, none):
        assert np.isnan([*result.severity, *result.noise, result.reliability]).all()
    assert np.isnan(none.mean)
    assert annotator_severity([], [], []).n == 0


def test_an_item_twice_with_one_annotator_is_not_shared():
    with pytest.warns(TooFewWarning):
        annotator_severity([1, 2, 3, 5], "AABB", [1, 1, 2, 2])


def test_severity_is_not_confused_with_easy_items():
    rng = np.random.default_rng(3)
    quality, severity = 20 * rng.normal(size=200), np.array([-8.0, 0.0, 8.0])
    who = rng.integers(0, 3, 600)
    # The severe annotator sees the best items more often.
    order = np.argsort(quality)
    what = np.where(who == 0, order[rng.integers(100, 200, 600)], rng.integers(0, 200, 600))
    scores = 50 + quality[what] + severity[who] + 4 * rng.normal(size=600)
    result = annotator_severity(scores, who.tolist(), what.tolist())
    np.testing.assert_allclose(result.severity - result.severity.mean(), severity, atol=2.5)
    plain = np.array([scores[who == k].mean() for k in range(3)])
    assert plain[0] > plain[1]


def test_seeds_exact_permutation_and_classical_tests():
    x, y = np.random.default_rng(4).normal(size=(2, 8))
    x += 0.5
    result = compare_seeds(x, y, rng=1, n_resamples=100)
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    exact = np.mean(np.abs(signs @ (x - y)) >= abs((x - y).sum()) - 1e-12)
    assert result.permutation == pytest.approx(exact)
    assert result.t == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert result.wilcoxon == pytest.approx(stats.wilcoxon(x, y).pvalue)
    free = compare_seeds(x, y[:6], paired=False, rng=1, n_resamples=2000)
    assert free.t == pytest.approx(stats.ttest_ind(x, y[:6], equal_var=False).pvalue)
    assert free.permutation == pytest.approx(free.t, abs=0.1)


def test_seeds_signed_ranks_are_exact_where_differences_tie():
    steps = np.array([1, 1, -1, 2, 2, 3, -2, 3, 1, 2, 4, -1, 5, 3], dtype=float)
    ranks = stats.rankdata(np.abs(steps))
    signs = (np.arange(2 ** len(steps))[:, None] >> np.arange(len(steps))) & 1
    sums, observed = signs @ ranks, ranks[steps > 0].sum()
    exact = min(1.0, 2 * min((sums >= observed).mean(), (sums <= observed).mean()))
    assert compare_seeds(steps, np.zeros(14), rng=1).wilcoxon == pytest.approx(exact, rel=1e-12)


def test_stochastic_order_is_zero_where_one_dominates_and_symmetric():
    x = np.random.default_rng(5).normal(size=7)
    assert violation_ratio(x + 1, x) == 0.0
    assert violation_ratio(x, x) == 0.5
    y = np.random.default_rng(6).normal(size=5)
    assert violation_ratio(x, y) + violation_ratio(y, x) == pytest.approx(1.0)
    with pytest.warns(TooFewWarning):
        compare_seeds(x[:4], y[:4], n_resamples=50, rng=1)


def test_length_deviation():
    result = length_deviation([4, 6, 3, np.nan], [4.4, 4.5, 0, 3], rounding="nearest")
    assert (result.n, result.n_excluded) == (2, 2)
    assert result.deviations.tolist() == [0.0, pytest.approx(0.2)]
    with refused("argument.least", kind=DataError, name="lengths", least=0, value=-1.0):
        length_deviation([-1], [2])
