import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation import acc_eq, kendall_like, pairwise_accuracy, soft_pairwise_accuracy
from metaeval.correlation.intervals.soft import soft_chance, soft_pairwise_intervals
from metaeval.correlation.soft_pairwise import soft_pairwise_limit
from metaeval.results import ConstantInputWarning, TooFewWarning

SCORES = arrays(np.float64, (4, 3), elements=st.integers(0, 4).map(float))


def matrix(values):
    return ScoreMatrix(values, "ABCD", "stu")


def plain_accuracy(human, metric, epsilon):
    """The definition, pair by pair: mean over segments of the share of agreeing pairs."""
    shares = []
    for h, m in zip(human.T, metric.T, strict=True):
        hits = [
            (h[i] == h[j])
            if abs(m[i] - m[j]) <= epsilon
            else (np.sign(h[i] - h[j]) == np.sign(m[i] - m[j]))
            for i, j in itertools.combinations(range(len(h)), 2)
        ]
        shares.append(np.mean(hits))
    return np.mean(shares)


@given(SCORES, SCORES)
def test_calibration_finds_the_best_of_all_thresholds(human, metric):
    if not (np.ptp(human, axis=0).any() and np.ptp(metric, axis=0).any()):
        with pytest.warns(ConstantInputWarning):
            assert np.isnan(acc_eq(matrix(human), matrix(metric)).statistic)
        return
    result = acc_eq(matrix(human), matrix(metric))
    best = max(plain_accuracy(human, metric, epsilon) for epsilon in range(5))
    assert result.statistic == pytest.approx(best)
    again = acc_eq(matrix(human), matrix(metric), epsilon=result.epsilon)
    assert again.statistic == pytest.approx(result.statistic)
    assert result.tau == pytest.approx(2 * best - 1)


@given(SCORES, SCORES)
def test_calibration_does_not_hang_on_the_unit_of_the_metric(human, metric):
    if not (np.ptp(human, axis=0).any() and np.ptp(metric, axis=0).any()):
        return
    plain = acc_eq(matrix(human), matrix(metric))
    for unit, offset in ((0.1, 0.0), (0.1, 70.0), (1e-13, 0.0), (1e9, 0.0)):
        scaled = acc_eq(matrix(human), matrix(unit * metric + offset))
        assert scaled.statistic == pytest.approx(plain.statistic)
        assert scaled.epsilon == pytest.approx(unit * plain.epsilon)


@given(SCORES, SCORES)
def test_kendall_like_equals_its_definition(human, metric):
    concordant = total = 0
    for h, m in zip(human.T, metric.T, strict=True):
        for i, j in itertools.permutations(range(4), 2):
            if h[i] - h[j] >= 2:
                total, concordant = total + 1, concordant + (m[i] > m[j])
    if not total:
        with pytest.warns(TooFewWarning):
            assert np.isnan(kendall_like(matrix(human), matrix(metric), threshold=2).statistic)
        return
    if not np.ptp(metric, axis=0).any():
        with pytest.warns(ConstantInputWarning):
            assert np.isnan(kendall_like(matrix(human), matrix(metric), threshold=2).statistic)
        return
    result = kendall_like(matrix(human), matrix(metric), threshold=2)
    assert result.n == total
    assert result.statistic == pytest.approx((2 * concordant - total) / total)


def test_pairwise_accuracy_pools_language_pairs():
    result = pairwise_accuracy(
        {"en-de": [1, 2, 3], "en-zh": [1, 1]}, {"en-de": [1, 3, 2], "en-zh": [5, 5]}
    )
    assert (result.statistic, result.n) == (0.75, 4)


def test_soft_accuracy_of_a_constant_metric_and_of_the_humans():
    rng = np.random.default_rng(0)
    names = [str(i) for i in range(5)], [str(j) for j in range(80)]
    human = ScoreMatrix(rng.normal(size=(5, 80)), *names)
    assert soft_pairwise_accuracy(human, human, rng=1).statistic == 1.0
    with pytest.warns(ConstantInputWarning):
        flat = soft_pairwise_accuracy(human, human.with_values(np.ones((5, 80))), rng=1)
    assert (flat.metric_pvalues[np.triu_indices(5, 1)] == 1.0).all()
    assert np.isnan(flat.statistic)


def test_sign_flip_p_tends_to_the_exact_enumeration():
    values = np.array([[5.0, 6, 7, 9], [4, 7, 5, 8.5]])
    human = ScoreMatrix(values, "AB", "stuv")
    gaps = values[0] - values[1]
    signs = np.array(list(itertools.product([1, -1], repeat=4)))
    exact = (signs @ gaps >= gaps.sum() - 1e-12).mean()
    result = soft_pairwise_accuracy(human, human, n_resamples=20_000, rng=2)
    assert result.human_pvalues[0, 1] == pytest.approx(exact, abs=0.015)


def test_soft_accuracy_without_each_segment_is_the_plain_loop():
    rng, n = np.random.default_rng(4), 40
    values = rng.normal(size=(2, 5, n)) + 0.3 * np.arange(5)[:, None]
    values[1] = np.round(values[1])
    values[:, rng.random((5, n)) < 0.3] = np.nan
    values = values[:, :, np.isfinite(values[0]).sum(axis=0) > 1]
    valid, n = np.isfinite(values[0]), values.shape[2]
    human, metric = (ScoreMatrix(each, "ABCDE", map(str, range(n))) for each in values)
    found = soft_pairwise_intervals(human, {"m": metric})
    left = np.array([
        soft_pairwise_limit(*np.delete(values, k, axis=2), np.delete(valid, k, axis=1)).statistic
        for k in range(n)
    ])  # fmt: skip
    value, z = soft_pairwise_limit(*values, valid).statistic, np.log(left / (1.0 - left))
    half = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) ** 2 / n * z.var(ddof=1))
    ends = 1.0 / (1.0 + np.exp(-(np.log(value / (1.0 - value)) + np.array([-half, half]))))
    assert (found.lows[0], found.highs[0]) == pytest.approx(tuple(ends), rel=1e-9)
    assert np.isnan(found.difference_lows).all()
    few = [each.subset(segments=each.segments[:19]) for each in (human, metric)]
    with pytest.warns(TooFewWarning):
        assert np.isnan(soft_pairwise_intervals(few[0], {"m": few[1]}).lows).all()


def test_soft_accuracy_does_not_hang_on_an_offset_of_sparse_scores():
    rng = np.random.default_rng(6)
    human = rng.normal(size=(4, 300)) + 0.1 * np.arange(4)[:, None]
    human[rng.random(human.shape) < 0.6] = np.nan
    valid, metric = np.isfinite(human), human + rng.normal(size=human.shape)
    plain = soft_pairwise_limit(human, metric, valid).statistic
    names = "ABCD", [str(k) for k in range(300)]
    for offset in (100.0, 1e4):
        assert soft_pairwise_limit(human, human + offset, valid).statistic == pytest.approx(1.0)
        moved = soft_pairwise_limit(human + offset, metric - offset, valid).statistic
        assert moved == pytest.approx(plain)
        chance = soft_chance(ScoreMatrix(human + offset, *names))
        assert chance == pytest.approx(soft_chance(ScoreMatrix(human, *names)))


def test_chance_of_soft_accuracy_is_what_random_numbers_reach():
    rng, names = np.random.default_rng(5), [str(k) for k in range(200)]
    for distance, low, high in ((0.0, 0.55, 0.75), (3.0, 0.5, 0.501)):
        human = ScoreMatrix(
            rng.normal(size=(6, 200)) + distance * np.arange(6)[:, None], "ABCDEF", names
        )
        everything = np.ones(human.values.shape, dtype=bool)
        reached = [
            soft_pairwise_limit(human.values, rng.normal(size=(6, 200)), everything).statistic
            for _ in range(400)
        ]
        assert low <= soft_chance(human) <= high
        error = np.std(reached) / 20.0
        assert soft_chance(human) == pytest.approx(np.mean(reached), abs=4 * error)
