"""Interval and p of a correlation over independent observations."""

from __future__ import annotations

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.results import Interval


def fisher_interval(r: float, n: int, method: str) -> Interval:
    """Fisher's z interval; standard errors of Bonett and Wright (2000)."""
    spare = n - (4 if method == "kendall" else 3)
    if not abs(r) < 1.0 or spare <= 0:
        return Interval(np.nan, np.nan, 0.95)
    variance = {"pearson": 1.0, "spearman": 1.0 + r * r / 2.0, "kendall": 0.437}[method] / spare
    half = 1.959963984540054 * np.sqrt(variance)
    return Interval(
        float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half)), 0.95
    )


def independent_pvalue(r: float, left: FloatArray, right: FloatArray, method: str) -> float:
    """Two-sided p against zero: t for r and rho, the tie-corrected normal for tau."""
    from scipy.special import stdtr

    valid = ~(np.isnan(left) | np.isnan(right))
    n = int(valid.sum())
    if np.isnan(r) or n < 3:
        return np.nan
    if method == "kendall":
        from scipy.stats import kendalltau

        return float(kendalltau(left[valid], right[valid]).pvalue)
    if abs(r) == 1.0:
        return 0.0
    return float(2.0 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1.0 - r * r))))
