import math

import numpy as np
import pytest
from scipy import stats

from metaeval.correlation import pearson
from metaeval.messages import DataError
from metaeval.results import IdenticalInputWarning, TooFewWarning
from metaeval.significance import williams_test, zou_interval
from metaeval.significance.dependent import williams_statistics, zou_ends, zou_pvalues
from tests.metaeval.published import numbers, pivot, table
from tests.refusals import refused


def test_all_114_published_wmt15_correlations():
    scores, published = table("wmt15/scores.tsv"), table("wmt15/metric-correlations.tsv")
    value, human = numbers(scores["score"]), numbers(scores["human"])
    keys = list(zip(scores["lp"], scores["metric"], strict=True))
    wanted = zip(published["lp"], published["metric"], published["published_r"], strict=True)
    checked = 0
    for lp, metric, r in wanted:
        own = [i for i, key in enumerate(keys) if key == (lp, metric)]
        assert abs(pearson(value[own], human[own]).statistic) == pytest.approx(float(r), abs=1e-12)
        checked += 1
    assert checked == 114


def test_all_253_published_zou_intervals():
    scores, published = table("wmt15/scores.tsv"), table("wmt15/diff-ci.cs-en.tsv")
    rows = [i for i, lp in enumerate(scores["lp"]) if lp == "cs-en"]
    pick = lambda name: [scores[name][i] for i in rows]  # noqa: E731
    values, metrics, _ = pivot(pick("metric"), pick("system"), numbers(pick("score")))
    humans, _, _ = pivot(pick("metric"), pick("system"), numbers(pick("human")))
    r = np.abs(np.corrcoef(np.vstack([humans[0], values])))
    at = {name: i + 1 for i, name in enumerate(metrics)}
    columns = ("metric_higher", "metric_lower", "ci_low", "ci_high")
    pairs = list(zip(*(published[name] for name in columns), strict=True))
    assert len(pairs) == 253
    for better, worse, low, high in pairs:
        a, b = at[better], at[worse]
        interval = zou_interval(r[0, a], r[0, b], r[a, b], humans.shape[1]).interval
        assert interval.low == pytest.approx(float(low), abs=6e-4)
        assert interval.high == pytest.approx(float(high), abs=6e-4)


def test_williams_keeps_the_direction():
    better = williams_test(0.9, 0.8, 0.85, 20)
    worse = williams_test(0.8, 0.9, 0.85, 20)
    assert better.statistic == -worse.statistic
    assert better.pvalue == pytest.approx(1 - worse.pvalue)
    assert williams_test(0.8, 0.9, 0.85, 20, alternative="less").pvalue == better.pvalue
    both = williams_test(0.9, 0.8, 0.85, 20, alternative="two-sided")
    assert both.pvalue == pytest.approx(2 * stats.t.sf(abs(both.statistic), 17))


def test_degenerate_input():
    with pytest.warns(IdenticalInputWarning):
        assert np.isnan(williams_test(0.9, 0.9, 1.0, 20).pvalue)
    with pytest.warns(TooFewWarning):
        williams_test(0.9, 0.8, 0.7, 3)
    with pytest.warns(TooFewWarning):
        zou_interval(0.9, 0.8, 0.7, 3)
    with refused("argument.range", kind=DataError, name="r23", low=-1, high=1, value=1.7):
        williams_test(0.9, 0.8, 1.7, 30)


def test_williams_equals_the_psych_packages_example():
    """r.test(n = 103, r12 = .4, r13 = .5, r23 = .1) prints t -0.89, p 0.37."""
    result = williams_test(0.4, 0.5, 0.1, 103, alternative="two-sided")
    assert (round(result.statistic, 2), round(result.pvalue, 2)) == (-0.89, 0.37)


@pytest.mark.parametrize("compare", [williams_test, zou_interval])
@pytest.mark.parametrize(
    "r", [(0.9, -0.9, 0.9), (0.9, 0.8, 1.0), (0.0, 1.0, 0.1), (-1.0, 1.0, 1.0)]
)
def test_correlations_that_no_three_variables_have_are_refused(compare, r):
    matrix = np.array([[1, r[0], r[1]], [r[0], 1, r[2]], [r[1], r[2], 1]])
    assert np.linalg.eigvalsh(matrix).min() < -1e-3
    with refused("argument.correlations", kind=DataError, r12=r[0], r13=r[1], r23=r[2]):
        compare(*r, 20)


def test_the_message_says_which_correlation_between_the_metrics_is_possible():
    with refused("argument.correlations", kind=DataError, low=-1.0) as caught:
        williams_test(0.9, -0.9, 0.9, 20)
    assert caught.value.message.parameters["high"] == pytest.approx(-0.62)
    assert zou_interval(0.9, -0.9, -0.62, 20).statistic == pytest.approx(1.8)


@pytest.mark.parametrize("n", [4, 5, 10])
def test_a_difference_of_two_correlations_lies_within_two(n):
    """Correlations of data, and the same rounded to three decimals."""
    rng = np.random.default_rng(n)
    for _ in range(200):
        data = rng.normal(size=(3, n)) + rng.normal(size=n) * rng.normal(scale=3, size=(3, 1))
        r = np.corrcoef(data)
        for digits in (16, 3):
            rs = [float(r[i].round(digits)) for i in ((0, 1), (0, 2), (1, 2))]
            low, high = zou_interval(*rs, n).interval[:2]
            if max(map(abs, rs[:2])) < 1.0:
                assert -2.0 <= low <= rs[0] - rs[1] <= high <= 2.0


@pytest.mark.parametrize("r", [0.1, 0.3, 0.5, 0.55, 0.7, -0.35, 1.0])
def test_identical_metrics_have_no_t_whatever_rounding_leaves(r):
    with pytest.warns(IdenticalInputWarning):
        assert np.isnan(williams_test(r, r, 1.0, 20).statistic)


@pytest.mark.parametrize("n", [4, 50, 10_000])
def test_tables_of_all_pairs_equal_the_formulas_one_by_one(n):
    """Of 60 metrics two are alike and one has r of 1; the formulas in plain math."""
    rng = np.random.default_rng(n)
    data = rng.normal(size=(61, 40)) + 2 * rng.normal(size=40)
    data[4], data[5] = data[3], data[0]
    table = np.clip(np.corrcoef(data), -1.0, 1.0)
    table[0, 5] = table[5, 0] = 1.0
    first, second = np.nonzero(~np.eye(60, dtype=bool))
    rs = table[0, 1 + first], table[0, 1 + second], table[1 + first, 1 + second]
    ends = np.array(zou_ends(*rs, n, confidence=0.9)).T
    for row, t, p, *each in zip(
        ends, williams_statistics(*rs, n), zou_pvalues(*rs, n), *rs, strict=True
    ):
        if max(map(abs, each[:2])) == 1.0:
            assert np.isnan([*row, p]).all()
            continue
        np.testing.assert_allclose(row, plain_zou(*each, n, 0.9), atol=1e-12)
        if each[2] < 0.999:
            assert t == pytest.approx(plain_williams(*each, n), abs=1e-12)
        if each[0] != each[1]:
            level = abs(1.0 - 2.0 * p)
            touching = plain_zou(*each, n, level)[0 if each[0] > each[1] else 1]
            # Where the whole interval lies on one side to the last digit, p is 0 or 1.
            assert level > 1 - 1e-9 or touching == pytest.approx(0.0, abs=1e-6)


def plain_zou(x, y, z, n, level):
    half = stats.norm.ppf(0.5 + level / 2) / math.sqrt(n - 3)
    (l1, u1), (l2, u2) = (
        (math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)) for r in (x, y)
    )
    c = (z - x * y / 2) * (1 - x * x - y * y - z * z) + z**3
    c = min(1.0, max(-1.0, c / ((1 - x * x) * (1 - y * y))))
    low = (x - l1) ** 2 + (u2 - y) ** 2 - 2 * c * (x - l1) * (u2 - y)
    high = (u1 - x) ** 2 + (y - l2) ** 2 - 2 * c * (u1 - x) * (y - l2)
    return x - y - math.sqrt(max(low, 0.0)), x - y + math.sqrt(max(high, 0.0))


def plain_williams(x, y, z, n):
    k = 1 - x * x - y * y - z * z + 2 * x * y * z
    below = 2 * k * (n - 1) / (n - 3) + (x + y) ** 2 / 4 * (1 - z) ** 3
    return (x - y) * math.sqrt((n - 1) * (1 + z)) / math.sqrt(below)
