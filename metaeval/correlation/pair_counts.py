"""Signed counts over all pairs of many cells, without comparing every pair.

A bootstrap sample is a row of counts, how often each cell was drawn; copies of a cell tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import FloatArray, IntArray

# Kendall's sums over bootstrap samples of many cells, for many metrics against one human side.
# A sample is a row of counts, how often each cell was drawn; copies of a cell tie. Cells are
# sorted once, not every sample; what rests on the humans and the counts alone is computed once.

# Cells a bin, of many cells more: comparing them one by one then costs about as much as comparing
# bins with bins.
BIN = 192
Counts = NDArray[np.float32]
Signs = NDArray[np.int8]


class DrawnPairs:
    """Pairs of n cells by the codes `z` of one side, under each row of counts w (samples x n).

    Cells lie in bins by z and in bins by x, which no tie crosses. Cells whose bins differ both
    ways are compared as bins, by running sums over the table of counts; those that share one are
    compared one by one. The sums are of whole numbers, so exact while a bin is drawn less than
    2**24 times.

    Examples
    --------
    >>> pairs = DrawnPairs(np.array([0, 1, 2]), np.array([[1.0, 1, 1], [2, 1, 0]]))
    >>> pairs.score(np.array([0, 2, 1])).tolist()
    [1.0, 2.0]
    >>> pairs.untied.tolist(), pairs.untied_by(np.array([0, 1, 1])).tolist()
    ([3.0, 2.0], [2.0, 2.0])
    """

    def __init__(self, z: IntArray, w: FloatArray | Counts) -> None:
        self._order = np.argsort(z, kind="stable")
        self._z = z[self._order]
        self._wide = max(BIN, int(np.sqrt(len(z) / 2.0)))
        self._rows = bins(self._z, self._wide)
        self._counts: Counts = np.ascontiguousarray(w.T, dtype=np.float32)[self._order]
        self._bins = [(part, _drawn_signs(self._z[part])) for part in _parts(self._rows, self._z)]
        self.n = self._counts.sum(axis=0, dtype=np.float64)
        self._squares = _squares(self._counts)
        self.untied = self._untied(self._z)

    def score(self, x: IntArray) -> FloatArray:
        """Return sum_{i<j} w_i w_j sign(z_i - z_j) sign(x_i - x_j) in each sample."""
        x = x[self._order]
        columns = bins(x, self._wide)
        totals = self._between(columns)
        for part, signs in self._bins:
            totals += _score(signs * _drawn_signs(x[part]), self._counts[part])
        order = np.argsort(x, kind="stable")
        for part in _parts(columns[order], x[order]):
            members = order[part]
            # Those of one bin by z have been compared.
            apart = self._rows[members][:, None] != self._rows[members]
            signs = _drawn_signs(self._z[members]) * _drawn_signs(x[members]) * apart
            totals += _score(signs, self._counts[members])
        return totals

    def untied_by(self, x: IntArray) -> FloatArray:
        """Return sum_{i<j} w_i w_j of the pairs that do not tie in x, in each sample."""
        return self._untied(x[self._order])

    @property
    def distinct(self) -> FloatArray:
        """How many codes of z each sample has."""
        return self._distinct(self._z)

    def distinct_by(self, x: IntArray) -> FloatArray:
        """How many codes of x each sample has."""
        return self._distinct(x[self._order])

    def _distinct(self, codes: IntArray) -> FloatArray:
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        shown = np.maximum.reduceat(self._counts[order], starts, axis=0) > 0
        return np.asarray(shown.sum(axis=0), dtype=np.float64)

    def _untied(self, codes: IntArray) -> FloatArray:
        """(n^2 - the squares of how often each code was drawn) / 2."""
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes)
        order = order[sizes[codes[order]] > 1]
        squares = self._squares
        if len(order):
            starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
            tied = self._counts[order]
            squares = squares - _squares(tied) + _squares(np.add.reduceat(tied, starts, axis=0))
        return np.asarray((self.n**2 - squares) / 2.0)

    def _between(self, columns: IntArray) -> FloatArray:
        """Compare bins with bins: each by z with all before, which `ahead` has summed."""
        every = np.arange(int(columns.max()) + 1)
        ahead = np.zeros((len(every), self._counts.shape[1]), dtype=np.float32)
        totals = np.zeros(len(self.n))
        for part in _members(self._rows):
            own, counts = columns[part], self._counts[part]
            totals += _dots(counts, ahead[own])
            ahead += np.sign(every[:, None] - own).astype(np.float32) @ counts
        return totals


class Moved(NamedTuple):
    """Pairs of cells whose order changed on one side, and by how much their sign and tie did."""

    first: IntArray
    second: IntArray
    signs: Signs
    ties: Signs

    def sums(self, others: FloatArray, w: FloatArray | Counts) -> tuple[FloatArray, FloatArray]:
        """Return by how much `DrawnPairs.score` and ``untied`` change.

        ``others`` (k x n) are values of other sides, ``w`` is samples x n; the change of ``score``
        is k x samples.
        """
        score, untied = np.zeros((len(others), len(w))), np.zeros(len(w))
        for at in range(0, len(self.first), 2**12):
            first, second, signs, ties = (each[at : at + 2**12] for each in self)
            counts = w[:, first].astype(np.float64) * w[:, second]
            score += (np.sign(others[:, first] - others[:, second]) * signs) @ counts.T
            untied -= counts @ ties
        return score, untied


def moved(z: FloatArray, changed: FloatArray, most: int) -> Moved | None:
    """Return the pairs whose order in z (n,) differs from that in ``changed``.

    Beside a cell that stays, only those between a cell's two values matter. None if there are more
    than ``most`` pairs.

    Examples
    --------
    >>> found = moved(np.array([1.0, 2, 3]), np.array([2.0, 2, 3]), 9)
    >>> [each.tolist() for each in found]
    [[0], [1], [1], [1]]
    """
    cells = np.flatnonzero(z != changed)
    stay = np.flatnonzero(z == changed)
    stay = stay[np.argsort(z[stay])]
    low, high = np.minimum(z, changed)[cells], np.maximum(z, changed)[cells]
    starts, ends = np.searchsorted(z[stay], low), np.searchsorted(z[stay], high, side="right")
    sizes = ends - starts
    most -= int(sizes.sum())
    if most < 0:
        return None
    places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)
    firsts, seconds = [np.repeat(cells, sizes)], [stay[places]]
    for number, cell in enumerate(cells):
        rest = cells[number + 1 :]
        is_other = np.sign(changed[cell] - changed[rest]) != np.sign(z[cell] - z[rest])
        beside = rest[is_other]
        most -= len(beside)
        if most < 0:
            return None
        firsts.append(np.full(len(beside), cell))
        seconds.append(beside)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    before, after = (np.sign(each[first] - each[second]).astype(np.int8) for each in (z, changed))
    ties = (after == 0).view(np.int8) - (before == 0).view(np.int8)
    return Moved(first, second, after - before, ties)


def bins(codes: IntArray, most: int = BIN) -> IntArray:
    """Return the bin of each cell: neighbouring codes of at most `most` cells, or a single code.

    Examples
    --------
    >>> bins(np.array([0, 2, 1])).tolist(), bins(np.repeat([0, 1, 2], 150))[::150].tolist()
    ([0, 0, 0], [0, 1, 2])
    """
    sizes = np.bincount(codes)
    if len(sizes) == len(codes):
        return codes // most
    number, filled = -1, most
    of_code = np.empty(len(sizes), dtype=np.int64)
    for code, size in enumerate(sizes.tolist()):
        number, filled = (number, filled + size) if filled + size <= most else (number + 1, size)
        of_code[code] = number
    return np.asarray(of_code[codes])


def _members(ordered: IntArray) -> Iterator[slice]:
    """Yield the stretches of equal values."""
    ends = np.flatnonzero(np.diff(ordered, append=-1)) + 1
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        yield slice(start, end)


def _parts(ordered: IntArray, codes: IntArray) -> Iterator[slice]:
    """Yield the bins in which something can be compared: not those of one code."""
    for part in _members(ordered):
        if codes[part.start] != codes[part.stop - 1]:
            yield part


def _drawn_signs(codes: IntArray) -> Signs:
    # Within a bin codes are compared by their places, which are small.
    small = np.unique(codes, return_inverse=True)[1].astype(np.int16)
    return (small[:, None] > small).view(np.int8) - (small[:, None] < small).view(np.int8)


def _score(signs: Signs, counts: Counts) -> FloatArray:
    """Return half of w' signs w for each column w of counts."""
    return _dots(signs.astype(np.float32) @ counts, counts) / 2.0


def _dots(left: Counts, right: Counts) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->j", left, right, dtype=np.float64))


def _squares(counts: Counts) -> FloatArray:
    return _dots(counts, counts)


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
