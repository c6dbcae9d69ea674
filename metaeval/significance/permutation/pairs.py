"""Differences between two metrics' pairwise statistics under permutation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray, mean_along
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import Panel, grouped, snapped
from metaeval.correlation.soft_pairwise import (
    gaps_to_pvalues,
    is_constant,
    mixture_sums,
    normal_pvalues,
    pair_pvalues,
    sums_to_pvalues,
)
from metaeval.correlation.ties import PairTable, calibrate, pair_table
from metaeval.documents import DOCUMENTS, SEGMENTS, recoded, sum_by, unit_of
from metaeval.rounding import SHARE, largest, settled
from metaeval.significance.permutation.correlations import GroupedTest
from metaeval.significance.permutation.masks import Chunk
from metaeval.significance.permutation.mixtures import Kernel, joint_codes


class KendallLikeTest(GroupedTest):
    """WMT's Kendall-like tau: pooled counts, so the difference is linear in the mask."""

    def __init__(self, panel: Panel, grouping: str, threshold: float) -> None:
        super().__init__(panel, grouping)
        self.kernel = Kernel(self.human, "kendall_like", threshold)
        codes = joint_codes(self.human, self.human)[0]
        self.n_pairs = self.kernel.sums(codes, codes)[0].sum() / 2.0
        self._own: dict[int, FloatArray] = {}

    def linear(self, first: int, second: int) -> FloatArray | None:
        """Return systems x segments coefficients, unless some mixture may be constant."""
        x = self.metrics[first]
        y = snapped(self.metrics[second], x)
        return None if mixture_can_be_constant(x, y) else self._coefficients(first, second)

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask; nan where a mixture is constant."""
        x = self.metrics[first]
        y = snapped(self.metrics[second], x)
        values = chunk.flat @ np.ravel(self._coefficients(first, second))
        masks = grouped(chunk.masks, self.panel.valid, self.grouping)
        return np.where(constant_mixtures(x, y, masks), np.nan, values)

    def _coefficients(self, first: int, second: int) -> FloatArray:
        x = self.metrics[first]
        codes = joint_codes(x, snapped(self.metrics[second], x))
        for index, own in zip((first, second), codes, strict=True):
            if index not in self._own:
                self._own[index] = self.kernel.sums(own, own)[0]
        rows, columns = self.kernel.sums(*codes)
        b = (self._own[first] - self._own[second] + rows - columns) / 4.0
        return self.spread(4.0 * b / (self.n_pairs or np.nan))


class AccEqPairsTest:
    """acc_eq with each metric's threshold fixed: pairs of outputs swap their outcomes.

    The mask has one entry per pair of outputs, and the difference is linear in it. Pairs of the
    same two systems and the same two documents swap together.
    """

    def __init__(self, panel: Panel, grouping: str, epsilon: float | None) -> None:
        self.panel = panel
        self.tables = [_table(panel, index, grouping) for index in range(len(panel.names))]
        self.outcomes = [_outcomes(table, epsilon) for table in self.tables]
        self.clusters = _pair_clusters(panel, self.tables[0], grouping)

    def chunk(self, masks: NDArray[np.int8]) -> Chunk:
        """Arrange masks for this test."""
        return Chunk(masks, self.panel.valid[:1], "system")

    def linear(self, first: int, second: int) -> FloatArray:
        """Return one coefficient per pair of outputs; nan where a metric is constant."""
        if not self.tables[0].n_groups:
            return np.full(1, np.nan)
        if self.tables[first].constant or self.tables[second].constant:
            return np.full(len(self.clusters), np.nan)
        gain = self.outcomes[first].astype(np.float64) - self.outcomes[second]
        return self.tables[0].weights * gain

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask."""
        return np.asarray(chunk.flat @ self.linear(first, second))


class AccEqTest(GroupedTest):
    """acc_eq with cells swapped and the threshold calibrated anew in every permutation."""

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask."""
        masks = np.swapaxes(grouped(chunk.masks, self.panel.valid, self.grouping), 1, 2)
        table = pair_table(self.human.T, self.human.T)
        slack = SHARE * self.size(first, second)
        keep = masks > 0
        results = np.empty(len(masks))
        x = self.metrics[first].T
        y = snapped(self.metrics[second].T, x)
        for row, kept in enumerate(keep):
            mixed, other = np.where(kept, x, y), np.where(kept, y, x)
            values = [_calibrated(table, side, slack) for side in (mixed, other)]
            results[row] = values[0] - values[1]
        return results


class SystemLevelTest(GroupedTest):
    """Correlations of system means: the means are linear in the mask."""

    def __init__(self, panel: Panel, measure: Measure) -> None:
        super().__init__(panel, "system")
        self.measure = measure
        self.means = settled(mean_along(self.human), largest(self.human))

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask."""
        x, y = (np.nan_to_num(self.metrics[k]) for k in (first, second))
        counts = np.where(self.counts > 0, self.counts, np.nan)
        middle = (x + y).sum(axis=1) / 2.0 / counts
        masks = chunk.flat.reshape(chunk.masks.shape)
        shift = np.einsum("bsn,sn->bs", masks, (x - y) / 2.0) / counts
        size = self.size(first, second)
        sides = settled(middle + shift, size), settled(middle - shift, size)
        return self._value(sides[0]) - self._value(sides[1])

    def _value(self, means: FloatArray) -> FloatArray:
        human = np.broadcast_to(self.means, means.shape)
        if self.measure.correlation != "pairwise_accuracy":
            return self.measure.over_systems(human, means)
        known = ~np.isnan(self.means)
        upper, lower = np.triu_indices(int(known.sum()), 1)
        gaps = means[:, known][:, upper] - means[:, known][:, lower]
        expected = np.sign(self.means[known][upper] - self.means[known][lower])
        agreeing = (np.sign(gaps) == expected).sum(axis=1) / (len(upper) or np.nan)
        return np.where(gaps.any(axis=1) & expected.any(), agreeing, np.nan)


class SoftPairwiseTest(GroupedTest):
    """Soft pairwise accuracy, its p-values recomputed in every permutation.

    By default they are the limit of infinitely many sign flips, Phi(-sum d / sqrt(sum d^2)); the
    sums need one matrix of products per permutation instead of a thousand flips.
    """

    def __init__(self, panel: Panel, flips: FloatArray | None) -> None:
        super().__init__(panel, "system")
        self.flips = flips
        self.has_documents = unit_of(panel.clusters) == DOCUMENTS
        self.filled = np.nan_to_num(self.metrics)
        self.human_p = self._pvalues(self.human[None])[0]

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask."""
        x, y = self.filled[first], self.filled[second]
        # Only differences within a segment count; small numbers suit single precision.
        middle = (x + y).sum(axis=0) / 2.0 / np.maximum(self.valid.sum(axis=0), 1)
        x, y = np.where(self.valid, x - middle, 0.0), np.where(self.valid, y - middle, 0.0)
        mean, half = (x + y) / 2.0, (x - y) / 2.0
        if self.has_documents and self.flips is None:
            pvalues = self._document_pvalues(mean, half, chunk)
            values = self._spa(pvalues[0]) - self._spa(pvalues[1])
        elif self.flips is not None:
            moves = chunk.masks * half
            values = self._spa_of_flips(mean + moves) - self._spa_of_flips(mean - moves)
        else:
            plus, minus = mixture_sums(mean, half, self.valid, chunk.by_system)
            values = self._spa(sums_to_pvalues(*plus)) - self._spa(sums_to_pvalues(*minus))
        return np.where(self._is_undefined(first, second, chunk), np.nan, values)

    def _document_pvalues(
        self, mean: FloatArray, half: FloatArray, chunk: Chunk
    ) -> tuple[FloatArray, FloatArray]:
        """Return p of all pairs for mean + e half and for mean - e half, masks x pairs.

        A system's e is the same in all segments of a document. With u, v and w the sums over a
        document of the gap of the means, and of the halves of the one and the other system, the
        gap is u + e v - f w; its square has three terms that change with e and f.
        """
        clusters = self.panel.clusters
        firsts = np.unique(clusters, return_index=True)[1]
        signs = chunk.by_system[:, :, firsts].astype(np.float64)
        plus: list[FloatArray] = []
        minus: list[FloatArray] = []
        for a, b in zip(*np.triu_indices(len(mean), 1), strict=True):
            shared = self.valid[a] & self.valid[b]
            gaps = np.where(shared, [mean[a] - mean[b], half[a], half[b]], 0.0)
            u, v, w = sum_by(gaps, clusters)
            size = np.where(shared, [mean[a], mean[b], half[a], half[b]], 0.0)
            e, f = signs[a], signs[b]
            moved, own = e @ v - f @ w, 2.0 * (e @ (u * v) - f @ (u * w))
            fixed = (u * u + v * v + w * w).sum() - 2.0 * ((e * f) @ (v * w))
            for found, sign in ((plus, 1.0), (minus, -1.0)):
                level = u.sum() + sign * moved
                found.append(gaps_to_pvalues(level, fixed + sign * own, (size**2).sum()))
        masks = len(chunk.masks)
        return np.array(plus).reshape(-1, masks).T, np.array(minus).reshape(-1, masks).T

    def _is_undefined(self, first: int, second: int, chunk: Chunk) -> BoolArray:
        x = self.metrics[first].T
        y = snapped(self.metrics[second].T, x)
        if is_constant(self.human, self.valid):
            return np.ones(len(chunk.masks), dtype=np.bool_)
        if not mixture_can_be_constant(x, y):
            return np.zeros(len(chunk.masks), dtype=np.bool_)
        return constant_mixtures(x, y, np.swapaxes(chunk.masks, 1, 2))

    def _spa(self, pvalues: FloatArray) -> FloatArray:
        defined = ~np.isnan(self.human_p)
        if not defined.any():
            return np.full(len(pvalues), np.nan)
        gaps = np.abs(pvalues[:, defined] - self.human_p[defined])
        return np.asarray(1.0 - gaps.mean(axis=1))

    def _spa_of_flips(self, values: FloatArray) -> FloatArray:
        return self._spa(self._pvalues(values))

    def _pvalues(self, values: FloatArray) -> FloatArray:
        if self.flips is None:
            return normal_pvalues(values, self.valid, self.panel.clusters)
        return np.array([pair_pvalues(one, self.valid, self.flips) for one in values])


def mixture_can_be_constant(x: FloatArray, y: FloatArray) -> bool:
    """Tell whether every group has a score that all its members show in x or in y.

    Parameters
    ----------
    x, y
        groups x members, nan where a cell takes no part.
    """
    valid = ~np.isnan(x)
    first = valid.argmax(axis=1)[:, None]
    candidates = (np.take_along_axis(side, first, axis=1) for side in (x, y))
    shown = [((x == value) | (y == value) | ~valid).all(axis=1) for value in candidates]
    return bool((shown[0] | shown[1] | ~valid.any(axis=1)).all())


def constant_mixtures(x: FloatArray, y: FloatArray, masks: NDArray[np.int8]) -> BoolArray:
    """Return, per mask (masks x groups x members), whether a side is constant in every group."""
    result = np.zeros(len(masks), dtype=np.bool_)
    valid = ~np.isnan(x).T
    for row, kept in enumerate(masks > 0):
        mixed, other = np.where(kept, x, y), np.where(kept, y, x)
        result[row] = is_constant(mixed.T, valid) or is_constant(other.T, valid)
    return result


def _table(panel: Panel, index: int, grouping: str) -> PairTable:
    human = grouped(panel.human, panel.valid, grouping)
    metric = grouped(panel.metrics[index], panel.valid, grouping)
    return pair_table(human.T, metric.T)


def _pair_clusters(panel: Panel, table: PairTable, grouping: str) -> IntArray:
    """Return the cluster of each pair of outputs: its two systems and their documents.

    Where no document has two segments every pair is one of its own. Without any pair there is one
    place.
    """
    if unit_of(panel.clusters) == SEGMENTS or not len(table.human):
        return np.arange(max(1, len(table.human)))
    n = int(panel.clusters.max()) + 1
    blocks = np.arange(len(panel.systems))[:, None] * n + panel.clusters
    if grouping == "none":
        members = blocks[panel.valid]
        first, second = members[table.first], members[table.second]
    elif grouping == "item":
        first, second = blocks[table.first, table.groups], blocks[table.second, table.groups]
    else:
        first, second = blocks[table.groups, table.first], blocks[table.groups, table.second]
    low, high = np.minimum(first, second), np.maximum(first, second)
    return recoded(low * (int(blocks.max()) + 1) + high)


def _outcomes(table: PairTable, epsilon: float | None) -> BoolArray:
    if not table.n_groups:
        return np.zeros(0, dtype=np.bool_)
    return table.agreement(table.calibrate()[1] if epsilon is None else epsilon)


def _calibrated(table: PairTable, metric: FloatArray, slack: float) -> float:
    if not table.n_groups:
        return np.nan
    gaps = metric[table.first, table.groups] - metric[table.second, table.groups]
    if not (gaps.any() and table.human.any()):
        return np.nan
    return calibrate(table.human, gaps, table.weights, slack)[0]
