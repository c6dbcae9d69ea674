"""Numbers that differ by the rounding of their computation alone, made equal again.

Ties of systems must not hang on the order of segments, nor constants on that of sums.
"""

from __future__ import annotations

import math

import numpy as np

from metaeval.arrays import FloatArray

# Means of scores up to 1 are equal where this many decimals are.
DECIMALS = 12
# What differs by less than this share of the largest score is equal.
SHARE = 10.0**-DECIMALS


def largest(*parts: FloatArray) -> float:
    """Return the largest absolute score that is there; 0 where there is none.

    >>> largest(np.array([1.0, -3.0]), np.array([np.nan]))
    3.0
    """
    return max((float(np.nanmax(np.abs(part), initial=0.0)) for part in parts), default=0.0)


def settled(means: FloatArray, size: float | None = None) -> FloatArray:
    """Return means without the last bits, which differ with the number and order of the scores.

    Parameters
    ----------
    means
        Any shape; nan stays nan.
    size
        The `largest` of the scores behind them; without it, the largest mean.

    Examples
    --------
    >>> means = np.array([(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3])
    >>> len(set(means.tolist())), settled(means, 0.3).tolist()
    (2, [0.2, 0.2])
    >>> settled(means * 1e-6, 3e-7).tolist()
    [2e-07, 2e-07]
    """
    size = largest(means) if size is None else size
    if not size:
        return means
    decimals = DECIMALS - math.ceil(math.log10(size))
    return np.asarray(np.round(means, min(decimals, 300)), dtype=np.float64)


def levelled(values: FloatArray, size: float) -> FloatArray:
    """Return values computed from numbers up to ``size``; all equal where rounding parts them.

    >>> levelled(np.array([0.3, 0.1 + 0.2]), 1.0).tolist()
    [0.3, 0.3]
    """
    if len(values) and np.ptp(values) <= SHARE * size:
        return np.full(len(values), values[0])
    return values


def tied(differences: FloatArray, size: float) -> FloatArray:
    """Return differences of numbers up to ``size``, with the ties that rounding undid.

    Sizes that differ by rounding become the smallest of them, and what is but rounding 0.

    >>> tied(np.array([0.3 - 0.1, 0.1 - 0.3, 0.2, (0.1 + 0.2) - 0.3]), 0.3).round(3).tolist()
    [0.2, -0.2, 0.2, 0.0]
    """
    sizes = np.abs(differences)
    order = np.argsort(sizes)
    is_new = np.diff(sizes[order], prepend=0.0) > SHARE * size
    found = np.empty(len(sizes))
    found[order] = np.append(0.0, sizes[order][is_new])[np.cumsum(is_new)]
    return np.asarray(np.sign(differences) * found + 0.0)
