"""Make numbers equal that differ only by rounding errors of their computation.

Ties of systems must not depend on the order of segments, and constants not on that of sums.
"""

from __future__ import annotations

import math

import numpy as np

from metaeval.arrays import FloatArray

# Means of scores up to 1 are equal if this many decimals are equal.
DECIMALS = 12
# Numbers that differ by less than this share of the largest score are equal.
SHARE = 10.0**-DECIMALS


def largest(*parts: FloatArray) -> float:
    """Return the largest absolute score; 0 without scores.

    >>> largest(np.array([1.0, -3.0]), np.array([np.nan]))
    3.0
    """
    return max((float(np.nanmax(np.abs(part), initial=0.0)) for part in parts), default=0.0)


def round_to_ties(means: FloatArray, size: float | None = None) -> FloatArray:
    """Round away the last bits of means, which depend on the number and order of the scores.

    Parameters
    ----------
    means
        Any shape; nan stays nan.
    size
        The `largest` of the averaged scores; by default the largest mean.

    Examples
    --------
    >>> means = np.array([(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3])
    >>> len(set(means.tolist())), round_to_ties(means, 0.3).tolist()
    (2, [0.2, 0.2])
    >>> round_to_ties(means * 1e-6, 3e-7).tolist()
    [2e-07, 2e-07]
    """
    size = largest(means) if size is None else size
    if not size:
        return means
    decimals = DECIMALS - math.ceil(math.log10(size))
    return np.asarray(np.round(means, min(decimals, 300)), dtype=np.float64)


def collapse_constant(values: FloatArray, size: float) -> FloatArray:
    """Return equal values if values computed from numbers up to ``size`` differ by rounding only.

    >>> collapse_constant(np.array([0.3, 0.1 + 0.2]), 1.0).tolist()
    [0.3, 0.3]
    """
    if len(values) and np.ptp(values) <= SHARE * size:
        return np.full(len(values), values[0])
    return values


def tied(differences: FloatArray, size: float) -> FloatArray:
    """Return differences of numbers up to ``size``, with the ties that rounding errors undid.

    Absolute differences that differ by rounding only become the smallest of them. Differences
    that are rounding errors become 0.

    >>> tied(np.array([0.3 - 0.1, 0.1 - 0.3, 0.2, (0.1 + 0.2) - 0.3]), 0.3).round(3).tolist()
    [0.2, -0.2, 0.2, 0.0]
    """
    sizes = np.abs(differences)
    order = np.argsort(sizes)
    is_new = np.diff(sizes[order], prepend=0.0) > SHARE * size
    found = np.empty(len(sizes))
    found[order] = np.append(0.0, sizes[order][is_new])[np.cumsum(is_new)]
    return np.asarray(np.sign(differences) * found + 0.0)
