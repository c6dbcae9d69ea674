"""Compute an interval of pairwise accuracy for new systems; pairs of one system are dependent."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from metaeval.arrays import FloatArray, as_pair, fraction
from metaeval.results import Interval
from metaeval.rounding import round_to_ties

FEWEST = 4
# Accuracies that the interval is made of.
STEPS = 2000


def accuracy_interval(human: ArrayLike, metric: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Interval of pairwise accuracy for other systems of the same kind, from n system scores.

    It holds each accuracy p that is within z standard errors of the observed one. The variance is
    the larger of two: that of p itself, of pairs that share systems, under a Gaussian copula
    (Esscher 1924: 4 Var = 2/(n(n-1)) [1 - a^2 + 2(n-2)(1/9 - b^2)] with r = sin(pi(p - 1/2)),
    a = 2/pi asin r, b = 2/pi asin(r/2)), which has width where all pairs agree; and the jackknife's
    over systems, where a few of them are at odds.

    Returns
    -------
    Interval
        nan ends below 4 systems, and where a side is constant.

    Examples
    --------
    >>> human, metric = [0.1, 0.3, 0.2, 0.6, 0.5, 0.8], [20, 31, 24, 38, 41, 39]
    >>> [round(end, 2) for end in accuracy_interval(human, metric)[:2]]
    [0.52, 1.0]
    """
    fraction("confidence", confidence)
    ours, theirs = map(round_to_ties, as_pair("human", human, "metric", metric))
    known = ~(np.isnan(ours) | np.isnan(theirs))
    signs = [np.sign(np.subtract.outer(x[known], x[known])) for x in (ours, theirs)]
    n = int(known.sum())
    if n < FEWEST or not (signs[0].any() and signs[1].any()):
        return Interval(np.nan, np.nan, confidence)
    agreeing = (signs[0] == signs[1]).sum(axis=1) - 1.0
    value = agreeing.sum() / (n * (n - 1))
    candidates = (np.arange(STEPS) + 0.5) / STEPS
    variance = np.maximum(_variance(candidates, n), _jackknifed(agreeing))
    far = np.abs(candidates - value) > ndtri(0.5 + confidence / 2.0) * np.sqrt(variance)
    within = candidates[~far]
    # An end is where the last candidate's neighbour is out; the outermost reach 0 and 1.
    low, high = within.min() - 0.5 / STEPS, within.max() + 0.5 / STEPS
    return Interval(float(low), float(high), confidence)


def _variance(p: FloatArray, n: int) -> FloatArray:
    r = np.sin(np.pi * (p - 0.5))
    once, shared = (2.0 / np.pi * np.arcsin(each) for each in (r, r / 2.0))
    of_tau = 2.0 / (n * (n - 1)) * (1.0 - once**2 + 2.0 * (n - 2) * (1.0 / 9.0 - shared**2))
    return np.asarray(of_tau / 4.0)


def _jackknifed(agreeing: FloatArray) -> float:
    """Return the jackknife variance over systems; `agreeing` has each system's count of pairs."""
    n = len(agreeing)
    left = (agreeing.sum() / 2.0 - agreeing) / ((n - 1) * (n - 2) / 2.0)
    return float((n - 1) / n * ((left - left.mean()) ** 2).sum())
