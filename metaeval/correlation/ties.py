"""Pairs of outputs within groups, and the calibration of metric ties over all thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.rounding import SHARE, largest

# Two sums of weights closer than this are one optimum: only rounding parts them.
TOLERANCE = 1e-10
# More cells in one group than this make more pairs than fit in the memory a statistic may take.
MAX_POOLED_CELLS = 8_000


@dataclass(frozen=True, eq=False)
class PairTable:
    """All pairs of one group, for every group.

    ``human`` and ``metric`` are the differences of each pair, ``weights`` sum to 1: a pair's
    share in the mean over groups of the mean over pairs. ``groups`` numbers each pair's group,
    ``first`` and ``second`` its members. Sizes of metric differences within ``slack`` are equal.
    """

    human: FloatArray
    metric: FloatArray
    weights: FloatArray
    groups: IntArray
    first: IntArray
    second: IntArray
    n_groups: int
    slack: float

    @property
    def constant(self) -> str:
        """Name a side whose scores are equal in every group; empty if there is none."""
        if not len(self.human):
            return ""
        return "metric" if not self.metric.any() else "" if self.human.any() else "human"

    def accuracy(self, epsilon: float) -> float:
        """Return the weighted share of agreeing pairs at one threshold."""
        return float(self.weights @ self.agreement(epsilon))

    def agreement(self, epsilon: float) -> BoolArray:
        """Return, per pair, whether metric and humans agree at one threshold."""
        tied = np.abs(self.metric) <= epsilon
        same = np.sign(self.human) == np.sign(self.metric)
        return np.where(tied, self.human == 0.0, same & (self.metric != 0.0))

    def calibrate(self) -> tuple[float, float]:
        """Return the best accuracy and the smallest threshold that reaches it."""
        return calibrate(self.human, self.metric, self.weights, self.slack)


def uninformed_accuracy(human: FloatArray) -> float:
    """Return the accuracy with calibrated ties that a metric without information reaches.

    A threshold that ties a share q of the pairs at random gives q t + (1 - q)(1 - t) / 2, with t
    the share of pairs that the humans tie (the mean over groups): largest at an end, so it is t or
    (1 - t) / 2. ``human`` is groups x members, nan where missing; nan without any pair.

    Examples
    --------
    >>> uninformed_accuracy(np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 2.0]])).__round__(4)
    0.4167
    """
    tied = tied_share(human)
    return max(tied, (1.0 - tied) / 2.0)


def tied_share(human: FloatArray) -> float:
    """Return the share of pairs that the humans tie, the mean over groups; nan without any pair.

    That is the accuracy of a metric with one value for everything. ``human`` is groups x members.
    """
    shares = [_tied_share(group[~np.isnan(group)]) for group in human]
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else np.nan


def _tied_share(values: FloatArray) -> float | None:
    n = len(values)
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1.0)).sum() / (n * (n - 1.0))) if n > 1 else None


def calibrate(
    human: FloatArray, metric: FloatArray, weights: FloatArray, slack: float
) -> tuple[float, float]:
    """Maximise the weighted agreement over all thresholds in one sort.

    Raising the threshold past a pair makes it tied: it then agrees iff the humans tie, and no
    longer iff the signs are equal. So the accuracy at every threshold is a running sum over the
    pairs in order of their metric difference. Sizes that differ by at most ``slack`` are one
    threshold: .3 - .2 and .2 - .1 differ in the last bit.
    """
    concordant = ((human > 0.0) & (metric > 0.0)) | ((human < 0.0) & (metric < 0.0))
    gains = (human == 0.0).view(np.int8) - concordant.view(np.int8)
    given = np.abs(metric)
    if not len(weights) or np.ptp(weights) == 0.0:
        sizes, counts = _counted(given, gains)
        weight = float(weights.max(initial=0.0))
        running, known = counts * weight, np.count_nonzero(concordant) * weight
    else:
        order = np.argsort(given)
        sizes, running = given[order], np.cumsum((weights * gains)[order])
        known = float(weights @ concordant)
    last = np.flatnonzero(np.append(np.diff(sizes) > slack, True))
    thresholds, values = sizes[last[: len(sizes)]], running[last[: len(sizes)]]
    if not len(sizes) or sizes[0] > 0.0:
        thresholds, values = np.append(0.0, thresholds), np.append(0.0, values)
    best = int(np.argmax(values >= values.max() - TOLERANCE))
    threshold = given.max(initial=0.0, where=given <= thresholds[best])
    return float(known + values[best]), float(threshold)


def _counted(sizes: FloatArray, gains: NDArray[np.int8]) -> tuple[FloatArray, IntArray]:
    """Return the sizes in order, and the running sums of their gains, for pairs of one weight.

    The gain takes the place of a size's last two bits, so that numbers are sorted and not places:
    a fifth of the time. Sizes come back at most 3 units of their last place larger, zero as zero.
    """
    marked = (sizes.view(np.int64) & ~3) | (gains + 1)
    marked.sort()
    ordered = (marked | 3).view(np.float64)
    ordered[marked < 4] = 0.0
    return ordered, np.cumsum((marked & 3) - 1)


def pair_table(human: FloatArray, metric: FloatArray) -> PairTable:
    """Return all pairs of rows within each column, over cells present on both sides.

    Parameters
    ----------
    human, metric
        members x groups (systems x segments for grouping by item), nan where missing.
    """
    upper, lower = np.triu_indices(human.shape[0], 1)
    d_human, d_metric = human[upper] - human[lower], metric[upper] - metric[lower]
    valid = ~(np.isnan(d_human) | np.isnan(d_metric))
    sizes = valid.sum(axis=0)
    n_groups = int((sizes > 0).sum())
    pairs, groups = np.nonzero(valid)
    return PairTable(
        human=d_human[valid],
        metric=d_metric[valid],
        weights=1.0 / (sizes[groups] * max(n_groups, 1)),
        groups=groups.astype(np.int64),
        first=upper[pairs].astype(np.int64),
        second=lower[pairs].astype(np.int64),
        n_groups=n_groups,
        slack=SHARE * largest(metric),
    )
