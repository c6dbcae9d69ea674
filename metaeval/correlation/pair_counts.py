"""Signed counts over all pairs of many cells, without comparing every pair.

A bootstrap sample is a row of counts, how often each cell was drawn; copies of a cell tie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import FloatArray, IntArray


def agreements(z: IntArray, x: IntArray) -> FloatArray:
    """Return sum_j sign(z_i - z_j) sign(x_i - x_j) for each i, of codes (`codes_of`).

    Twice the sum over the cells below i in z, plus that over those that tie with it in z, less that
    over all: only the cells below in both need more than counts of codes. Time grows as n log n.

    Examples
    --------
    >>> agreements(np.array([2, 0, 1]), np.array([1, 0, 2])).tolist()
    [0.0, 2.0, 0.0]
    """
    n, (of_z, of_x) = len(z), (np.bincount(each) for each in (z, x))
    # Cells that tie in z are in falling order of x, and cells that tie in x in falling order of z:
    # so neither is before the other and smaller.
    by_z = _in_order(
        z if len(of_z) == n else z * len(of_x) + (len(of_x) - 1 - x), is_distinct=len(of_z) == n
    )
    shown = x[by_z]
    places = _in_order(shown, is_distinct=len(of_x) == n)
    by_x = by_z[places]
    sums = np.empty(n, dtype=np.int64)
    sums[by_z] = 4 * _before_and_smaller(places)
    if len(of_z) < n:
        smaller, larger = _tied(z[by_z], shown)
        sums[by_z] += smaller - larger
    if len(of_x) < n:
        sums[by_x] += 2 * _tied(x[by_x], z[by_x])[0]
    below_z, below_x = (np.cumsum(sizes) - sizes for sizes in (of_z, of_x))
    sums -= 2 * below_z[z] + (2 * below_x + of_x - n)[x]
    return sums.astype(np.float64)


def _in_order(codes: IntArray, *, is_distinct: bool) -> IntArray:
    """Return the order of codes; of those that tie the last comes first."""
    n = len(codes)
    if not is_distinct:
        return np.asarray(n - 1 - np.argsort(codes[::-1], kind="stable"))
    order = np.empty(n, dtype=np.int64)
    order[codes] = np.arange(n)
    return order


def _tied(codes: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many of the same code have a smaller other number, and how many a larger one.

    Cells are in order of their codes, and of one code in falling order of the others.

    Examples
    --------
    >>> [each.tolist() for each in _tied(np.array([0, 0, 0, 1]), np.array([3, 3, 1, 2]))]
    [[1, 1, 0, 0], [0, 0, 2, 0]]
    """
    is_new = np.diff(codes, prepend=-1) != 0
    ends = np.append(np.flatnonzero(is_new)[1:], len(codes))
    is_run = is_new | (np.diff(others, prepend=-1) != 0)
    starts, run, group = np.flatnonzero(is_run), np.cumsum(is_run) - 1, np.cumsum(is_new) - 1
    smaller = ends[group] - np.append(starts[1:], len(codes))[run]
    return smaller, starts[run] - np.flatnonzero(is_new)[group]


def _before_and_smaller(places: IntArray) -> IntArray:
    """Return, by place, how many numbers before it are smaller, of the places in their order.

    The places are halved again and again: those of a first half are before those of the second, and
    among them the smaller numbers are on the left.

    Examples
    --------
    >>> _before_and_smaller(np.array([1, 3, 0, 2])).tolist()  # of the numbers 2, 0, 3, 1
    [0, 0, 2, 1]
    """
    n, cells = len(places), places.astype(np.int32)
    found, ranks = np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    for half in (1 << bit for bit in reversed(range(n.bit_length()))):
        is_second = (cells & half) > 0
        first, second = (np.flatnonzero(each).astype(np.int32) for each in (~is_second, is_second))
        # Before a cell are as many as its slot says, less those of second halves, and less the
        # first halves of the parts before.
        before = second - ranks[: len(second)] - second // (2 * half) * half
        cells = _halved(cells[first], cells[second], half)
        found = _halved(found[first], found[second] + before, half)
    return found.astype(np.int64)


def _halved(first: NDArray[np.int32], second: NDArray[np.int32], half: int) -> NDArray[np.int32]:
    """Return ``half`` of the first, as many of the second, and so on; the last may be fewer."""
    n = len(second) // half * half
    pairs = [each[:n].reshape(-1, half) for each in (first, second)]
    return np.concatenate([np.stack(pairs, axis=1).ravel(), first[n:], second[n:]])


def mixed_agreements(
    z: IntArray, a: IntArray, b: IntArray, own: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return sum_j sign(z_i - z_j) sign(a_i - b_j) for each i, and the same with a and b exchanged.

    The cells showing a and the cells showing b are one list of twice the length. Of its sums those
    within a and within b, ``own``, are taken off.

    Examples
    --------
    >>> z, a, b = np.array([2, 0, 1]), np.array([1, 0, 2]), np.array([0, 0, 1])
    >>> own = agreements(z, a), agreements(z, b)
    >>> [each.tolist() for each in mixed_agreements(z, a, b, own)]
    [[1.0, 1.0, 0.0], [-1.0, 2.0, 1.0]]
    """
    n = len(z)
    sums = agreements(np.concatenate([z, z]), codes_of(np.concatenate([a, b])))
    return sums[:n] - own[0], sums[n:] - own[1]


def weighted_counts(weights: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return sum_j (w_i - w_j) sign(a_i - b_j) for each i, by running sums in order of b."""
    order = np.argsort(b, kind="stable")
    running = np.concatenate([[0.0], np.cumsum(weights[order])])
    left = np.searchsorted(b[order], a, side="left")
    right = np.searchsorted(b[order], a, side="right")
    counts = left - (len(b) - right)
    sums = running[left] - (running[-1] - running[right])
    return np.asarray(weights * counts - sums)


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
