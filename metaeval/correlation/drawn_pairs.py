"""Kendall's sums over bootstrap samples of many cells, for many metrics against one human side.

A sample is a row of counts, how often each cell was drawn; copies of a cell tie. Cells are sorted
once, not every sample; what rests on the humans and the counts alone is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import FloatArray, IntArray

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
        self._bins = [(part, _signs(self._z[part])) for part in _parts(self._rows, self._z)]
        self.n = self._counts.sum(axis=0, dtype=np.float64)
        self._squares = _squares(self._counts)
        self.untied = self._untied(self._z)

    def score(self, x: IntArray) -> FloatArray:
        """Return sum_{i<j} w_i w_j sign(z_i - z_j) sign(x_i - x_j) in each sample."""
        x = x[self._order]
        columns = bins(x)
        totals = self._between(columns)
        for part, signs in self._bins:
            totals += _score(signs * _signs(x[part]), self._counts[part])
        order = np.argsort(x, kind="stable")
        for part in _parts(columns[order], x[order]):
            members = order[part]
            # Those of one bin by z have been compared.
            apart = self._rows[members][:, None] != self._rows[members]
            signs = _signs(self._z[members]) * _signs(x[members]) * apart
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


def _signs(codes: IntArray) -> Signs:
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
