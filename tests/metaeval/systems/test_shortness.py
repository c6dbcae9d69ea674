"""Shortness against other programs: regressions, loops, scipy."""

import numpy as np
import pytest
from scipy import stats

from metaeval.messages import DataError
from metaeval.results import ApproximationWarning, ConstantInputWarning, TooFewWarning
from metaeval.systems.shortness import compliance, own_forms, partial_on_length
from tests.refusals import refused

RNG = np.random.default_rng(4)


def world(n_systems: int = 5, n: int = 60, bias: float = 0.0, noise: float = 1.0):
    """Human scores that fall with length, and a metric that takes `bias` more off."""
    length = RNG.uniform(0.4, 1.2, (n_systems, n))
    human = 2 * length + RNG.normal(size=(n_systems, n))
    metric = human + bias * length + noise * RNG.normal(size=(n_systems, n))
    return metric, human, length


def by_residuals(metric, human, length):
    """The correlation of what human scores leave of metric and length (the definition)."""
    left = [each - np.poly1d(np.polyfit(human, each, 1))(human) for each in (metric, length)]
    return stats.pearsonr(*left).statistic


@pytest.mark.parametrize("bias", [0.0, 1.5, -3.0])
def test_partial_is_the_correlation_of_residuals(bias):
    metric, human, length = world(bias=bias)
    result = partial_on_length(metric, human, length, within_segments=False, n_resamples=50, rng=1)
    assert result.statistic == pytest.approx(
        by_residuals(metric.ravel(), human.ravel(), length.ravel()), abs=1e-10
    )
    assert result.metric_human == pytest.approx(np.corrcoef(metric.ravel(), human.ravel())[0, 1])
    assert result.human_length == pytest.approx(np.corrcoef(length.ravel(), human.ravel())[0, 1])
    assert result.metric_length == pytest.approx(np.corrcoef(length.ravel(), metric.ravel())[0, 1])


def test_within_segments_is_with_a_dummy_for_each_segment():
    """Frisch, Waugh and Lovell: a regression on human scores and segment dummies."""
    metric, human, length = world(bias=1.0)
    metric += 5 * RNG.normal(size=60)
    length += 0.3 * RNG.normal(size=60)
    dummies = np.tile(np.eye(60), (5, 1))
    design = np.column_stack([human.ravel(), dummies])
    left = [each.ravel() - design @ np.linalg.lstsq(design, each.ravel(), rcond=None)[0]
            for each in (metric, length)]  # fmt: skip
    result = partial_on_length(metric, human, length, n_resamples=50, rng=1)
    assert result.statistic == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-9)


def test_the_sign_says_what_the_metric_does():
    for bias, sign in ((3.0, 1), (-3.0, -1)):
        found = partial_on_length(*world(n=300, bias=bias), n_resamples=300, rng=2)
        assert found.interval
        assert (sign * found.statistic, sign * found.interval.low > 0) > (0.2, False)


def test_a_metric_without_bias_is_rarely_accused():
    accused = 0
    for seed in range(100):
        metric, human, length = world(n=40)
        found = partial_on_length(metric, human, length, n_resamples=200, rng=seed)
        assert found.interval
        accused += not found.interval.low <= 0 <= found.interval.high
    assert accused <= 12


def test_the_interval_is_that_of_drawn_segments():
    metric, human, length = world(n=30, bias=1.0)
    found = partial_on_length(metric, human, length, n_resamples=2000, rng=3)
    drawn = []
    for seed in range(600):
        places = np.random.default_rng(seed).integers(0, 30, 30)
        own = [(each - each.mean(axis=0))[:, places].ravel() for each in (metric, human, length)]
        drawn.append(by_residuals(*own))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.interval
    assert found.interval.low == pytest.approx(low, abs=0.04)
    assert found.interval.high == pytest.approx(high, abs=0.04)


def test_missing_cells_are_left_out_and_counted():
    metric, human, length = world(n=30)
    metric[0, :5], length[1, 7] = np.nan, np.nan
    known = ~np.isnan(metric + length)
    found = partial_on_length(metric, human, length, within_segments=False, n_resamples=9, rng=1)
    assert (found.n, found.n_excluded) == (144, 6)
    assert found.statistic == pytest.approx(
        by_residuals(metric[known], human[known], length[known]), abs=1e-10
    )


def test_large_scores_lose_nothing():
    metric, human, length = world(n=30)
    plain = partial_on_length(metric, human, length, n_resamples=9, rng=1).statistic
    large = partial_on_length(1e7 + metric, human, 1e6 + length, n_resamples=9, rng=1)
    assert large.statistic == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize(
    ("arrays", "warning"),
    [
        (([[1.0, 2.0]], [[1.0, 3.0]], [[1.0, 1.5]]), TooFewWarning),
        ((np.ones((3, 9)), RNG.normal(size=(3, 9)), RNG.normal(size=(3, 9))), ConstantInputWarning),
        ((RNG.normal(size=(3, 9)), RNG.normal(size=(3, 9)), np.ones((3, 9))), ConstantInputWarning),
    ],
)
def test_undefined_is_said(arrays, warning):
    with pytest.warns(warning):
        found = partial_on_length(*arrays, n_resamples=9, rng=1)
    assert np.isnan(found.statistic)
    assert found.interval is None


def test_a_metric_that_follows_humans_exactly_leaves_nothing_to_length():
    _, human, length = world(n=20)
    with pytest.warns(ConstantInputWarning):
        found = partial_on_length(human, human, length, n_resamples=9, rng=1)
    assert np.isnan(found.statistic)


def test_own_forms_against_a_table():
    long, short = RNG.normal(1, 1, (3, 40)), RNG.normal(0, 2, (3, 40))
    theirs, less = 50 + 10 * RNG.normal(size=(3, 40)), 45 + 10 * RNG.normal(size=(3, 40))
    short[2, 3] = np.nan
    found = own_forms(long, short, theirs, less, n_resamples=500, rng=1)
    rows = np.stack([each.ravel() for each in (long, short, theirs, less)])
    ml, ms, hl, hs = rows[:, ~np.isnan(rows).any(axis=0)]
    metric_loss = (ml - ms).mean() / np.concatenate([ml, ms]).std(ddof=1)
    human_loss = (hl - hs).mean() / np.concatenate([hl, hs]).std(ddof=1)
    assert (found.n, found.n_excluded) == (119, 1)
    assert found.metric_loss == pytest.approx(metric_loss)
    assert found.human_loss == pytest.approx(human_loss)
    assert found.statistic == pytest.approx(metric_loss - human_loss)
    assert found.metric_prefers_longer == pytest.approx((ml > ms).mean())
    assert found.interval
    assert found.interval.low < found.statistic < found.interval.high


def test_own_forms_of_one_segment_repeat_a_paired_interval():
    """One system: the interval of a mean of paired differences, about as the t interval."""
    long, theirs = RNG.normal(1, 1, (1, 400)), RNG.normal(1, 1, (1, 400))
    short, less = RNG.normal(size=(1, 400)), RNG.normal(size=(1, 400))
    found = own_forms(long, short, theirs, less, n_resamples=2000, rng=1)
    scales = [np.std(np.concatenate(pair), ddof=1) for pair in ((long, short), (theirs, less))]
    each = ((long - short) / scales[0] - (theirs - less) / scales[1]).ravel()
    low, high = stats.t.interval(0.95, 399, each.mean(), stats.sem(each))
    assert found.interval
    assert found.interval.low == pytest.approx(low, abs=0.02)
    assert found.interval.high == pytest.approx(high, abs=0.02)


def test_forms_without_pairs_or_spread():
    empty = np.full((1, 3), np.nan)
    with pytest.warns(TooFewWarning):
        assert np.isnan(own_forms(empty, empty, empty, empty, rng=1).statistic)
    same = np.ones((1, 3))
    with pytest.warns(ConstantInputWarning):
        assert own_forms(same, same, same, same, rng=1).interval is None


def test_compliance_against_a_loop():
    quality = RNG.normal(size=(3, 50))
    deviation = np.round(RNG.exponential(0.1, (3, 50)), 2)
    quality[1, 4] = np.nan
    steps = [0.0, 0.05, 0.1, 0.3, 5.0]
    found = compliance(quality, deviation, steps)
    used = [n for n in range(50) if n != 4]
    assert (found.n, found.n_excluded) == (49, 1)
    for t, step in enumerate(steps):
        common = [n for n in used if all(deviation[s, n] <= step for s in range(3))]
        assert found.n_common[t] == len(common)
        for s in range(3):
            own = [quality[s, n] for n in used if deviation[s, n] <= step]
            assert found.share[s, t] == pytest.approx(len(own) / 49)
            assert found.own[s, t] == pytest.approx(np.mean(own) if own else np.nan, nan_ok=True)
            expected = np.mean([quality[s, n] for n in common]) if common else np.nan
            assert found.common[s, t] == pytest.approx(expected, nan_ok=True)


def test_compliance_refuses_what_is_no_curve():
    with refused("argument.tolerances", kind=DataError):
        compliance([[1.0]], [[0.0]], [0.2, 0.1])
    with refused("argument.shape", kind=DataError, name="deviation", shape="(1, 1)", got="(1, 2)"):
        compliance([[1.0]], [[0.0, 1.0]], [0.1])
    with pytest.warns(TooFewWarning):
        assert compliance([[np.nan]], [[0.0]], [0.1]).n == 0


def forms(n: int):
    """A metric and humans that lose the same, up to noise."""
    noise = RNG.normal(size=(4, 1, n))
    return noise[0] + 0.5, noise[1], noise[2] + 0.5, noise[3]


@pytest.mark.parametrize(("run", "given"), [(partial_on_length, world), (own_forms, forms)])
def test_few_segments_have_no_interval_and_some_a_warning(run, given):
    """Percentile intervals missed 16% of 5 segments, 13% of 10, 9.6% of 20."""
    with pytest.warns(TooFewWarning):
        few = run(*given(n=19), n_resamples=50, rng=1)
    assert (few.interval, np.isfinite(few.statistic), len(few.warnings)) == (None, True, 1)
    with pytest.warns(ApproximationWarning):
        some = run(*given(n=20), n_resamples=50, rng=1)
    many = run(*given(n=100), n_resamples=50, rng=1)
    assert some.interval
    assert many.interval
    assert many.warnings == ()


def test_segments_without_scores_are_not_counted_for_the_interval():
    metric, human, length = world(n=40)
    metric[:, 19:] = np.nan
    with pytest.warns(TooFewWarning):
        assert partial_on_length(metric, human, length, n_resamples=9, rng=1).interval is None


def test_two_segments_have_no_interval_of_one_point():
    with pytest.warns(TooFewWarning):
        assert own_forms(*forms(2), rng=1).interval is None
