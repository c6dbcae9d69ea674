"""Differences between two metrics' soft pairwise accuracies under permutation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.correlation.panel import Panel, snapped
from metaeval.correlation.soft_pairwise import (
    has_same_segments,
    is_constant,
    normal_pvalues,
    normal_tail,
    pair_pvalues,
    within_segments,
)
from metaeval.documents import sum_by
from metaeval.significance.permutation.correlations import GroupedTest, slices
from metaeval.significance.permutation.masks import Chunk
from metaeval.significance.permutation.pairs import constant_mixtures, mixture_can_be_constant

# With fewer systems, exact differences cost no more than approximate ones.
MANY = 24
# Permutations from which the error of approximate differences is learnt, and the standard
# deviations of that error within which a difference is computed exactly.
PILOT, REACH = 12, 8.0
# 1 - 2 Phi(-z) is tanh(u (SLOPE + u^2)) to 2e-4 for u = UNIT z (Page 1977, Applied Statistics 26).
UNIT = (0.7988 * 0.04417) ** (1 / 3)
ONE, SLOPE = np.float32(1.0), np.float32(0.7988 / UNIT)


class SoftPairwiseTest(GroupedTest):
    """Soft pairwise accuracy, its p-values recomputed in every permutation.

    By default they are the limit of infinitely many sign flips, Phi(-sum d / sqrt(sum d^2)), for
    all pairs of metrics at once: a few matrix products for each pair of systems.

    If ``screen`` is set (slack, whether p is two-sided) and there are many systems, only the side
    of each difference relative to the observed one is needed. Most are decided by approximate
    differences (`_approximate`), the others computed. Masks of different systems must be
    independent.
    """

    screen: tuple[float, bool] | None = None

    def __init__(self, panel: Panel, flips: FloatArray | None) -> None:
        super().__init__(panel, "system")
        self.flips = flips
        self.filled = np.nan_to_num(self.metrics)
        self.within = within_segments(self.metrics, self.valid)
        self.human_p = self._pvalues(self.human[None])[0]
        self.can_differ = _are_distinct(self.metrics) & (not is_constant(self.human, self.valid))
        self._pilots: dict[tuple[int, int], tuple[float, float, float]] = {}

    def differences(
        self, pairs: Sequence[tuple[int, int]], forms: Sequence[Any], chunk: Chunk
    ) -> FloatArray:
        """Return pairs x masks."""
        if self.flips is not None:
            found = np.array([self._exact(*pair, chunk.masks) for pair in pairs])
        else:
            found = np.empty((len(pairs), len(chunk.masks)))
            for some in slices(len(pairs), max(self.valid.size, 8 * len(chunk.masks))):
                found[some] = self._screened(pairs[some], chunk)
        for place, (first, second) in enumerate(pairs):
            if not (self.can_differ[first] & self.can_differ[second]).any():
                found[place, self._is_undefined(first, second, chunk)] = np.nan
        return found

    def _screened(self, pairs: Sequence[tuple[int, int]], chunk: Chunk) -> FloatArray:
        """Return pairs x masks, exact to the side of the observed difference if ``screen`` is."""
        first, second = np.array(pairs).T
        is_new = pairs[0] not in self._pilots
        if (
            self.screen is None
            or len(self.valid) < MANY
            or not has_same_segments(self.valid)
            or (is_new and len(chunk.masks) < 2 * PILOT)
        ):
            return self._of_limit(first, second, chunk)
        found = self._approximate(first, second, chunk)
        if is_new:
            for place, pair in enumerate(pairs):
                exact = self._exact(*pair, chunk.masks[: PILOT + 1])
                errors = (exact - found[place, : PILOT + 1])[1:]
                self._pilots[pair] = float(exact[0]), errors.mean(), errors.std(ddof=1)
        slack, is_two_sided = self.screen
        for pair, row in zip(pairs, found, strict=True):
            observed, error, sd = self._pilots[pair]
            row += error
            row[chunk.keeps_all] = observed
            levels = (observed, -observed) if is_two_sided else (observed,)
            gaps = np.abs(row - np.array(levels)[:, None]).min(axis=0)
            is_open = (gaps <= REACH * sd + slack) & ~chunk.keeps_all
            row[is_open] = self._exact(*pair, chunk.masks[is_open])
        return found

    def _exact(self, first: int, second: int, masks: NDArray[np.int8]) -> FloatArray:
        """Return the difference of two metrics for each mask, one mask after the other."""
        found = np.empty(len(masks))
        for some in slices(len(masks), 8 * self.valid.size):
            sides = (self._spa(self._pvalues(m)) for m in self._mixed(first, second, masks[some]))
            found[some] = np.subtract(*sides)
        return found

    def _mixed(
        self, first: int, second: int, masks: NDArray[np.int8]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mixture of two metrics for each mask, and that of the complement."""
        mean, half = (
            np.where(self.valid, (self.filled[first] + sign * self.filled[second]) / 2.0, 0.0)
            for sign in (1.0, -1.0)
        )
        moves = masks * half
        return mean + moves, mean - moves

    def _approximate(self, first: IntArray, second: IntArray, chunk: Chunk) -> FloatArray:
        """Return pairs x masks: differences with the mean of what costs most to compute.

        With u, v, w, e and f as in `_of_limit`, sum d = sum u +- (e v - f w) is a difference of
        sums of single systems. In sum d^2 = sum (u^2 + v^2 + w^2) +- 2 sum u (e v - f w) - 2 sum
        e f v w, the last part has the mean 0, and of u = m_a - m_b, which are centred within
        segments, e v meets m_a alone and f w m_b alone, but for a part with the mean 0.
        """
        n, clusters = len(self.valid), self.panel.clusters
        half = sum_by((self.filled[first] - self.filled[second]) / 2.0, clusters)
        mean = sum_by((self.within[first] + self.within[second]) / 2.0, clusters)
        columns = np.unique(clusters, return_index=True)[1]
        signs = np.take(chunk.by_system, columns, axis=2)
        # Systems x masks x pairs.
        moved, spread = (
            np.matmul(signs, part.transpose(1, 2, 0).astype(np.float32))
            for part in (half, half * mean)
        )
        own = (mean**2 + half**2).sum(axis=2)
        crossed = np.matmul(mean, mean.swapaxes(1, 2))
        level = mean.sum(axis=2)
        total, shift, bend, z, q = np.zeros((5, *moved.shape[1:]), np.float32)
        for place, (a, b) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
            scale = own[:, a] + own[:, b] - 2.0 * crossed[:, a, b]
            scale = np.where(scale > 0.0, scale, np.inf)
            inverse = (UNIT / np.sqrt(scale)).astype(np.float32)
            middle = (level[:, a] - level[:, b]).astype(np.float32) * inverse
            np.subtract(moved[a], moved[b], out=shift)
            shift *= inverse
            # 1 / sqrt(s +- 2 t) is close to (1 -+ t / s) / sqrt(s).
            np.add(spread[a], spread[b], out=bend)
            bend *= (-1.0 / scale).astype(np.float32)
            human = np.float32(1.0 - 2.0 * self.human_p[place])
            for add in (np.subtract, np.add):
                # Twice the distance of Phi(-z) from the humans' p.
                add(middle, shift, out=z)
                add(ONE, bend, out=q)
                z *= q
                np.multiply(z, z, out=q)
                q += SLOPE
                z *= q
                np.tanh(z, out=z)
                z -= human
                (np.subtract if add is np.add else np.add)(total, np.abs(z, out=z), out=total)
        return np.asarray(total.T.astype(np.float64) / (2 * len(self.human_p)))

    def _of_limit(self, first: IntArray, second: IntArray, chunk: Chunk) -> FloatArray:
        """Return pairs x masks of metrics ``first`` and ``second``.

        A system's sign is the same in all segments of a document. With u, v and w the sums over a
        document of the gap of two systems' means of the metrics, and of half the difference of the
        metrics for the one and the other system, the gap is u + e v - f w, and u - e v + f w of
        the complement; its square has three terms that change with e and f.
        """
        is_known = ~np.isnan(self.human_p)
        if not is_known.any():
            return np.full((len(first), len(chunk.masks)), np.nan)
        clusters = self.panel.clusters
        columns = np.unique(clusters, return_index=True)[1]
        signs = np.take(chunk.by_system, columns, axis=2)
        half = (self.filled[first] - self.filled[second]) / 2.0
        # Only differences within a segment count; small numbers suit single precision.
        mean = (self.within[first] + self.within[second]) / 2.0
        sizes = mean**2 + half**2
        total = np.zeros((len(chunk.masks), len(first)))
        for place, (a, b) in enumerate(zip(*np.triu_indices(len(self.valid), 1), strict=True)):
            if not is_known[place]:
                continue
            shared = (self.valid[a] & self.valid[b]).astype(np.float64)
            u, v, w = (
                sum_by(part * shared, clusters)
                for part in (mean[:, a] - mean[:, b], half[:, a], half[:, b])
            )
            scores = [sum_by(self.filled[:, k] * shared, clusters) for k in (a, b)]
            e, f = signs[a], signs[b]
            moved = (e @ scores[0].T - f @ scores[1].T) / 2.0
            moved = moved[:, first] - moved[:, second]
            single = [
                (x * y).T.astype(np.float32) for x, y in ((2.0 * u, v), (2.0 * u, w), (2.0 * v, w))
            ]
            own = e @ single[0] - f @ single[1]
            fixed = (u * u + v * v + w * w).sum(axis=1) - (e * f) @ single[2]
            level, size = u.sum(axis=1), (sizes[:, a] + sizes[:, b]) @ shared
            for sign in (1.0, -1.0):
                spread = fixed + sign * own
                same = spread <= 1e-6 * size
                spread[same] = 1.0
                z = ((level + sign * moved) / np.sqrt(spread)).astype(np.float32)
                pvalues = normal_tail(z)
                pvalues[same] = 1.0
                total -= sign * np.abs(pvalues - self.human_p[place])
        return np.asarray(total.T / is_known.sum())

    def _is_undefined(self, first: int, second: int, chunk: Chunk) -> BoolArray:
        x = self.metrics[first].T
        y = snapped(self.metrics[second].T, x)
        if is_constant(self.human, self.valid):
            return np.ones(len(chunk.masks), dtype=np.bool_)
        if not mixture_can_be_constant(x, y):
            return np.zeros(len(chunk.masks), dtype=np.bool_)
        return constant_mixtures(x, y, np.swapaxes(chunk.masks, 1, 2))

    def _spa(self, pvalues: FloatArray) -> FloatArray:
        gaps = np.abs(pvalues - self.human_p)
        is_known = ~np.isnan(self.human_p)
        if not is_known.all():
            gaps = gaps[:, is_known]
        if not gaps.size:
            return np.full(len(pvalues), np.nan)
        return np.asarray(1.0 - gaps.mean(axis=1))

    def _pvalues(self, values: FloatArray) -> FloatArray:
        if self.flips is None:
            return normal_pvalues(values, self.valid, self.panel.clusters)
        return np.array([pair_pvalues(one, self.valid, self.flips) for one in values])


def _are_distinct(metrics: FloatArray) -> BoolArray:
    """Return, per metric and segment, whether three systems or more differ well beyond rounding.

    If they do for both metrics, no mixture of the two is constant.
    """
    gaps = np.diff(np.sort(metrics, axis=1), axis=1)
    return np.asarray(
        ((gaps > 1e-9) | np.isnan(gaps)).all(axis=1) & ((~np.isnan(gaps)).sum(axis=1) > 1)
    )
