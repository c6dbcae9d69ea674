"""Sums over the pairs of many cells in many bootstrap samples, without comparing every pair.

A sample is a row of counts, how often each cell was drawn; copies of a cell tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import FloatArray, IntArray

# Kendall's sums over bootstrap samples of many cells, for many metrics against one human side.
# Cells are sorted once, not every sample; what depends only on the humans and the counts is
# computed once.

# Cells that are compared one by one: for a matrix product that costs less than to divide them.
BIN = 192
# Blocks that cells are divided into at a time, and cells that are compared with blocks at a time:
# that differ in x, and that tie.
BLOCKS, STEP, TIED = 128, 128, 2048
# Counts of cells that are added up at a time.
ADDED = 2**20
Counts = NDArray[np.float32]
Signs = NDArray[np.int8]


class DrawnPairs:
    """Pairs of n cells by the codes `z` of one side, under each row of counts w (samples x units).

    ``columns`` has the unit of each cell; by default each cell is a unit.

    Cells are divided into blocks by z, and these into blocks again. Cells of two blocks are
    compared in order of x, by running sums of the counts of each block; only neighbours by x and
    the cells of the last blocks are compared one by one. No tie crosses a block. Time grows as
    n log n. The sums are of whole numbers, so exact while less than 2**23 cells are
    drawn.

    Examples
    --------
    >>> pairs = DrawnPairs(np.array([0, 1, 2]), np.array([[1.0, 1, 1], [2, 1, 0]]))
    >>> pairs.score(np.array([0, 2, 1])).tolist()
    [1.0, 2.0]
    >>> pairs.untied.tolist(), pairs.untied_by(np.array([0, 1, 1])).tolist()
    ([3.0, 2.0], [2.0, 2.0])
    """

    def __init__(self, z: IntArray, w: NDArray[Any], columns: IntArray | None = None) -> None:
        self._order = np.argsort(z, kind="stable")
        self._z = z[self._order]
        self._units = self._order if columns is None else columns[self._order]
        # Of many samples of many units: a byte a count.
        small = np.uint8 if w.max(initial=0) < 2**8 else np.float32
        self._table: NDArray[Any] = np.ascontiguousarray(w.T, dtype=small)
        self._n_samples = self._table.shape[1]
        self.n = self._summed(self._units, 1)
        self.untied = self._untied(self._z)

    def score(self, x: IntArray) -> FloatArray:
        """Return sum_{i<j} w_i w_j sign(z_i - z_j) sign(x_i - x_j) in each sample."""
        x, totals = x[self._order], np.zeros(self._n_samples)
        # Neighbours by z, from a place on, in order of x.
        waiting = [(0, np.argsort(x, kind="stable"))]
        while waiting:
            start, cells = waiting.pop()
            z, shown = self._z[start : start + len(cells)], x[cells]
            if z[0] == z[-1] or shown[0] == shown[-1]:
                continue
            if len(cells) <= BIN:
                signs = _drawn_signs(self._z[cells]) * _drawn_signs(shown)
                totals += _score(signs, self._counts(cells))
                continue
            by_z = bins(_dense(z), _width(len(cells)))
            blocks = by_z[cells - start].astype(np.int16)
            totals += self._between(cells, blocks, _dense(shown))
            inner = cells[np.argsort(blocks, kind="stable")]
            waiting += [(start + part.start, inner[part]) for part in _members(by_z)]
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

    def _counts(self, cells: IntArray | slice) -> Counts:
        return np.asarray(self._table[self._units[cells]], dtype=np.float32)

    def _summed(self, units: IntArray, power: int) -> FloatArray:
        """Return the sum of counts, or of their squares, over cells of these units."""
        times, step = np.bincount(units, minlength=len(self._table)), self._step
        found = np.zeros(self._n_samples)
        for at in range(0, len(times), step):
            found += times[at : at + step] @ self._table[at : at + step].astype(np.float64) ** power
        return found

    @property
    def _step(self) -> int:
        return max(STEP, ADDED // max(1, self._n_samples))

    def _distinct(self, codes: IntArray) -> FloatArray:
        order = np.argsort(codes, kind="stable")
        shown = np.zeros(self._n_samples)
        for sums in self._sums(order, codes):
            shown += (sums > 0).sum(axis=0)
        return shown

    def _untied(self, codes: IntArray) -> FloatArray:
        """(n^2 - the squares of how often each code was drawn) / 2."""
        order = np.argsort(codes, kind="stable")
        is_tied = np.bincount(codes)[codes[order]] > 1
        squares = self._summed(self._units[order[~is_tied]], 2)
        for sums in self._sums(order[is_tied], codes) if is_tied.any() else ():
            squares += _dots(sums, sums)
        return np.asarray((self.n**2 - squares) / 2.0)

    def _sums(self, order: IntArray, codes: IntArray) -> Iterator[Counts]:
        """Yield how often codes were drawn, in order of cells: some codes x samples."""
        dense = _dense(codes[order])
        for part in _members(bins(dense, self._step)):
            starts = np.flatnonzero(np.diff(dense[part], prepend=-1))
            counts = [
                np.add.reduceat(self._counts(order[cut]), starts, axis=0)
                for cut in _cuts(part, self._step)
            ]
            yield np.sum(counts, axis=0)

    def _between(self, cells: IntArray, blocks: NDArray[np.int16], x: IntArray) -> FloatArray:
        """Compare cells of different blocks: each with all before it in x, summed by `ahead`."""
        every = np.arange(int(blocks.max()) + 1)[:, None]
        ahead = np.zeros((len(every), self._n_samples), dtype=np.float32)
        totals = np.zeros(self._n_samples)
        for part in _members(bins(x, STEP)):
            is_one = x[part.start] == x[part.stop - 1]
            sums = ahead.copy() if is_one else ahead
            for cut in _cuts(part, TIED):
                own, counts = blocks[cut], self._counts(cells[cut])
                signs = (every > own).view(np.int8) - (every < own).view(np.int8)
                before = ahead[own]
                if not is_one:
                    among = signs[own] * _drawn_signs(x[cut])
                    before += (among.astype(np.float32) @ counts) / 2
                totals += _dots(counts, before)
                sums += signs.astype(np.float32) @ counts
            ahead = sums
        return totals


class Moved(NamedTuple):
    """Pairs of cells whose order changed on one side, and by how much their sign and tie did."""

    first: IntArray
    second: IntArray
    signs: Signs
    ties: Signs

    def sums(
        self, others: FloatArray, w: NDArray[Any], columns: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return by how much `DrawnPairs.score` and ``untied`` change.

        ``others`` (k x n) are values of other sides, ``w`` and ``columns`` as of `DrawnPairs`; the
        change of ``score`` is k x samples.
        """
        score, untied = np.zeros((len(others), len(w))), np.zeros(len(w))
        for at in range(0, len(self.first), 2**12):
            first, second, signs, ties = (each[at : at + 2**12] for each in self)
            one, two = (at if columns is None else columns[at] for at in (first, second))
            counts = w[:, one].astype(np.float64) * w[:, two]
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
    ends = np.cumsum(np.bincount(codes))
    of_code = np.zeros(len(ends), dtype=np.int64)
    code = 0
    while code < len(ends):
        of_code[code] = 1
        filled = ends[code - 1] if code else 0
        code = max(code + 1, int(np.searchsorted(ends, filled + most, side="right")))
    return np.asarray((np.cumsum(of_code) - 1)[codes])


def _width(n: int) -> int:
    """Return the cells of a block: as few levels of blocks as can be, all of about one number."""
    times = n / BIN
    return int(n / times ** (1.0 / np.ceil(np.log(times) / np.log(BLOCKS))))


def _dense(ordered: IntArray) -> IntArray:
    """Return codes from 0 on, of cells in order of their codes."""
    return np.asarray(np.cumsum(np.diff(ordered, prepend=ordered[:1]) != 0))


def _cuts(part: slice, step: int) -> Iterator[slice]:
    for at in range(part.start, part.stop, step):
        yield slice(at, min(at + step, part.stop))


def _members(ordered: IntArray) -> Iterator[slice]:
    """Yield the stretches of equal values."""
    ends = np.flatnonzero(np.diff(ordered, append=-1)) + 1
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        yield slice(start, end)


def _drawn_signs(codes: IntArray) -> Signs:
    # Within a bin codes are compared by their places, which are small.
    small = np.unique(codes, return_inverse=True)[1].astype(np.int16)
    return (small[:, None] > small).view(np.int8) - (small[:, None] < small).view(np.int8)


def _score(signs: Signs, counts: Counts) -> FloatArray:
    """Return half of w' signs w for each column w of counts."""
    return _dots(signs.astype(np.float32) @ counts, counts) / 2.0


def _dots(left: Counts, right: Counts) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->j", left, right, dtype=np.float64))
