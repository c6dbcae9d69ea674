"""Differences between two metrics' pairwise statistics under permutation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, mean_along
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import Panel, grouped, snapped
from metaeval.correlation.soft_pairwise import (
    is_constant,
    mixture_sums,
    normal_pvalues,
    pair_pvalues,
    sums_to_pvalues,
)
from metaeval.correlation.ties import PairTable, calibrate, pair_table
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

    The mask has one entry per pair of outputs, and the difference is linear in it.
    """

    def __init__(self, panel: Panel, grouping: str, epsilon: float | None) -> None:
        self.panel = panel
        self.tables = [_table(panel, index, grouping) for index in range(len(panel.names))]
        self.outcomes = [_outcomes(table, epsilon) for table in self.tables]

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a mask: one row of pairs."""
        return 1, max(1, len(self.tables[0].human))

    def chunk(self, masks: NDArray[np.int8]) -> Chunk:
        """Arrange masks for this test."""
        return Chunk(masks, self.panel.valid[:1], "system")

    def linear(self, first: int, second: int) -> FloatArray:
        """Return one coefficient per pair of outputs; nan where a metric is constant."""
        if not self.tables[0].n_groups:
            return np.full(1, np.nan)
        if self.tables[first].constant or self.tables[second].constant:
            return np.full(self.shape[1], np.nan)
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
        self.filled = np.nan_to_num(self.metrics)
        self.human_p = self._pvalues(self.human[None])[0]

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference for each mask."""
        x, y = self.filled[first], self.filled[second]
        # Only differences within a segment count; small numbers suit single precision.
        middle = (x + y).sum(axis=0) / 2.0 / np.maximum(self.valid.sum(axis=0), 1)
        x, y = np.where(self.valid, x - middle, 0.0), np.where(self.valid, y - middle, 0.0)
        mean, half = (x + y) / 2.0, (x - y) / 2.0
        if self.flips is not None:
            moves = chunk.masks * half
            values = self._spa_of_flips(mean + moves) - self._spa_of_flips(mean - moves)
        else:
            plus, minus = mixture_sums(mean, half, self.valid, chunk.by_system)
            values = self._spa(sums_to_pvalues(*plus)) - self._spa(sums_to_pvalues(*minus))
        return np.where(self._is_undefined(first, second, chunk), np.nan, values)

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
            return normal_pvalues(values, self.valid)
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
