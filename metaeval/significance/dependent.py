"""Differences of dependent correlations: Williams' test and Zou's interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr

from metaeval.arrays import BoolArray, FloatArray, between, fraction, one_of, positive_int
from metaeval.messages import data_error, message, plural
from metaeval.resampling import ALTERNATIVES, tail
from metaeval.results import (
    DirectionWarning,
    IdenticalInputWarning,
    Interval,
    Notes,
    StatisticResult,
    TooFewWarning,
)

# Published correlations have three decimals.
ROUNDED = 5e-4
# A determinant of correlations below this is rounding of numbers up to 3.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def williams_test(
    r12: float, r13: float, r23: float, n: int, *, alternative: str = "greater"
) -> StatisticResult:
    """Williams' test of r12 against r13, two correlations that share variable 1 (the humans).

    K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23 and
    t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K (n-1)/(n-3) + ((r12+r13)^2/4)(1-r23)^3),
    with n - 3 degrees of freedom (Williams 1959; Graham and Baldwin 2014).

    Parameters
    ----------
    r12, r13
        Signed correlations of metric 2 and of metric 3 with the humans; r23 between the metrics.
        Negate a metric for which lower is better first; mt-metrics-eval's p loses the direction.
    n
        Observations behind each correlation.
    alternative
        ``greater`` (default): r12 > r13; ``less``; ``two-sided``.

    Returns
    -------
    StatisticResult
        ``statistic`` is t.

    Raises
    ------
    DataError
        No three variables have these correlations: each was computed over different observations,
        or their signs were changed separately (absolute values).

    Warns
    -----
    IdenticalInputWarning, TooFewWarning
        The metrics are identical, or there are fewer than four observations: nan.

    Examples
    --------
    >>> result = williams_test(0.9, 0.8, 0.85, 20)
    >>> round(result.statistic, 3), round(result.pvalue, 4)
    (1.729, 0.0509)
    """
    one_of("alternative", alternative, ALTERNATIVES)
    t = float(williams_statistics(r12, r13, r23, n))
    notes = Notes()
    if n <= 3:
        notes.warn(
            TooFewWarning(
                plural(
                    "williams.few-observations",
                    "There is only {n} observation. Williams’ test needs at least four.",
                    "There are only {n} observations. Williams’ test needs at least four.",
                    n=n,
                )
            )
        )
    elif np.isnan(t):
        notes.warn(
            IdenticalInputWarning(
                message("williams.identical", "The two metrics are identical, so t is undefined.")
            )
        )
    upper, lower = float(stdtr(n - 3, -t)), float(stdtr(n - 3, t))
    return StatisticResult(
        n=n,
        warnings=notes.warnings,
        statistic=t,
        pvalue=tail(lower, upper, alternative),
        method="Williams' test",
        alternative=alternative,
    )


def williams_statistics(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int) -> FloatArray:
    """Return `williams_test`'s t of arrays of correlations (of one shape); nan where undefined."""
    x, y, z = _checked(r12, r13, r23, n)
    if n <= 3:
        return np.full(x.shape, np.nan)
    k = 1.0 - x**2 - y**2 - z**2 + 2.0 * x * y * z
    k = np.where(k > ROUNDING, k, 0.0)
    below = 2.0 * k * (n - 1) / (n - 3) + (x + y) ** 2 / 4.0 * (1.0 - z) ** 3
    t = (x - y) * np.sqrt((n - 1) * (1.0 + z)) / np.sqrt(np.where(below > 0.0, below, np.nan))
    return np.asarray(t)


def williams_pvalues(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int) -> FloatArray:
    """Return the p that r12 > r13 of the same; nan where t is."""
    t = williams_statistics(r12, r13, r23, n)
    return np.asarray(stdtr(n - 3, -t)) if n > 3 else t


def zou_interval(
    r12: float, r13: float, r23: float, n: int, *, confidence: float = 0.95
) -> StatisticResult:
    """Zou's interval for r12 - r13, two correlations that share variable 1 (Zou 2007).

    From Fisher's interval l, u of each correlation and the correlation c of the two,
    lower = d - sqrt((r12-l1)^2 + (u2-r13)^2 - 2c (r12-l1)(u2-r13)), upper likewise with u1, l2.

    Parameters
    ----------
    r12, r13, r23, n
        As for `williams_test`, signed. WMT's published intervals take absolute values.
    confidence
        Two-sided level.

    Returns
    -------
    StatisticResult
        ``statistic`` is r12 - r13; the interval lies within -2 and 2, as a difference of two
        correlations does.

    Raises
    ------
    DataError
        As `williams_test`.

    Examples
    --------
    >>> [round(end, 3) for end in zou_interval(0.9, 0.8, 0.85, 20).interval[:2]]
    [-0.02, 0.317]
    """
    fraction("confidence", confidence)
    low, high = zou_ends(r12, r13, r23, n, confidence=confidence)
    notes = Notes()
    if n <= 3:
        notes.warn(
            TooFewWarning(
                plural(
                    "zou.few-observations",
                    "There is only {n} observation. Fisher’s interval needs at least four.",
                    "There are only {n} observations. Fisher’s interval needs at least four.",
                    n=n,
                )
            )
        )
    elif max(abs(r12), abs(r13)) >= 1.0:
        notes.warn(
            IdenticalInputWarning(
                message("zou.perfect", "A correlation is ±1, so its interval is a single point.")
            )
        )
    if min(r12, r13) < 0.0:
        notes.warn(
            DirectionWarning(
                message(
                    "zou.negative",
                    "A correlation is negative. Check that higher scores are better for that "
                    "metric.",
                )
            )
        )
    return StatisticResult(
        n=n,
        warnings=notes.warnings,
        statistic=r12 - r13,
        interval=Interval(float(low), float(high), confidence),
        method="Zou's interval",
    )


def zou_ends(
    r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int, *, confidence: ArrayLike = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return both ends of `zou_interval` of arrays of correlations; nan where undefined.

    All arrays are of one shape; ``confidence`` may have a level for each.
    """
    x, y, z = _checked(r12, r13, r23, n)
    if n <= 3:
        return np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    return _ends(x, y, _between(x, y, z), n, np.asarray(confidence))


def zou_pvalues(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int) -> FloatArray:
    """Return the one-sided p at which Zou's interval of r12 - r13 begins at 0, by bisection.

    Of arrays of one shape; nan where the interval is undefined.
    """
    x, y, z = _checked(r12, r13, r23, n)
    if n <= 3:
        return np.full(x.shape, np.nan)
    larger, smaller = np.maximum(x, y), np.minimum(x, y)
    c = _between(larger, smaller, z)
    low, high = np.zeros(x.shape), np.ones(x.shape)
    for _ in range(40):
        middle = (low + high) / 2.0
        ends = _ends(larger, smaller, c, n, middle)[0]
        low, high = np.where(ends > 0.0, middle, low), np.where(ends > 0.0, high, middle)
    p = np.where(np.isnan(ends), np.nan, (1.0 - low) / 2.0)
    return np.where(x < y, 1.0 - p, p)


def _ends(
    r12: FloatArray, r13: FloatArray, c: FloatArray, n: int, confidence: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Zou's ends from the correlation c of the two correlations; nan where one is +-1."""
    half = ndtri(0.5 + confidence / 2.0) / np.sqrt(n - 3)
    z12, z13 = (np.arctanh(np.where(np.abs(r) < 1.0, r, np.nan)) for r in (r12, r13))
    l1, u1, l2, u2 = (
        np.tanh(z12 - half),
        np.tanh(z12 + half),
        np.tanh(z13 - half),
        np.tanh(z13 + half),
    )
    d = r12 - r13
    return d - _spread(r12 - l1, u2 - r13, c), d + _spread(u1 - r12, r13 - l2, c)


def _between(r12: FloatArray, r13: FloatArray, r23: FloatArray) -> FloatArray:
    """Return the correlation of two correlations; beyond 1 by what r23 was rounded."""
    c = (r23 - r12 * r13 / 2.0) * (1.0 - r12**2 - r13**2 - r23**2) + r23**3
    below = (1.0 - r12**2) * (1.0 - r13**2)
    c = c / np.where(below > 0.0, below, np.nan)
    return np.asarray(np.maximum(np.minimum(c, 1.0), -1.0))


def _checked(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int) -> FloatArray:
    """Return three arrays of correlations as one, (3, ...), or raise DataError."""
    positive_int("n", n)
    r = np.array([r12, r13, r23], dtype=np.float64)
    for name, values in zip(("r12", "r13", "r23"), r, strict=True):
        for value in values[~(np.abs(values) <= 1.0)]:
            between(name, value, -1, 1)
    impossible = r[:, ~_are_possible(r)]
    if impossible.size:
        x, y, z = impossible[:, 0]
        middle, half = x * y, np.sqrt((1.0 - x**2) * (1.0 - y**2))
        raise data_error(
            "argument.correlations",
            "No three variables correlate at {r12:.6g}, {r13:.6g} and {r23:.6g}. With the first "
            "two, the third is between {low:.4f} and {high:.4f}.",
            r12=x, r13=y, r23=z, low=middle - half, high=middle + half,
        )  # fmt: skip
    return r


def _are_possible(r: FloatArray) -> BoolArray:
    """Tell which three vectors have these cosines, to within rounding: angles on a sphere."""
    least = np.arccos(np.minimum(r + ROUNDED, 1.0))
    most = np.arccos(np.maximum(r - ROUNDED, -1.0))
    is_triangle = (least <= most.sum(axis=0) - most).all(axis=0)
    return np.asarray(is_triangle & (least.sum(axis=0) <= 2.0 * np.pi))


def _spread(first: FloatArray, second: FloatArray, c: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(first**2 + second**2 - 2.0 * c * first * second, 0.0)))
