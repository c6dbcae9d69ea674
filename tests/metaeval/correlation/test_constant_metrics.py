"""A constant metric has no agreement with humans and wins no test."""

import warnings

import numpy as np
import pytest

from metaeval import ScoreMatrix, StatisticsWarning
from metaeval.correlation import (
    Measure,
    acc_eq,
    correlate_metrics,
    kendall_like,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)
from metaeval.correlation.measure import CORRELATIONS
from metaeval.results import ConstantInputWarning
from metaeval.significance import boot_interval, compare_metrics, perm_test
from metaeval.significance.permutation.tests import permuted_differences
from tests.metaeval.plain import matrix, panel_of, permuted

PAIRWISE = CORRELATIONS[3:]
SHAPE = (6, 30)


def world() -> tuple[ScoreMatrix, ScoreMatrix]:
    """Humans with many ties, as MQM has, and a metric that follows them."""
    rng = np.random.default_rng(5)
    quality = rng.normal(size=SHAPE)
    return matrix(np.minimum(quality.round(), 0.0)), matrix(quality + rng.normal(size=SHAPE))


def flat_metrics() -> dict[str, ScoreMatrix]:
    """One score for all, and one score for all outputs of a segment."""
    by_segment = np.tile(np.arange(SHAPE[1]) / 7.0, (SHAPE[0], 1))
    return {"one score": matrix(np.full(SHAPE, 0.1)), "a score a segment": matrix(by_segment)}


def options(correlation: str) -> dict[str, object]:
    return {"measure": Measure(correlation, threshold=0.5), "rng": 1}


@pytest.mark.parametrize("kind", flat_metrics())
@pytest.mark.parametrize("correlation", PAIRWISE)
def test_no_value_no_interval_and_no_test_of_a_constant_metric(correlation, kind):
    human, metric = world()
    flat = flat_metrics()[kind]
    with pytest.warns(ConstantInputWarning):
        result = perm_test(human, metric, flat, n_resamples=99, **options(correlation))
    assert np.isnan([result.pvalue, result.second, result.statistic]).all()
    assert not np.isnan(result.first)
    with pytest.warns(ConstantInputWarning):
        table = compare_metrics(human, {"m": metric, "flat": flat}, **options(correlation))
    assert np.isnan(table.pvalues).all()
    assert [warning.code for warning in table.warnings] == ["constant_input"]
    with pytest.warns(ConstantInputWarning):
        values = correlate_metrics(human, {"m": metric, "flat": flat}, **options(correlation))
    assert np.isnan(values.correlations).tolist() == [False, True]
    with pytest.warns(ConstantInputWarning):
        interval = boot_interval(human, flat, n_resamples=50, **options(correlation))
    assert np.isnan(interval.interval[:2]).all()
    assert interval.n_excluded == 50
    with pytest.warns(ConstantInputWarning):
        gap = boot_interval(human, metric, other=flat, n_resamples=50, **options(correlation))
    assert np.isnan(gap.interval[:2]).all()


@pytest.mark.parametrize("swap", ["pairs", "both", "inputs"])
def test_every_way_to_swap_leaves_acc_eq_of_a_constant_metric_undefined(swap):
    human, metric = world()
    arguments = {"measure": "acc_eq", "swap": swap, "n_resamples": 19, "rng": 1}
    with pytest.warns(ConstantInputWarning):
        result = perm_test(human, metric, matrix(np.zeros(SHAPE)), **arguments)
    assert np.isnan(result.pvalue)


def test_flips_do_not_bring_a_constant_metric_back():
    human, metric = world()
    measure = Measure("soft_pairwise_accuracy", n_flips=50)
    arguments = {"measure": measure, "n_resamples": 19}
    with pytest.warns(ConstantInputWarning):
        result = perm_test(human, metric, matrix(np.zeros(SHAPE)), rng=1, **arguments)
    assert np.isnan(result.pvalue)


def test_humans_who_tell_nothing_apart_agree_with_no_metric():
    """Calibrated to tie everything, any metric would agree in all pairs."""
    human, metric = matrix(np.zeros(SHAPE)), world()[1]
    for statistic in (acc_eq, pairwise_accuracy, soft_pairwise_accuracy):
        with pytest.warns(ConstantInputWarning):
            assert np.isnan(statistic(human, metric).statistic)


def test_a_fixed_threshold_does_not_make_a_constant_metric_useful():
    human = world()[0]
    with pytest.warns(ConstantInputWarning):
        result = acc_eq(human, matrix(np.ones(SHAPE)), epsilon=0.5)
    assert np.isnan([result.statistic, result.tau]).all()
    assert result.epsilon == 0.5


def test_equal_scores_are_equal_however_many_a_system_has():
    """Means of 0.1 over 3 and over 10 segments differ in the last bit."""
    values = np.full(SHAPE, 0.1)
    values[0, 3:] = values[1, 10:] = np.nan
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(pairwise_accuracy(world()[0], matrix(values)).statistic)


def test_ties_where_it_counts_are_no_constant_metric():
    """The metric ties the one pair that humans part, and parts another."""
    human = matrix(np.array([[90.0], [10.0], [50.0]]))
    metric = matrix(np.array([[1.0], [1.0], [0.0]]))
    assert kendall_like(human, metric, threshold=80.0).statistic == -1.0


@pytest.mark.parametrize("correlation", ["kendall_like", "soft_pairwise_accuracy"])
def test_mixtures_that_are_constant_by_chance_equal_the_plain_loop(correlation):
    case = Measure(correlation, threshold=0.5)
    undefined = 0
    for seed in range(60):
        values = np.random.default_rng(seed).integers(0, 2, size=(3, 3, 2))
        panel = panel_of(*values.astype(float))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StatisticsWarning)
            fast = permuted_differences(panel, case, "both", 12, seed, [(0, 1)])[0]
            plain = permuted(panel, case, "both", 12, seed)
        np.testing.assert_allclose(fast, plain, atol=1e-6)
        undefined += 0 < np.isnan(plain).sum() < len(plain)
    assert undefined
