"""Seeds of two methods where nothing varies, and in other units."""

import warnings

import numpy as np
import pytest
from scipy import stats

from metaeval.results import ConstantInputWarning, StatisticsWarning
from metaeval.significance import compare_seeds

FIRST = np.array([0.71, 0.74, 0.70, 0.73, 0.76])
SECOND = np.array([0.70, 0.71, 0.683, 0.71, 0.742])


def test_pairs_that_differ_by_the_same_have_no_t():
    """Up to rounding: .71 - .69 is not .74 - .72 in floating point."""
    for first, second in [(FIRST, FIRST - 0.02), ([1.0, 2, 3, 4, 5], [0.0, 1, 2, 3, 4])]:
        with pytest.warns(ConstantInputWarning):
            found = compare_seeds(first, second, rng=1)
        assert np.isnan([found.t, found.wilcoxon]).all()
        assert found.permutation == 0.0625
        assert [each.code for each in found.warnings] == ["too_few", "constant_input"]


def test_one_side_that_does_not_vary_still_has_welchs_t():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", StatisticsWarning)
        found = compare_seeds([0.7, 0.7], [0.5, 0.6], paired=False, rng=1)
    # The error and the one degree of freedom are the second side's.
    assert found.t == pytest.approx(2 * stats.t.sf(0.15 / 0.05, 1))
    assert found.warnings == ()


def test_two_sides_that_do_not_vary_have_none():
    with pytest.warns(ConstantInputWarning):
        found = compare_seeds([0.7] * 3, [0.5] * 4, paired=False, rng=1)
    assert np.isnan(found.t)
    assert 0.0 < found.wilcoxon < 0.1
    with pytest.warns(ConstantInputWarning):
        found = compare_seeds([0.7] * 3, [0.7] * 4, paired=False, rng=1)
    assert np.isnan([found.t, found.wilcoxon]).all()


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_t_is_scipys(alternative):
    paired = compare_seeds(FIRST, SECOND, alternative=alternative, rng=1)
    theirs = stats.ttest_rel(FIRST, SECOND, alternative=alternative)
    assert paired.t == pytest.approx(theirs.pvalue, rel=1e-12)
    free = compare_seeds(FIRST, SECOND[:4], paired=False, alternative=alternative, rng=1)
    theirs = stats.ttest_ind(FIRST, SECOND[:4], equal_var=False, alternative=alternative)
    assert free.t == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("unit", [1e-12, 1e-150, 1e12])
def test_the_unit_of_the_scores_does_not_decide(unit, paired):
    plain = compare_seeds(FIRST, SECOND, paired=paired, rng=1)
    found = compare_seeds(FIRST * unit, SECOND * unit, paired=paired, rng=1)
    assert (plain.permutation, plain.wilcoxon) == (found.permutation, found.wilcoxon)
    assert found.t == pytest.approx(plain.t)
    moved = compare_seeds(FIRST + 1e10, SECOND + 1e10, paired=paired, rng=1)
    assert moved.permutation == plain.permutation
