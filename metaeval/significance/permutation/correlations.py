"""Differences between two metrics' correlations under permutation: group by group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import FloatArray, mean_along
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import Panel, grouped, snapped
from metaeval.correlation.rows import centred, distinct_counts, row_ranks
from metaeval.significance.permutation.masks import Chunk, Masks
from metaeval.significance.permutation.mixtures import (
    Codes,
    Kernel,
    Levels,
    joint_codes,
    tied_pairs,
)


class GroupedTest:
    """A correlation per group, averaged over the groups where it is defined."""

    def __init__(self, panel: Panel, grouping: str) -> None:
        self.panel, self.grouping = panel, grouping
        self.metrics: FloatArray = grouped(panel.standardized(), panel.valid, grouping)
        self.human: FloatArray = grouped(panel.human, panel.valid, grouping)
        self.valid = ~np.isnan(self.human)
        self.counts = self.valid.sum(axis=1).astype(np.float64)
        self.sizes = panel.sizes()

    def size(self, first: int, second: int) -> float:
        """Return the size of what rounding errors of two metrics' scores are a share of."""
        return float(max(self.sizes[first], self.sizes[second]))

    def chunk(self, masks: Masks) -> Chunk:
        """Arrange masks for this test."""
        return Chunk(masks, self.panel.valid, self.grouping)

    def linear(self, first: int, second: int) -> FloatArray | None:
        """Return systems x segments coefficients if the difference is linear in the mask."""
        return None

    def spread(self, coefficients: FloatArray) -> FloatArray:
        """Return systems x segments from groups x members."""
        cells = np.zeros(self.panel.human.shape)
        if self.grouping == "none":
            cells[self.panel.valid] = coefficients[0]
            return cells
        return np.ascontiguousarray(coefficients.T if self.grouping == "item" else coefficients)


class MixtureTest(GroupedTest, ABC):
    """A test that correlates the mixtures themselves, where the difference is not linear."""

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask; nan where a side is undefined."""
        plus, minus = self.values(first, second, chunk.signs)
        plus, minus = chunk.gathered(plus), chunk.gathered(minus)
        return mean_along(plus, axis=0) - mean_along(minus, axis=0)

    @abstractmethod
    def values(self, first: int, second: int, signs: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Return groups x masks: the correlation of the mixture, and of its complement."""


class PearsonTest(MixtureTest):
    """Pearson's r: its five sums are linear in the mask."""

    def values(self, first: int, second: int, signs: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Return groups x masks for X* and Y*."""
        x, y, z = self.metrics[first], self.metrics[second], self.human
        n = np.maximum(self.counts, 1.0)
        z = centred(z, self.valid, n)
        middle = (np.where(self.valid, x + y, 0.0).sum(axis=1) / n)[:, None] / 2.0
        x, y = (np.where(self.valid, side - middle, 0.0) for side in (x, y))
        features = [x - y, (x - y) * z, x * x - y * y]
        forms = np.matmul(signs, np.stack(features, axis=-1) / 2.0)
        constants = [x + y, (x + y) * z, x * x + y * y]
        middle_sums = np.array([(part / 2.0).sum(axis=1) for part in constants])
        scale = (z * z).sum(axis=1)
        return self._r(middle_sums, forms, scale), self._r(middle_sums, -forms, scale)

    def _r(self, middle: FloatArray, forms: FloatArray, scale: FloatArray) -> FloatArray:
        total, product, squares = (middle[k][:, None] + forms[..., k] for k in range(3))
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares - total * total / self.counts[:, None]
            # The sums of all cells of the group set the size of the rounding errors.
            flat = spread <= 1e-13 * middle[2][:, None]
            r = product / np.sqrt(np.where(flat, np.nan, spread) * _or_nan(scale)[:, None])
        return np.asarray(r)


class OrderTest(MixtureTest):
    """Kendall's tau-b or tau-c, or Spearman's rho, by forms in the mask (`orders`)."""

    def __init__(self, panel: Panel, measure: Measure) -> None:
        super().__init__(panel, measure.grouping)
        self.kind = measure.kind()
        self.kernel = Kernel(self.human, measure.correlation)
        self.human_scale, self.human_levels = self._human_side()
        self.defined = self.human_scale > 0.0
        self._own: dict[int, FloatArray] = {}
        self._forms: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}

    def linear(self, first: int, second: int) -> FloatArray | None:
        """Return coefficients if no mixture can tie, so that all denominators are constant."""
        if not self.defined.any():
            return np.full(self.panel.human.shape, np.nan)
        x, y = self._codes(first, second)
        if (Levels(x, y, self.valid).can_tie & self.defined).any():
            return None
        return self.spread(self._coefficients(first, second, x, y))

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask; only groups that can tie need the full form."""
        x, y = self._codes(first, second)
        levels = Levels(x, y, self.valid)
        tied = levels.can_tie & self.defined
        if chunk.is_enumerated or (levels.can_be_constant & self.defined).any():
            return super().differences(first, second, chunk)
        linear: Any = 0.0
        if not tied[self.defined].all():
            free = self._coefficients(first, second, x, y) * ~tied[:, None]
            linear = chunk.flat @ self.spread(free).ravel()
        signs = chunk.signs if tied.all() else chunk.signs[tied]
        plus, minus = self._mixtures(x, y, signs, tied, (first, second))
        return np.asarray(linear + (plus - minus).sum(axis=0) / self.defined.sum())

    def values(self, first: int, second: int, signs: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Return groups x masks for X* and Y*."""
        x, y = self._codes(first, second)
        everything = np.ones(len(x), dtype=np.bool_)
        return self._mixtures(x, y, signs, everything, (first, second))

    def _codes(self, first: int, second: int) -> tuple[Codes, Codes]:
        x = self.metrics[first]
        return joint_codes(x, snapped(self.metrics[second], x))

    def _own_sums(self, index: int, codes: Codes) -> FloatArray:
        if index not in self._own:
            self._own[index] = self.kernel.sums(codes, codes)[0]
        return self._own[index]

    def _form(self, x: Codes, y: Codes, pair: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        """Return a (groups) and b (groups x members)."""
        if pair in self._forms:
            return self._forms[pair]
        own_x, own_y = self._own_sums(pair[0], x), self._own_sums(pair[1], y)
        rows, columns = self.kernel.sums(x, y)
        total = own_x.sum(axis=1) + own_y.sum(axis=1) + 2.0 * rows.sum(axis=1)
        self._forms[pair] = total / 8.0, (own_x - own_y + rows - columns) / 4.0
        return self._forms[pair]

    def _coefficients(self, first: int, second: int, x: Codes, y: Codes) -> FloatArray:
        """Return groups x members: twice b over the denominator of an untied mixture."""
        zeros = np.zeros((len(x), 1))
        scale = self._scale(zeros, zeros, zeros)[:, 0] * self.defined.sum()
        b = self._form(x, y, (first, second))[1]
        return np.where(self.defined[:, None], 2.0 * b / _or_nan(scale)[:, None], 0.0)

    def _mixtures(
        self,
        x: Codes,
        y: Codes,
        signs: NDArray[Any],
        groups: Any,
        pair: tuple[int, int],
    ) -> tuple[FloatArray, FloatArray]:
        a, b = (part[groups] for part in self._form(x, y, pair))
        kernel = self.kernel.narrowed(groups)
        x, y = x[groups], y[groups]
        odd = np.matmul(signs, b[:, :, None])[..., 0]
        even = a[:, None] + np.concatenate(
            [_quadratic(kernel, x, y, signs, part) for part in _by_group(kernel)]
        )
        constant, forms = Levels(x, y, kernel.valid).forms()
        shift = np.matmul(signs, forms)
        above = (even + odd, even - odd)
        sides = (constant[:, None] + shift, constant[:, None] - shift)
        results = [
            num / _or_nan(self._scale(*_ties(shown), groups))
            for num, shown in zip(above, sides, strict=True)
        ]
        return results[0], results[1]

    def _scale(
        self, pairs: FloatArray, cubes: FloatArray, merged: FloatArray, groups: Any = slice(None)
    ) -> FloatArray:
        """Return the denominator: groups x masks, zero where a side is constant."""
        n = self.counts[groups][:, None]
        human = self.human_scale[groups][:, None]
        all_pairs = n * (n - 1.0) / 2.0
        if self.kind == "spearman":
            spread = (n**3 - n - cubes) / 12.0
            return np.asarray(2.0 * np.sqrt(np.maximum(human * spread, 0.0)))
        untied = all_pairs - pairs
        if self.kind == "kendall_b":
            return np.asarray(np.sqrt(np.maximum(human * untied, 0.0)))
        m = np.maximum(np.minimum(n - merged, self.human_levels[groups][:, None]), 1.0)
        return np.asarray(np.where((untied > 0) & (human > 0), n * n * (m - 1.0) / m / 2.0, 0.0))

    def _human_side(self) -> tuple[FloatArray, FloatArray]:
        levels = distinct_counts(self.human)
        if self.kind == "spearman":
            ranks = row_ranks(self.human)
            means = np.nansum(ranks, axis=1) / np.maximum(self.counts, 1.0)
            return np.nansum((ranks - means[:, None]) ** 2, axis=1), levels
        all_pairs = self.counts * (self.counts - 1.0) / 2.0
        return all_pairs - tied_pairs(self.human), levels


def _by_group(kernel: Kernel) -> list[list[tuple[slice, slice]]]:
    """Return the parts of the kernel, those of the same groups together."""
    together: dict[int, list[tuple[slice, slice]]] = {}
    for part in kernel.parts():
        together.setdefault(part[0].start, []).append(part)
    return list(together.values())


def _quadratic(
    kernel: Kernel, x: Codes, y: Codes, signs: NDArray[Any], parts: list[tuple[slice, slice]]
) -> FloatArray:
    """Return e'Ce of some groups for each mask; C is symmetric with a zero diagonal."""
    total: Any = 0.0
    for groups, rows in parts:
        some = signs if len(signs) == 1 else signs[groups]
        form = kernel.quadratic((groups, rows), x, y)
        for block in _blocks(form.shape[1]):
            total = total + _triangle(form, some, rows.start or 0, block)
    return np.asarray(total / 8.0)


def _blocks(rows: int) -> list[slice]:
    """Return a few slices of many rows: what lies beyond the diagonal need not be multiplied."""
    step = rows if rows < 200 else -(-rows // 4)
    return [slice(start, min(start + step, rows)) for start in range(0, max(rows, 1), step or 1)]


def _triangle(form: Any, signs: NDArray[Any], offset: int, block: slice) -> FloatArray:
    """Return the part of e'Ce in some rows of C, with its mirror image above the diagonal."""
    start, stop = offset + block.start, offset + block.stop
    own = _dot(signs, form[:, block, start:stop], slice(start, stop), slice(start, stop))
    if not start:
        return own
    left = _dot(signs, form[:, block, :start], slice(start, stop), slice(0, start))
    return own + 2.0 * left


def _dot(signs: NDArray[Any], form: Any, rows: slice, columns: slice) -> FloatArray:
    if len(form) == 1:
        product = (signs[0][:, columns] @ form[0].T)[None]
    else:
        product = np.matmul(signs[..., columns], np.swapaxes(form, 1, 2))
    # Whole numbers up to 4 n^2: single precision adds them exactly below 2,000 members.
    exact = product if signs.shape[2] < 2000 else product.astype(np.float64)
    return np.asarray(np.einsum("gbl,gbl->gb", exact, signs[..., rows]), dtype=np.float64)


def _ties(shown: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return tied pairs, sum of t^3 - t, and cells too many per distinct value."""
    shown = np.rint(shown).astype(np.float64)
    pairs = (shown * (shown - 1.0)).sum(axis=-1) / 2.0
    cubes = (shown**3 - shown).sum(axis=-1)
    return pairs, cubes, np.maximum(shown - 1.0, 0.0).sum(axis=-1)


def _or_nan(values: FloatArray) -> FloatArray:
    return np.where(values > 0.0, values, np.nan)
