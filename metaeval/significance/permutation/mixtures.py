"""Order statistics of a mixture of two metrics, as forms in the swap mask.

Let e_i = +1 where cell i shows X and -1 where it shows Y (the mask of a permutation), X*(e) the
mixture and Y*(e) = X*(-e) its complement. A sum over pairs of cells F_ij(X*_i, X*_j) is

    a + b.e + e'Ce,   b_i = 1/4 sum_j [F(X_i,X_j) + F(X_i,Y_j) - F(Y_i,X_j) - F(Y_i,Y_j)],

so the *difference* between X* and Y* is 2 b.e, linear in the mask: one matrix product gives it
for all permutations. a and C matter only where ties make the denominators differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.correlation.pair_counts import (
    agreements,
    codes_of,
    mixed_agreements,
    weighted_counts,
)
from metaeval.correlation.rows import row_ranks

# Pairs of cells compared at once.
BATCH = 2**22
# One group with more cells is counted by sorting (all of its cells are valid).
WIDE = 1500
Codes = NDArray[np.int32]
Pairs = NDArray[Any]


class Kernel:
    """F_ij: the contribution of a pair of cells, by the order of the shown scores.

    ``kendall``: sign(z_i - z_j) sign(a - b); ``spearman``: (rank z_i - rank z_j) sign(a - b);
    ``kendall_like``: 1 if the pair is concordant and its human scores differ by the threshold.

    Parameters
    ----------
    human
        groups x members, nan where a cell takes no part.
    """

    def __init__(self, human: FloatArray, kind: str, threshold: float = 0.0) -> None:
        self.kind, self.threshold = kind, threshold
        self.valid: BoolArray = ~np.isnan(human)
        self.z = row_ranks(human) if kind == "spearman" else human
        self.shape = human.shape
        self._weights: Pairs | None = None
        if len(list(self.parts())) == 1:
            self._weights = self._weigh(slice(None), slice(None))

    @property
    def _is_wide(self) -> bool:
        return len(self.z) == 1 and self.shape[1] > WIDE and self.kind != "kendall_like"

    @cached_property
    def _z_codes(self) -> IntArray:
        return codes_of(self.z[0])

    def parts(self) -> Iterator[tuple[slice, slice]]:
        """Yield slices of groups and of their members that compare at most BATCH pairs."""
        groups, members = self.shape
        step = max(1, BATCH // max(members * members, 1))
        rows = members if members * members <= BATCH else max(1, BATCH // members)
        for group in range(0, groups, step):
            for row in range(0, members, max(rows, 1)):
                yield slice(group, group + step), slice(row, row + rows)

    def pairs(self, part: tuple[slice, slice], a: Codes, b: Codes) -> Pairs:
        """Return F of the part's members showing ``a`` against all members showing ``b``."""
        left, right = a[part][:, :, None], b[part[0]][:, None, :]
        signs = (left > right).view(np.int8) - (left < right).view(np.int8)
        scored = self._weigh(*part) * signs
        return np.asarray(scored > 0 if self.kind == "kendall_like" else scored)

    def own_sums(self, a: Codes) -> FloatArray:
        """Return sum_j F_ij(a_i, a_j), groups x members."""
        if self._is_wide and self.kind != "spearman":
            return agreements(self._z_codes, codes_of(a[0]))[None]
        return self.sums(a, a, None)[0]

    def sums(
        self, a: Codes, b: Codes, own: tuple[FloatArray, FloatArray] | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return sum_j F_ij(a_i, b_j) and sum_j F_ji(a_j, b_i), both groups x members.

        ``own`` has the sums of a with itself and of b with itself; without it, all pairs of cells
        are compared.
        """
        if self._is_wide and self.kind == "spearman":
            first, second = a[0].astype(np.int64), b[0].astype(np.int64)
            both = (first, second), (second, first)
            rows, columns = (weighted_counts(self.z[0], *each)[None] for each in both)
            return rows, columns
        if self._is_wide and own is not None:
            known = own[0][0], own[1][0]
            rows, columns = mixed_agreements(self._z_codes, a[0], b[0], known)
            return rows[None], columns[None]
        rows, columns = np.zeros(self.shape), np.zeros(self.shape)
        for part in self.parts():
            pairs = self.pairs(part, a, b)
            rows[part] = _sum(pairs, -1)
            columns[part[0]] += _sum(pairs, -2)
        return rows, columns

    def quadratic(self, part: tuple[slice, slice], x: Codes, y: Codes) -> Pairs:
        """Return the rows of 8C that belong to a part; single precision holds Kendall's exactly."""
        equal = self.pairs(part, x, x) + self.pairs(part, y, y)
        mixed = self.pairs(part, x, y) + self.pairs(part, y, x)
        return np.asarray(
            equal - mixed, dtype=np.float64 if self.kind == "spearman" else np.float32
        )

    def narrowed(self, groups: BoolArray) -> Kernel:
        """Return the kernel of some of the groups."""
        other = object.__new__(Kernel)
        other.kind, other.threshold = self.kind, self.threshold
        other.valid, other.z = self.valid[groups], self.z[groups]
        other.shape = other.z.shape
        other._weights = None if self._weights is None else self._weights[groups]
        return other

    def _weigh(self, groups: slice, rows: slice) -> Pairs:
        if self._weights is not None:
            return self._weights[groups, rows]
        gaps = np.nan_to_num(self.z[groups, rows][:, :, None] - self.z[groups][:, None, :])
        if self.kind == "spearman":
            return np.asarray(gaps)
        signs: Pairs = np.sign(gaps).astype(np.int8)
        if self.kind == "kendall_like":
            signs[np.abs(gaps) < self.threshold] = 0
        return signs


class Levels:
    """Scores that two or more cells of a group can share, and how often a mixture shows them.

    ``can_tie`` marks the groups that have such a score, ``can_be_constant`` those where every
    cell can show the same one.
    """

    def __init__(self, x: Codes, y: Codes, valid: BoolArray) -> None:
        groups, members = x.shape
        width = int(max(x.max(initial=0), y.max(initial=0))) + 1
        offsets = np.arange(groups)[:, None] * width
        keys = np.concatenate([(x + offsets)[valid], (y + offsets)[valid]]).astype(np.int64)
        unique, inverse = np.unique(keys, return_inverse=True)
        same = (x == y)[valid]
        sharing = np.bincount(inverse) - np.bincount(
            inverse[: len(same)][same], minlength=len(unique)
        )
        owner = unique // width
        tied = sharing >= 2
        self.can_tie: BoolArray = np.bincount(owner[tied], minlength=groups) > 0
        whole = tied & (sharing == valid.sum(axis=1)[owner])
        self.can_be_constant: BoolArray = np.bincount(owner[whole], minlength=groups) > 0
        self._cells = np.nonzero(valid)
        self._inverse, self._tied, self._owner = inverse, tied, owner
        self._shape = (groups, members)
        self._valid_counts = valid.sum(axis=1)

    def forms(self) -> tuple[FloatArray, FloatArray]:
        """Return, per group and level, the constant and (groups x members x levels) the linear
        form of how many cells show the level."""
        groups, members = self._shape
        before: IntArray = np.cumsum(self._tied) - self._tied
        first = np.full(groups, 0)
        starts = np.flatnonzero(np.diff(self._owner, prepend=-1))
        first[self._owner[starts]] = before[starts]
        slots = before - first[self._owner]
        depth = int(np.bincount(self._owner[self._tied], minlength=groups).max(initial=0))
        indicators = np.zeros((2, groups, members, depth), dtype=np.float32)
        n = len(self._cells[0])
        for side, levels in enumerate((self._inverse[:n], self._inverse[n:])):
            on = self._tied[levels]
            cells = self._cells[0][on], self._cells[1][on]
            indicators[side, cells[0], cells[1], slots[levels[on]]] = 1.0
        constant = indicators.sum(axis=(0, 2)) / 2.0
        return constant, (indicators[0] - indicators[1]) / 2.0


def joint_codes(x: FloatArray, y: FloatArray) -> tuple[Codes, Codes]:
    """Return integers in the order of the values of both arrays; nan becomes 0."""
    both = np.concatenate([x.ravel(), y.ravel()])
    known = ~np.isnan(both)
    codes = np.zeros(both.shape, dtype=np.int32)
    codes[known] = np.unique(both[known], return_inverse=True)[1]
    return codes[: x.size].reshape(x.shape), codes[x.size :].reshape(y.shape)


def tied_pairs(values: FloatArray) -> FloatArray:
    """Return, per row, the number of pairs with equal values; nan takes no part."""
    codes, known = joint_codes(values, values)[0].astype(np.int64), ~np.isnan(values)
    width = int(codes.max(initial=0)) + 1
    codes += np.arange(len(values))[:, None] * width
    unique, counts = np.unique(codes[known], return_counts=True)
    pairs = counts * (counts - 1) / 2.0
    return np.bincount(unique // width, weights=pairs, minlength=len(values)).astype(np.float64)


def _sum(pairs: Pairs, axis: int) -> FloatArray:
    dtype = np.float64 if pairs.dtype.kind == "f" else np.int32
    return np.asarray(pairs.sum(axis=axis, dtype=dtype), dtype=np.float64)
