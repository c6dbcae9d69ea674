"""Differences of dependent correlations: Williams' test and Zou's interval."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtr

from metaeval.arrays import FloatArray, fraction, one_of, positive_int
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
    ValueError
        No three variables have these correlations: they were computed over other observations
        each, or turned round (absolute values) one by one.

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
    _check(r12, r13, r23, n)
    notes = Notes()
    t = np.nan
    if n <= 3:
        notes.warn(TooFewWarning(f"{n} observations: Williams' test needs at least four."))
    else:
        k = 1.0 - r12**2 - r13**2 - r23**2 + 2.0 * r12 * r13 * r23
        k = k if k > ROUNDING else 0.0
        below = 2.0 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4.0 * (1.0 - r23) ** 3
        t = _ratio((r12 - r13) * np.sqrt((n - 1) * (1.0 + r23)), np.sqrt(below), notes)
    upper, lower = float(stdtr(n - 3, -t)), float(stdtr(n - 3, t))
    return StatisticResult(
        n=n,
        warnings=notes.warnings,
        statistic=t,
        pvalue=tail(lower, upper, alternative),
        method="Williams' test",
        alternative=alternative,
    )


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
    ValueError
        As `williams_test`.

    Examples
    --------
    >>> [round(end, 3) for end in zou_interval(0.9, 0.8, 0.85, 20).interval[:2]]
    [-0.02, 0.317]
    """
    fraction("confidence", confidence)
    _check(r12, r13, r23, n)
    notes = Notes()
    low = high = np.nan
    if n <= 3:
        notes.warn(TooFewWarning(f"{n} observations: Fisher's interval needs at least four."))
    elif max(abs(r12), abs(r13)) >= 1.0:
        notes.warn(IdenticalInputWarning("A correlation is +-1: its interval is a point."))
    else:
        half = ndtri(0.5 + confidence / 2.0) / np.sqrt(n - 3)
        l1, u1 = np.tanh(np.arctanh(r12) - half), np.tanh(np.arctanh(r12) + half)
        l2, u2 = np.tanh(np.arctanh(r13) - half), np.tanh(np.arctanh(r13) + half)
        squares = r12**2 + r13**2 + r23**2
        c = (r23 - r12 * r13 / 2.0) * (1.0 - squares) + r23**3
        # A correlation of two correlations: beyond 1 by what r23 was rounded.
        c = np.clip(c / ((1.0 - r12**2) * (1.0 - r13**2)), -1.0, 1.0)
        low = r12 - r13 - _spread(r12 - l1, u2 - r13, c)
        high = r12 - r13 + _spread(u1 - r12, r13 - l2, c)
    if min(r12, r13) < 0.0:
        notes.warn(DirectionWarning("A correlation is negative: is higher better for it?"))
    return StatisticResult(
        n=n,
        warnings=notes.warnings,
        statistic=r12 - r13,
        interval=Interval(float(low), float(high), confidence),
        method="Zou's interval",
    )


def _check(r12: float, r13: float, r23: float, n: int) -> None:
    for name, value in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1.0 <= value <= 1.0:
            raise ValueError(f"{name}: expected a correlation between -1 and 1, got {value}")
    positive_int("n", n)
    if not _is_possible(np.array([r12, r13, r23])):
        middle, half = r12 * r13, np.sqrt((1.0 - r12**2) * (1.0 - r13**2))
        raise ValueError(
            f"r12, r13, r23: no three variables correlate at {r12:.6g}, {r13:.6g} and {r23:.6g}; "
            f"with the first two, r23 lies between {middle - half:.4f} and {middle + half:.4f}"
        )


def _is_possible(r: FloatArray) -> bool:
    """Tell whether three vectors have these cosines, to within rounding: angles on a sphere."""
    least = np.arccos(np.minimum(r + ROUNDED, 1.0))
    most = np.arccos(np.maximum(r - ROUNDED, -1.0))
    return bool((least <= most.sum() - most).all() and least.sum() <= 2.0 * np.pi)


def _ratio(above: float, below: float, notes: Notes) -> float:
    if below > 0.0:
        return float(above / below)
    notes.warn(IdenticalInputWarning("The two metrics are identical: t is undefined."))
    return np.nan


def _spread(first: float, second: float, c: float) -> float:
    return float(np.sqrt(max(first**2 + second**2 - 2.0 * c * first * second, 0.0)))
