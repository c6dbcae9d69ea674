"""Differences between two metrics' pairwise statistics under permutation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray, mean_along
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import Panel, grouped, snapped
from metaeval.correlation.soft_pairwise import is_constant
from metaeval.correlation.ties import PairTable, calibrate, pair_table
from metaeval.documents import DOCUMENTS, SEGMENTS, recoded, sum_by, unit_of
from metaeval.rounding import SHARE, largest, round_to_ties
from metaeval.significance.permutation.correlations import GroupedTest, slices
from metaeval.significance.permutation.masks import Chunk, Swaps
from metaeval.significance.permutation.mixtures import Kernel, joint_codes


class KendallLikeTest(GroupedTest):
    """WMT's Kendall-like tau: pooled counts, so the difference is linear in the mask."""

    def __init__(self, panel: Panel, grouping: str, threshold: float) -> None:
        super().__init__(panel, grouping)
        self.n_held = panel.valid.size
        self.kernel = Kernel(self.human, "kendall_like", threshold)
        codes = joint_codes(self.human, self.human)[0]
        self.n_pairs = self.kernel.own_sums(codes).sum() / 2.0
        self._own: dict[int, FloatArray] = {}

    def linear(self, first: int, second: int) -> FloatArray | None:
        """Return systems x segments coefficients, unless some mixture may be constant."""
        x = self.metrics[first]
        y = snapped(self.metrics[second], x)
        return None if mixture_can_be_constant(x, y) else self._coefficients(first, second)

    def difference(self, first: int, second: int, chunk: Chunk) -> FloatArray:
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
                self._own[index] = self.kernel.own_sums(own)
        rows, columns = self.kernel.sums(*codes, None)
        b = (self._own[first] - self._own[second] + rows - columns) / 4.0
        return self.spread(4.0 * b / (self.n_pairs or np.nan))


class AccEqPairsTest:
    """acc_eq with each metric's threshold fixed: pairs of outputs swap their outcomes.

    A mask has one entry per pair of outputs; pairs of the same two systems and the same two
    documents swap together. The difference of two metrics is that of two sums, each linear in the
    mask, so that no more than every metric's sums are computed. ``weights`` are the pairs' shares
    in the statistic; if documents have several segments, ``outcomes`` include them.
    """

    def __init__(self, panel: Panel, grouping: str, epsilon: float | None) -> None:
        tables = (_table(panel, index, grouping) for index in range(len(panel.names)))
        outcomes = []
        self.is_constant = np.zeros(len(panel.names), dtype=np.bool_)
        for index, table in enumerate(tables):
            outcomes.append(_outcomes(table, epsilon))
            self.is_constant[index] = bool(table.constant) or not table.n_groups
            if not index:
                self.weights: FloatArray = table.weights
                self.clusters: IntArray = _pair_clusters(panel, table, grouping)
        self.outcomes: NDArray[Any] = np.array(outcomes)
        if unit_of(self.clusters) == DOCUMENTS:
            self.outcomes = sum_by(self.outcomes * self.weights, self.clusters)
            self.weights = np.ones(self.outcomes.shape[1])

    def permuted(
        self, pairs: Sequence[tuple[int, int]], swaps: Swaps
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Yield some of the pairs of metrics and their differences under all masks."""
        if not self.outcomes.shape[1]:
            sums = np.full((len(self.outcomes), swaps.n_resamples + 1), np.nan)
        else:
            sums = swaps.sums(self.outcomes, self.weights)
        sums[self.is_constant] = np.nan
        for some in slices(len(pairs), sums.shape[1]):
            first, second = np.array(pairs[some]).T
            yield some, sums[first] - sums[second]


class AccEqTest(GroupedTest):
    """acc_eq with cells swapped and the threshold calibrated again in every permutation."""

    def difference(self, first: int, second: int, chunk: Chunk) -> FloatArray:
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
        self.n_made = len(self.human) * len(self.metrics)
        self.means = round_to_ties(mean_along(self.human), largest(self.human))

    def difference(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask."""
        known = np.nan_to_num(self.metrics)
        counts = np.where(self.counts > 0, self.counts, np.nan)
        if chunk.sums is None:
            # Metrics x masks x systems.
            of_systems = [
                np.matmul(a, b.T)
                for a, b in zip(chunk.by_system, known.swapaxes(0, 1), strict=True)
            ]
            chunk.sums = np.array(of_systems).transpose(2, 1, 0) / counts
        middle = (known[first] + known[second]).sum(axis=1) / 2.0 / counts
        shift = (chunk.sums[first] - chunk.sums[second]) / 2.0
        size = self.size(first, second)
        sides = round_to_ties(middle + shift, size), round_to_ties(middle - shift, size)
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

    If no document has two segments, every pair is a cluster of its own. Without any pair there is
    one cluster.
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
