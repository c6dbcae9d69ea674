"""The signed-rank test against enumeration of all signs and scipy."""

import itertools

import numpy as np
import pytest
from scipy import stats

from metaeval.judgments.controls import control_test
from metaeval.results import ConstantInputWarning
from metaeval.significance import signed_rank_test

TIED = [3, -1, 2, 2, 0, 5, -2, 4, 1, 1]
# 20 differences with ties, where scipy falls back to the normal approximation (p = .0024).
TWENTY = [1, 2, 2, 3, -3, 4, 4, 5, -1, 6, 6, 7, 8, -2, 9, 9, 10, 3, 3, -4]


@pytest.mark.parametrize(
    ("zeros", "statistic", "greater", "both"),
    [("wilcox", 38.0, 0.041016, 0.082031), ("pratt", 45.0, 0.042969, 0.085938)],
)
def test_ties_and_zeros_as_enumerated(
    zeros: str, statistic: float, greater: float, both: float
) -> None:
    upper = signed_rank_test(TIED, alternative="greater", zeros=zeros)
    assert upper.statistic == statistic
    assert upper.pvalue == pytest.approx(greater, abs=1e-6)
    assert signed_rank_test(TIED, zeros=zeros).pvalue == pytest.approx(both, abs=1e-6)


def test_twenty_tied_differences_stay_exact() -> None:
    """0.001394: by enumerating all 2^20 signs."""
    found = signed_rank_test(TWENTY)
    assert found.statistic == 186.0
    assert found.pvalue == pytest.approx(0.001394, abs=1e-6)


@pytest.mark.parametrize("alternative", ["less", "greater", "two-sided"])
@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_small_samples_equal_enumeration(alternative: str, zeros: str) -> None:
    rng = np.random.default_rng(5)
    for size in (1, 3, 6, 9):
        values = rng.integers(-4, 5, size).astype(float)
        if not values.any():
            continue
        found = signed_rank_test(values, alternative=alternative, zeros=zeros)
        assert found.pvalue == pytest.approx(_enumerated(values, alternative, zeros))


def _enumerated(values: np.ndarray, alternative: str, zeros: str) -> float:
    moved = values[values != 0.0]
    ranks = stats.rankdata(np.abs(moved if zeros == "wilcox" else values))
    ranks = ranks if zeros == "wilcox" else ranks[values != 0.0]
    observed = ranks[moved > 0.0].sum()
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in itertools.product((False, True), repeat=len(ranks))
    ]
    lower = np.mean([total <= observed for total in sums])
    upper = np.mean([total >= observed for total in sums])
    return {"less": lower, "greater": upper, "two-sided": min(1.0, 2.0 * min(lower, upper))}[
        alternative
    ]


@pytest.mark.parametrize("size", [14, 31, 50])
def test_untied_samples_equal_scipy_exact(size: int) -> None:
    values = np.random.default_rng(size).normal(0.2, 1.0, size)
    expected = stats.wilcoxon(values, method="exact").pvalue
    assert signed_rank_test(values).pvalue == pytest.approx(expected)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_large_samples_equal_scipy_asymptotic(zeros: str) -> None:
    values = [(37 * k) % 23 - 9 for k in range(60)]
    expected = stats.wilcoxon(values, zero_method=zeros, method="asymptotic").pvalue
    assert signed_rank_test(values, zeros=zeros).pvalue == pytest.approx(expected)
    assert expected == pytest.approx({"wilcox": 0.043532, "pratt": 0.046274}[zeros], abs=1e-6)


def test_nothing_that_differs_is_undefined() -> None:
    with pytest.warns(ConstantInputWarning):
        found = signed_rank_test([0.0, 0.0, np.nan])
    assert np.isnan(found.statistic)
    assert np.isnan(found.pvalue)
    assert found.reasons == {"missing-difference": 1, "no-difference": 2}


def test_controls_take_the_exact_test() -> None:
    control, partner = np.zeros(20), -np.array(TWENTY, dtype=float)
    found = control_test(control, partner, alternative="two-sided", method="wilcoxon")
    assert found.pvalue == pytest.approx(0.001394, abs=1e-6)
