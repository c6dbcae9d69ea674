"""Wilcoxon's signed-rank test, exact with ties and zeros."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from metaeval.arrays import FloatArray, as_floats, one_of
from metaeval.messages import message
from metaeval.resampling import ALTERNATIVES, tail
from metaeval.results import ConstantInputWarning, Notes, StatisticResult

ZEROS = ("wilcox", "pratt")
# Counts of sign patterns stay below 2^53, so that doubles hold them exactly.
EXACT = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class SignedRank(StatisticResult):
    """``statistic`` is W+, the sum of the mid-ranks of positive differences; ``total`` of all."""

    total: float


def signed_rank_test(
    differences: ArrayLike, *, alternative: str = "two-sided", zeros: str = "wilcox"
) -> SignedRank:
    """Test whether paired differences are symmetric around zero (Wilcoxon 1945).

    Up to 50 differences that are not zero, p is exact given the ties: the patterns of signs that
    reach W+ are counted by multiplying out the product of 1 + x^(2r) over the mid-ranks r. Above,
    z = (W+ - sum r/2) / (sqrt(sum r^2)/2), whose variance accounts for ties and zeros. scipy uses
    the normal approximation for 14 to 50 differences with ties, and random signs for fewer.

    Parameters
    ----------
    differences
        One per pair; nan is missing.
    alternative
        ``less``: differences tend to be negative; ``greater`` or ``two-sided``.
    zeros
        ``wilcox`` drops zeros before ranking, ``pratt`` after it (Pratt 1959).

    Warns
    -----
    ConstantInputWarning
        No difference is other than zero: W+ and p are nan.

    Examples
    --------
    >>> result = signed_rank_test([3, -1, 2, 2, 0, 5, -2, 4, 1, 1], alternative="greater")
    >>> result.statistic, round(result.pvalue, 6)
    (38.0, 0.041016)
    """
    one_of("alternative", alternative, ALTERNATIVES)
    one_of("zeros", zeros, ZEROS)
    values = as_floats("differences", differences, ndim=1)
    notes = Notes()
    present = values[~np.isnan(values)]
    notes.exclude("missing-difference", len(values) - len(present))
    moved = present != 0.0
    notes.exclude("no-difference", int((~moved).sum()))
    if not moved.any():
        notes.warn(
            ConstantInputWarning(
                message(
                    "signed-rank.no-difference",
                    "All pairs have equal scores, so the signed-rank test is undefined.",
                )
            )
        )
    doubled = _doubled_ranks(present if zeros == "pratt" else present[moved])
    doubled = doubled[moved] if zeros == "pratt" else doubled
    positive = int(doubled[present[moved] > 0.0].sum())
    lower, upper = _tails(doubled, positive)
    is_exact = len(doubled) <= EXACT
    return SignedRank(
        n=len(doubled),
        **notes.fields,
        statistic=positive / 2.0 if moved.any() else np.nan,
        pvalue=tail(lower, upper, alternative),
        method=f"Wilcoxon signed-rank test ({'exact' if is_exact else 'normal'})",
        alternative=alternative,
        total=float(doubled.sum()) / 2.0,
    )


def _doubled_ranks(differences: FloatArray) -> FloatArray:
    """Return twice the mid-ranks of the sizes, which are whole numbers."""
    from scipy.stats import rankdata

    return np.asarray(2.0 * rankdata(np.abs(differences)))


def _tails(doubled: FloatArray, positive: int) -> tuple[float, float]:
    """Return P(W+ <= observed) and P(W+ >= observed) over all signs."""
    if not len(doubled):
        return np.nan, np.nan
    if len(doubled) > EXACT:
        z = (positive - doubled.sum() / 2.0) / (np.sqrt((doubled**2).sum()) / 2.0)
        return float(ndtr(z)), float(ndtr(-z))
    patterns = _patterns(doubled.astype(np.int64).tolist())
    share = 0.5 ** len(doubled)
    return float(patterns[: positive + 1].sum() * share), float(patterns[positive:].sum() * share)


def _patterns(doubled: list[int]) -> FloatArray:
    """Return how many patterns of signs give each sum of the positive ranks."""
    counts = np.ones(1)
    for rank in doubled:
        longer = np.zeros(len(counts) + rank)
        longer[: len(counts)] += counts
        longer[rank:] += counts
        counts = longer
    return counts
