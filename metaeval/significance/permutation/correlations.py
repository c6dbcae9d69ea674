"""Differences between two metrics' correlations under permutation: group by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, mean_along
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import Panel, grouped, snapped
from metaeval.correlation.rows import centred, distinct_counts, row_ranks
from metaeval.significance.permutation.masks import Chunk, Masks, Swaps
from metaeval.significance.permutation.mixtures import (
    WIDE,
    Codes,
    Kernel,
    Levels,
    joint_codes,
    tied_pairs,
)

Pairs: TypeAlias = Sequence[tuple[int, int]]
# Numbers of a slice of pairs of metrics: bounds the memory, never the results.
HELD = 2**22
# With fewer members, sums of whole numbers up to 4 n^2 are exact in single precision.
EXACT = 2000
# Masks that are sooner sorted one by one than compared in all pairs of cells.
FEW = 16


class GroupedTest:
    """A correlation per group, averaged over the groups where it is defined.

    ``n_held`` is how many numbers are stored per pair of metrics for all masks, ``n_made`` how many
    are computed per mask for all pairs.
    """

    n_held = n_made = 0

    def __init__(self, panel: Panel, grouping: str) -> None:
        self.panel, self.grouping = panel, grouping
        self.metrics: FloatArray = grouped(panel.standardized(), panel.valid, grouping)
        self.human: FloatArray = grouped(panel.human, panel.valid, grouping)
        self.valid = ~np.isnan(self.human)
        self.counts = self.valid.sum(axis=1).astype(np.float64)
        self.sizes = panel.sizes()

    def permuted(self, pairs: Pairs, swaps: Swaps) -> Iterator[tuple[slice, FloatArray]]:
        """Yield slices of the pairs of metrics and their differences under the next masks.

        Differences are pairs x masks, at most some millions, so memory depends neither on the pairs
        nor on the masks. Each slice of pairs gets all masks, the one that swaps nothing first.
        """
        for batch in slices(len(pairs), self.n_held):
            forms = [self.linear(*pair) for pair in pairs[batch]]
            for masks in swaps.chunks(self.n_made):
                chunk = self.chunk(masks)
                for part in slices(len(forms), len(masks)):
                    some = slice(batch.start + part.start, batch.start + part.stop)
                    yield some, self.differences(pairs[some], forms[part], chunk)

    def differences(
        self, pairs: Pairs, forms: Sequence[FloatArray | None], chunk: Chunk
    ) -> FloatArray:
        """Return pairs x masks; ``forms`` has what `linear` returned for each pair."""
        found = np.empty((len(pairs), len(chunk.masks)))
        linear = {place: form.ravel() for place, form in enumerate(forms) if form is not None}
        if linear:
            found[list(linear)] = np.array(list(linear.values())) @ chunk.flat.T
        for place, (pair, form) in enumerate(zip(pairs, forms, strict=True)):
            if form is None:
                found[place] = self.difference(*pair, chunk)
        return found

    def difference(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference of two metrics for each mask, where it is not linear."""
        raise NotImplementedError

    def size(self, first: int, second: int) -> float:
        """Return the size to which rounding errors of two metrics' scores are relative."""
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


def slices(n: int, size: int) -> Iterator[slice]:
    """Yield slices of n entries of ``size`` numbers each, so that a slice has at most HELD."""
    step = max(1, HELD // max(size, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class PearsonTest(GroupedTest):
    """Pearson's r: its five sums are linear in the mask, and sums of single metrics make them.

    Each metric is centred by group. With d half the difference of two metrics' means, the mixture
    about the middle of the means shows x + d or y - d.
    """

    def __init__(self, panel: Panel, grouping: str) -> None:
        super().__init__(panel, grouping)
        self.n_made = len(self.human) * (3 * len(self.metrics) + 2)
        n = np.maximum(self.counts, 1.0)
        self.z = centred(self.human, self.valid, n)
        known = np.where(self.valid, self.metrics, 0.0)
        self.means = known.sum(axis=2) / n
        self.centred = np.where(self.valid, known - self.means[:, :, None], 0.0)
        self.totals = self.centred.sum(axis=2)
        self.products = (self.centred * self.z).sum(axis=2)
        self.squares = (self.centred**2).sum(axis=2)

    def difference(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask; nan where a side is undefined."""
        if chunk.sums is None:
            chunk.sums = self._sums(chunk.signs)
        ones, of_z, x, y = (chunk.sums[k] for k in (0, 1, first + 2, second + 2))
        d = (self.means[first] - self.means[second])[:, None] / 2.0
        moved = [
            (x[0] - y[0]) / 2.0 + d * ones,
            (x[1] - y[1]) / 2.0 + d * of_z,
            (x[2] - y[2]) / 2.0 + d * (x[0] + y[0]),
        ]
        total, product, square = (
            (part[first] + part[second])[:, None] / 2.0
            for part in (self.totals, self.products, self.squares)
        )
        shift = (self.totals[first] - self.totals[second])[:, None]
        square = square + d * shift + self.counts[:, None] * d * d
        middle = total, product, square
        plus, minus = (
            chunk.gathered(self._r(middle, [sign * part for part in moved])) for sign in (1, -1)
        )
        return mean_along(plus, axis=0) - mean_along(minus, axis=0)

    def _sums(self, signs: NDArray[Any]) -> list[Any]:
        """Return sums with the signs of each mask, groups x masks: of 1, of z, and for every
        metric of its scores, their products with z, and their squares."""
        c, z = self.centred, self.z
        fixed = [self.valid.astype(np.float64), z]
        features = np.concatenate([fixed, c, c * z, c * c]).transpose(1, 2, 0)
        sums = np.matmul(signs, features).transpose(2, 0, 1)
        m = len(c)
        of_metrics = zip(sums[2 : m + 2], sums[m + 2 : 2 * m + 2], sums[2 * m + 2 :], strict=True)
        return [sums[0], sums[1], *of_metrics]

    def _r(self, middle: Sequence[FloatArray], moved: Sequence[FloatArray]) -> FloatArray:
        total, product, squares = (a + b for a, b in zip(middle, moved, strict=True))
        scale = (self.z * self.z).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares - total * total / self.counts[:, None]
            # The sums of all cells of the group set the size of the rounding errors.
            flat = spread <= 1e-13 * middle[2]
            r = product / np.sqrt(np.where(flat, np.nan, spread) * _or_nan(scale)[:, None])
        return np.asarray(r)


class OrderTest(GroupedTest):
    """Kendall's tau-b or tau-c, or Spearman's rho, by forms in the mask (`mixtures`).

    If ``screen`` is set (slack, whether p is two-sided), only the side of each difference relative
    to the observed one is needed. For most masks the quadratic part cannot change it and is not
    computed.
    """

    screen: tuple[float, bool] | None = None

    def __init__(self, panel: Panel, measure: Measure) -> None:
        super().__init__(panel, measure.grouping)
        self.n_held = panel.valid.size
        self.measure, self.kind = measure, measure.kind()
        self.kernel = Kernel(self.human, measure.correlation)
        self.human_scale, self.human_levels = self._human_side()
        self.defined = self.human_scale > 0.0
        self._own: dict[int, FloatArray] = {}
        self._observed: dict[tuple[int, int], float] = {}
        self._forms: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}

    def linear(self, first: int, second: int) -> FloatArray | None:
        """Return coefficients if no mixture can tie, so that all denominators are constant."""
        if not self.defined.any():
            return np.full(self.panel.human.shape, np.nan)
        x, y = self._codes(first, second)
        if (Levels(x, y, self.valid).can_tie & self.defined).any():
            return None
        return self.spread(self._coefficients(first, second, x, y))

    def difference(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask; only groups that can tie need the full form."""
        x, y = self._codes(first, second)
        levels = Levels(x, y, self.valid)
        tied = levels.can_tie & self.defined
        if chunk.is_enumerated or (levels.can_be_constant & self.defined).any():
            everything = np.ones(len(x), dtype=np.bool_)
            sides = self._mixtures(x, y, chunk.signs, everything, (first, second))
            plus, minus = (mean_along(chunk.gathered(side), axis=0) for side in sides)
            return plus - minus
        linear: Any = 0.0
        start = 0.0
        if not tied[self.defined].all():
            free = self.spread(self._coefficients(first, second, x, y) * ~tied[:, None]).ravel()
            linear, start = chunk.flat @ free, float(free.sum())
        if self.screen is None or self.kind == "kendall_c":
            signs = chunk.signs if tied.all() else chunk.signs[tied]
            plus, minus = self._mixtures(x, y, signs, tied, (first, second))
            return np.asarray(linear + (plus - minus).sum(axis=0) / self.defined.sum())
        return self._screened((linear, start), (x, y), chunk, tied, (first, second))

    def _screened(
        self,
        free: tuple[Any, float],
        codes: tuple[Codes, Codes],
        chunk: Chunk,
        groups: BoolArray,
        pair: tuple[int, int],
    ) -> FloatArray:
        """Return the difference for each mask, exact to the side of the observed one.

        ``free`` is what groups that cannot tie add to it, for each mask and observed.

        With q the even and l the odd part of the sum of a mixture, and s and t the denominators of
        both mixtures, the difference is q (1/s - 1/t) + l (1/s + 1/t) in each group. No correlation
        exceeds 1, so q lies between -s - l and s - l, and between -t + l and t + l. Where both ends
        are on one side of the observed difference, q is not needed.
        """
        (linear, start), signs = free, chunk.signs if groups.all() else chunk.signs[groups]
        parts = self._parts(*codes, signs, groups, pair)
        odd, (s, t) = parts.odd, parts.scales
        n, slope = self.defined.sum(), 1.0 / s - 1.0 / t
        low, high = np.maximum(-s - odd, odd - t), np.minimum(s - odd, odd + t)
        known = linear + (odd * (1.0 / s + 1.0 / t)).sum(axis=0) / n
        middle = known + (slope * (low + high)).sum(axis=0) / 2.0 / n
        reach = np.abs(slope * (high - low)).sum(axis=0) / 2.0 / n + 1e-9
        if pair not in self._observed:
            # The first mask of the first chunk keeps all.
            x, y = (self._own[index][groups].sum(axis=1) / 2.0 for index in pair)
            parted = x / s[:, 0] - y / t[:, 0]
            self._observed[pair] = float(start + parted.sum() / n)
        middle[chunk.keeps_all], reach[chunk.keeps_all] = self._observed[pair], 0.0
        slack, is_two_sided = self.screen or (0.0, False)
        levels = np.outer((1.0, -1.0) if is_two_sided else (1.0,), [self._observed[pair]])
        levels = np.concatenate([levels - slack, levels + slack]).ravel()
        is_open = (np.abs(middle - levels[:, None]) <= reach).any(axis=0) & (reach > 0.0)
        if len(self.human) == 1 and (self.human.size > WIDE or is_open.sum() < FEW):
            # All pairs of cells cost more than sorting the cells for a few masks.
            for place in np.flatnonzero(is_open):
                keep = signs[0, place] > 0
                mixed = np.array([np.where(keep, *codes)[0], np.where(keep, *codes[::-1])[0]])
                values = self.measure.rows(mixed.astype(np.float64), np.repeat(self.human, 2, 0))
                middle[place] = values[0] - values[1]
        elif is_open.any():
            even = parts.even(signs[:, is_open])
            middle[is_open] = known[is_open] + (even * slope[:, is_open]).sum(axis=0) / n
        return np.asarray(middle)

    def _codes(self, first: int, second: int) -> tuple[Codes, Codes]:
        x = self.metrics[first]
        return joint_codes(x, snapped(self.metrics[second], x))

    def _own_sums(self, index: int, codes: Codes) -> FloatArray:
        if index not in self._own:
            self._own[index] = self.kernel.own_sums(codes)
        return self._own[index]

    def _form(self, x: Codes, y: Codes, pair: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        """Return a (groups) and b (groups x members)."""
        if pair in self._forms:
            return self._forms[pair]
        own_x, own_y = self._own_sums(pair[0], x), self._own_sums(pair[1], y)
        rows, columns = self.kernel.sums(x, y, (own_x, own_y))
        total = own_x.sum(axis=1) + own_y.sum(axis=1) + 2.0 * rows.sum(axis=1)
        if len(self._forms) * self.n_held >= HELD:
            self._forms.clear()
        self._forms[pair] = total / 8.0, (own_x - own_y + rows - columns) / 4.0
        return self._forms[pair]

    def _coefficients(self, first: int, second: int, x: Codes, y: Codes) -> FloatArray:
        """Return groups x members: twice b over the denominator of an untied mixture."""
        scale = self._scale(np.zeros((len(x), 1, 0)))[:, 0] * self.defined.sum()
        b = self._form(x, y, (first, second))[1]
        return np.where(self.defined[:, None], 2.0 * b / _or_nan(scale)[:, None], 0.0)

    def _mixtures(
        self,
        x: Codes,
        y: Codes,
        signs: NDArray[Any],
        groups: BoolArray,
        pair: tuple[int, int],
    ) -> tuple[FloatArray, FloatArray]:
        """Return groups x masks: the correlation of each mixture, and of its complement."""
        parts = self._parts(x, y, signs, groups, pair)
        even, (s, t) = parts.even(signs), parts.scales
        return (even + parts.odd) / _or_nan(s), (even - parts.odd) / _or_nan(t)

    def _parts(
        self, x: Codes, y: Codes, signs: NDArray[Any], groups: BoolArray, pair: tuple[int, int]
    ) -> _Parts:
        a, b = (part[groups] for part in self._form(x, y, pair))
        kernel = self.kernel.narrowed(groups)
        x, y = x[groups], y[groups]
        constant, forms = Levels(x, y, kernel.valid).forms()
        if self.kind != "spearman" and x.shape[1] < EXACT:
            # Quarters of whole numbers: single precision adds them exactly.
            both = np.concatenate([forms, b[:, :, None].astype(np.float32)], axis=2)
            shift, odd = np.split(np.matmul(signs, both), [forms.shape[2]], axis=2)
            odd = odd[..., 0].astype(np.float64)
        else:
            shift, odd = np.matmul(signs, forms), np.matmul(signs, b[:, :, None])[..., 0]
        s, t = (self._scale(constant[:, None] + sign * shift, groups) for sign in (1.0, -1.0))
        return _Parts(kernel, x, y, a, odd, (s, t))

    def _scale(self, shown: FloatArray, groups: Any = slice(None)) -> FloatArray:
        """Return the denominator: groups x masks, zero where a side is constant.

        ``shown`` has how many cells show each score that several can share.
        """
        n = self.counts[groups][:, None]
        human = self.human_scale[groups][:, None]
        shown = np.rint(shown).astype(np.float64)
        if self.kind == "spearman":
            spread = (n**3 - n - (shown**3 - shown).sum(axis=-1)) / 12.0
            return np.asarray(2.0 * np.sqrt(np.maximum(human * spread, 0.0)))
        untied = (n * (n - 1.0) - (shown * (shown - 1.0)).sum(axis=-1)) / 2.0
        if self.kind == "kendall_b":
            return np.asarray(np.sqrt(np.maximum(human * untied, 0.0)))
        merged = np.maximum(shown - 1.0, 0.0).sum(axis=-1)
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


@dataclass(frozen=True, eq=False)
class _Parts:
    """The sums of mixtures of two metrics, even and odd in the mask, with their denominators."""

    kernel: Kernel
    x: Codes
    y: Codes
    constant: FloatArray
    odd: FloatArray
    scales: tuple[FloatArray, FloatArray]

    def even(self, signs: NDArray[Any]) -> FloatArray:
        """Return groups x masks: a + e'Ce."""
        parts = [_quadratic(self.kernel, self.x, self.y, signs, p) for p in _by_group(self.kernel)]
        return np.asarray(self.constant[:, None] + np.concatenate(parts))


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
    exact = product if signs.shape[2] < EXACT else product.astype(np.float64)
    return np.asarray(np.einsum("gbl,gbl->gb", exact, signs[..., rows]), dtype=np.float64)


def _or_nan(values: FloatArray) -> FloatArray:
    return np.where(values > 0.0, values, np.nan)
