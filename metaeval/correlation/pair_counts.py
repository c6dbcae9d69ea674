"""Signed counts over all pairs of many cells, without comparing every pair.

A bootstrap sample is a row of counts, how often each cell was drawn; copies of a cell tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import FloatArray, IntArray

# Kendall's sums over bootstrap samples of many cells, for many metrics against one human side.
# A sample is a row of counts, how often each cell was drawn; copies of a cell tie. Cells are
# sorted once, not every sample; what rests on the humans and the counts alone is computed once.

# Cells a bin: comparing them one by one then costs about as much as comparing bins with bins.
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
        self._rows = bins(self._z)
        self._counts: Counts = np.ascontiguousarray(w.T, dtype=np.float32)[self._order]
        self._bins = [(part, _drawn_signs(self._z[part])) for part in _parts(self._rows, self._z)]
        self.n = self._counts.sum(axis=0, dtype=np.float64)
        self._squares = _squares(self._counts)
        self.untied = self._untied(self._z)

    def score(self, x: IntArray) -> FloatArray:
        """Return sum_{i<j} w_i w_j sign(z_i - z_j) sign(x_i - x_j) in each sample."""
        x = x[self._order]
        columns = bins(x)
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


def moved(
    z: FloatArray, changed: FloatArray, others: FloatArray, w: FloatArray | Counts, most: int
) -> tuple[FloatArray, FloatArray] | None:
    """Return by how much `DrawnPairs.score` and ``untied`` change where z becomes ``changed``.

    Only pairs of a changed cell with the cells whose order beside it changes are compared. None if
    these are more than ``most``.

    Parameters
    ----------
    z, changed
        Values of the cells, (n,).
    others
        k x n values of other sides; the change of ``score`` is k x samples.
    w
        samples x n.
    """
    z = z.copy()
    score, untied = np.zeros((len(others), len(w))), np.zeros(len(w))
    for cell in np.flatnonzero(z != changed):
        signs = np.sign(changed[cell] - z) - np.sign(z[cell] - z)
        ties = (z == z[cell]).astype(np.float64) - (z == changed[cell])
        signs[cell] = ties[cell] = 0.0
        z[cell] = changed[cell]
        beside = np.flatnonzero((signs != 0.0) | (ties != 0.0))
        most -= len(beside)
        if most < 0:
            return None
        for part in np.array_split(beside, 1 + len(beside) // 2**12):
            counts = w[:, part].astype(np.float64) * w[:, [cell]]
            agree = np.sign(others[:, [cell]] - others[:, part]) * signs[part]
            score += agree @ counts.T
            untied += counts @ ties[part]
    return score, untied


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


# Cells of a bin within which every pair is compared; more where the table of bins would be large.
FEW, WIDEST = 64, 1500


def agreements(z: IntArray, x: IntArray) -> FloatArray:
    """Return sum_j sign(z_i - z_j) sign(x_i - x_j) for each i, of codes (`codes_of`).

    Cells lie in bins by z and in bins by x, which no tie crosses: bins are compared with bins by
    running sums over the table of counts, cells of one bin with each other.

    Examples
    --------
    >>> agreements(np.array([2, 0, 1]), np.array([1, 0, 2])).tolist()
    [0.0, 2.0, 0.0]
    """
    few = max(FEW, -(-len(z) // WIDEST))
    rows, columns = bins(z, few), bins(x, few)
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    cells = rows * shape[1] + columns
    table = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int32)
    below = np.cumsum(table, axis=0, dtype=np.int32)
    gaps = 2 * below - table - below[-1]
    left = np.cumsum(gaps, axis=1, dtype=np.int32)
    # Sums of signs of all cells: less than 2**31 in absolute value.
    counts = (2 * left.ravel()[cells] - gaps.ravel()[cells] - left[rows, -1]).astype(np.int64)
    small: Any = np.uint16 if len(z) < 2**16 else np.int32
    z, x, rows, columns = (each.astype(small) for each in (z, x, rows, columns))
    for of, is_apart in ((rows, False), (columns, True)):
        for cells in _filled(of, few):
            signs = _signs(z[cells]) * _signs(x[cells])
            if is_apart:  # Those of one bin by z have been compared.
                signs *= rows[cells][:, :, None] != rows[cells][:, None]
            signs *= (cells >= 0)[:, None]
            sums = signs.sum(axis=2, dtype=np.int8 if few < 2**7 else np.int32)
            counts[cells[cells >= 0]] += sums[cells >= 0]
    return np.asarray(counts, dtype=np.float64)


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


def _filled(of: IntArray, few: int) -> Iterator[IntArray]:
    """Yield bins x cells, all bins that are not one large code, -1 where there is no cell."""
    order, sizes = np.argsort(of, kind="stable"), np.bincount(of)
    starts = np.cumsum(sizes) - sizes
    small = np.flatnonzero(sizes <= few)
    for part in np.array_split(small, 1 + len(small) * few * few // FEW**3):
        places = np.arange(sizes[part].max(initial=0))
        cells = order[np.minimum(starts[part][:, None] + places, len(of) - 1)]
        yield np.where(places < sizes[part][:, None], cells, -1)


def _signs(codes: IntArray) -> NDArray[np.int8]:
    """Return bins x cells x cells."""
    one, other = codes[:, :, None], codes[:, None]
    return (one > other).view(np.int8) - (one < other).view(np.int8)


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
