"""Intervals over independent observations: of a correlation, of a mean, of a share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr, stdtrit

from metaeval.arrays import FloatArray, as_floats, fraction
from metaeval.results import Interval

FEWEST_SCORES = 5
Z95 = 1.959963984540054


def fisher_interval(r: float, n: int, method: str) -> Interval:
    """Fisher's z interval; standard errors of Bonett and Wright (2000)."""
    spare = n - (4 if method == "kendall" else 3)
    if not abs(r) < 1.0 or spare <= 0:
        return Interval(np.nan, np.nan, 0.95)
    variance = {"pearson": 1.0, "spearman": 1.0 + r * r / 2.0, "kendall": 0.437}[method] / spare
    half = Z95 * np.sqrt(variance)
    return Interval(
        float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half)), 0.95
    )


def independent_pvalue(r: float, left: FloatArray, right: FloatArray, method: str) -> float:
    """Two-sided p against zero: t for r and rho, the tie-corrected normal for tau."""
    from scipy.stats import kendalltau

    valid = ~(np.isnan(left) | np.isnan(right))
    n = int(valid.sum())
    if np.isnan(r) or n < 3:
        return np.nan
    if method == "kendall":
        return float(kendalltau(left[valid], right[valid]).pvalue)
    if abs(r) == 1.0:
        return 0.0
    return float(2.0 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1.0 - r * r))))


def mean_interval(values: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """t interval of the mean of independent scores (n,), such as a system's over segments.

    nan entries are missing; nan ends below five scores.

    Examples
    --------
    >>> [round(end, 3) for end in mean_interval([1, 2, 3, 4, 5])[:2]]
    [1.037, 4.963]
    """
    known = as_floats("values", values, ndim=1)
    known = known[~np.isnan(known)]
    n = len(known)
    if n < FEWEST_SCORES:
        return Interval(np.nan, np.nan, confidence)
    half = stdtrit(n - 1, 0.5 + fraction("confidence", confidence) / 2.0) * known.std(ddof=1)
    mean, half = float(known.mean()), float(half / np.sqrt(n))
    return Interval(mean - half, mean + half, confidence)


def wilson_interval(
    share: ArrayLike, n: float, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return both ends of Wilson's score interval of shares of n (any shape).

    Wilson (1927): sensible at 0 and at 1 and for few items, where the usual one has no width.

    Examples
    --------
    >>> [round(float(end), 3) for end in wilson_interval(0.9, 10)]
    [0.596, 0.982]
    """
    p, z = np.asarray(share, dtype=np.float64), float(ndtri(0.5 + confidence / 2.0))
    scale = 1.0 + z * z / n
    centre = (p + z * z / (2.0 * n)) / scale
    half = z / scale * np.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
