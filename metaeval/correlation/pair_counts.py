"""Signed counts over all pairs of many cells, in O(n log^2 n) without comparing every pair.

Of bootstrap samples the cells are sorted once, not every sample: a sample is a row of counts, how
often each cell was drawn; copies of a cell tie.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import FloatArray, IntArray

# Cells a bin: comparing them one by one then costs about as much as comparing bins with bins.
BIN = 192
Counts = NDArray[np.float32]


def signed_counts(z: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return sum_j sign(z_i - z_j) sign(a_i - b_j) for each i.

    Cells are put in order of z; the prefix with smaller z splits into blocks of powers of two,
    each sorted by b, in which a binary search counts.

    Examples
    --------
    >>> signed_counts(np.array([3.0, 1.0, 2.0]), np.array([5, 1, 9]), np.array([5, 1, 9])).tolist()
    [0.0, 2.0, 0.0]
    """
    order = np.argsort(z, kind="stable")
    # All in that order: who is searched for side by side lies side by side.
    z, a, shown = z[order], a[order], b[order].astype(np.int64)
    below = np.searchsorted(z, z, side="left")
    upto = np.searchsorted(z, z, side="right")
    by_value = np.sort(shown)
    all_less = np.searchsorted(by_value, a, side="left")
    all_more = len(z) - np.searchsorted(by_value, a, side="right")
    levels = _levels(shown, max(int(a.max()), int(b.max())) + 2)
    less, more = _prefix(levels, below, a)
    less_equal, more_equal = _prefix(levels, upto, a)
    counts = np.empty(len(z))
    counts[order] = less - more + (all_more - more_equal) - (all_less - less_equal)
    return counts


def weighted_counts(weights: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return sum_j (w_i - w_j) sign(a_i - b_j) for each i, by running sums in order of b."""
    order = np.argsort(b, kind="stable")
    running = np.concatenate([[0.0], np.cumsum(weights[order])])
    left = np.searchsorted(b[order], a, side="left")
    right = np.searchsorted(b[order], a, side="right")
    counts = left - (len(b) - right)
    sums = running[left] - (running[-1] - running[right])
    return np.asarray(weights * counts - sums)


def _levels(shown: IntArray, width: int) -> list[tuple[IntArray, int]]:
    """Return, for each power of two, the values sorted within blocks (as block * width + value)."""
    positions = np.arange(len(shown))
    return [
        (np.sort((positions >> level) * width + shown), width)
        for level in range(len(shown).bit_length())
    ]


def _prefix(
    levels: list[tuple[IntArray, int]], ends: IntArray, a: IntArray
) -> tuple[IntArray, IntArray]:
    """Count, among the first ``ends[i]`` values, those below and those above a_i."""
    less, at_most = np.zeros(len(a), dtype=np.int64), np.zeros(len(a), dtype=np.int64)
    for level, (keys, width) in enumerate(levels):
        on = np.flatnonzero((ends >> level) & 1)
        block = (ends[on] >> level) - 1
        wanted, start = block * width + a[on], block << level
        less[on] += np.searchsorted(keys, wanted, side="left") - start
        at_most[on] += np.searchsorted(keys, wanted, side="right") - start
    return less, ends - at_most


def codes_of(values: ArrayLike) -> IntArray:
    """Return integers from 0 on: equal where values tie, larger where they are larger.

    Examples
    --------
    >>> codes_of([0.5, 0.1, 0.5]).tolist()
    [1, 0, 1]
    """
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def drawn(codes: IntArray, w: FloatArray) -> FloatArray:
    """Return samples x codes: how often each code was drawn.

    Examples
    --------
    >>> drawn(np.array([1, 0, 1]), np.array([[1.0, 0, 2]])).tolist()
    [[0.0, 3.0]]
    """
    return np.array([np.bincount(codes, counts, int(codes.max()) + 1) for counts in w])


def mid_ranks(codes: IntArray, w: FloatArray) -> FloatArray:
    """Return the average rank of each cell in each sample, less one half (samples x n).

    Examples
    --------
    >>> mid_ranks(np.array([1, 0, 1]), np.array([[1.0, 1, 1]])).tolist()
    [[2.0, 0.5, 2.0]]
    """
    counts = drawn(codes, w)
    ranks = np.cumsum(counts, axis=1) - counts / 2.0
    return np.asarray(ranks[:, codes])


def weighted_score(z: IntArray, x: IntArray, w: FloatArray) -> FloatArray:
    """Return sum_{i<j} w_i w_j sign(z_i - z_j) sign(x_i - x_j) for each row of counts w.

    Cells lie in bins by z and in bins by x, which no tie crosses. Cells whose bins differ both
    ways are compared as bins, by running sums over the table of counts; those that share one are
    compared one by one. The sums are of whole numbers, so exact while a bin is drawn less than
    2**24 times.

    Parameters
    ----------
    z, x
        Codes of n cells (`codes_of`).
    w
        samples x n.

    Examples
    --------
    >>> weighted_score(np.array([0, 1, 2]), np.array([0, 2, 1]), np.array([[1.0, 1, 1], [2, 1, 0]]))
    array([1., 2.])
    """
    rows, columns = bins(z), bins(x)
    counts = np.ascontiguousarray(w.T, dtype=np.float32)
    totals = _between(rows, columns, w)
    for members in _members(rows):
        totals += _score(_signs(z[members]) * _signs(x[members]), counts[members])
    for members in _members(columns):
        # Those of one bin by z have been compared.
        apart = rows[members][:, None] != rows[members]
        totals += _score(_signs(z[members]) * _signs(x[members]) * apart, counts[members])
    return totals


def bins(codes: IntArray) -> IntArray:
    """Return the bin of each cell: neighbouring codes of up to BIN cells, or one code of more.

    Examples
    --------
    >>> bins(np.array([0, 2, 1])).tolist(), bins(np.repeat([0, 1, 2], 150))[::150].tolist()
    ([0, 0, 0], [0, 1, 2])
    """
    sizes = np.bincount(codes)
    number, filled = -1, BIN
    of_code = np.empty(len(sizes), dtype=np.int64)
    for code, size in enumerate(sizes.tolist()):
        number, filled = (number, filled + size) if filled + size <= BIN else (number + 1, size)
        of_code[code] = number
    return np.asarray(of_code[codes])


def _between(rows: IntArray, columns: IntArray, w: FloatArray) -> FloatArray:
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    places = rows * shape[1] + columns
    totals = np.empty(len(w))
    for number, counts in enumerate(w):
        table = np.bincount(places, counts, shape[0] * shape[1]).reshape(shape)
        running = np.cumsum(table, axis=1)
        # In each row: counts of the columns before minus those of the columns after.
        ahead = 2.0 * running - table - running[:, -1:]
        totals[number] = (table[1:] * np.cumsum(ahead, axis=0)[:-1]).sum()
    return totals


def _members(of: IntArray) -> Iterator[NDArray[np.intp]]:
    order = np.argsort(of, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(of[order])) + 1)


def _signs(codes: IntArray) -> NDArray[np.int8]:
    return (codes[:, None] > codes).astype(np.int8) - (codes[:, None] < codes)


def _score(signs: NDArray[np.int8], counts: Counts) -> FloatArray:
    """Return half of w' signs w for each column w of counts."""
    sums = signs.astype(np.float32) @ counts
    return np.asarray(np.einsum("ij,ij->j", sums, counts, dtype=np.float64) / 2.0)
