"""One name for each way to measure agreement of a metric with humans, with its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import FloatArray, one_of, positive_int
from metaeval.chunks import Chunk
from metaeval.correlations import GROUPINGS, correlation_alone, system_correlation
from metaeval.pairwise import acc_eq, kendall_like, pairwise_accuracy
from metaeval.panels import Panel
from metaeval.permuted import OrderTest, PearsonTest
from metaeval.permuted_pairs import (
    AccEqPairsTest,
    AccEqTest,
    KendallLikeTest,
    SoftPairwiseTest,
    SystemLevelTest,
)
from metaeval.results import StatisticResult
from metaeval.soft_pairwise import sign_flips, soft_pairwise_accuracy, soft_pairwise_limit
from metaeval.swaps import SWAPS

CORRELATIONS = (
    "pearson",
    "spearman",
    "kendall",
    "kendall_like",
    "acc_eq",
    "pairwise_accuracy",
    "soft_pairwise_accuracy",
)
SYSTEM_LEVEL = "system-level"
PLAIN = ("pearson", "spearman", "kendall")


class PermutedTest(Protocol):
    """What a permutation test asks of a measure."""

    def chunk(self, masks: NDArray[np.int8]) -> Chunk:
        """Arrange masks."""

    def linear(self, first: int, second: int) -> FloatArray | None:
        """Return coefficients where the difference is linear in the mask."""

    def differences(self, first: int, second: int, chunk: Chunk) -> FloatArray:
        """Return the difference of two metrics for each mask."""


@dataclass(frozen=True)
class Measure:
    """A correlation with its options; raises ValueError where they do not go together.

    Parameters
    ----------
    correlation
        One of CORRELATIONS.
    grouping
        ``none``, ``item``, ``system`` (the mean over groups) or ``system-level`` (system means
        are correlated). Default: ``item`` for acc_eq and kendall_like, system-level for the two
        accuracies of systems, else ``none``.
    variant
        Kendall's ``b`` or ``c``.
    threshold
        Of `kendall_like`.
    epsilon
        Of `acc_eq`; None calibrates it.
    n_flips
        Of `soft_pairwise_accuracy`: sign flips behind its p-values; None takes their limit.
    """

    correlation: str = "pearson"
    grouping: str | None = None
    variant: str = "b"
    threshold: float = 25.0
    epsilon: float | None = None
    n_flips: int | None = None

    def __post_init__(self) -> None:
        one_of("correlation", self.correlation, CORRELATIONS)
        one_of("variant", self.variant, ("b", "c"))
        if self.n_flips is not None:
            positive_int("n_flips", self.n_flips)
        if self.grouping is None:
            object.__setattr__(self, "grouping", self._default_grouping())
        allowed: tuple[str, ...]
        allowed = (*GROUPINGS, SYSTEM_LEVEL) if self.correlation in PLAIN else GROUPINGS
        if self.correlation in CORRELATIONS[5:]:
            allowed = (SYSTEM_LEVEL,)
        one_of("grouping", str(self.grouping), allowed)

    @property
    def label(self) -> str:
        """A name for results, such as ``kendall-b, by item``."""
        suffix = f"-{self.variant}" if self.correlation == "kendall" else ""
        by = {"none": "no grouping", SYSTEM_LEVEL: SYSTEM_LEVEL}
        return f"{self.correlation}{suffix}, {by.get(self.group, f'by {self.group}')}"

    @property
    def group(self) -> str:
        """The grouping in use."""
        return str(self.grouping)

    def value(self, panel: Panel, index: int, seed: int = 0) -> StatisticResult:
        """Return the statistic of one metric, by the public function."""
        human, metric = panel.human_matrix(), panel.matrix(index)
        name = self.correlation
        if name == "kendall_like":
            return kendall_like(human, metric, threshold=self.threshold, grouping=self.group)
        if name == "acc_eq":
            return acc_eq(human, metric, grouping=self.group, epsilon=self.epsilon)
        if name == "pairwise_accuracy":
            return pairwise_accuracy(human, metric)
        if name == "soft_pairwise_accuracy":
            if self.n_flips is None:
                return soft_pairwise_limit(panel.human, panel.metrics[index], panel.valid)
            return soft_pairwise_accuracy(human, metric, n_resamples=self.n_flips, rng=seed)
        if self.group == SYSTEM_LEVEL:
            return system_correlation(human, metric, method=name, variant=self.variant)
        return correlation_alone(human, metric, name, variant=self.variant, grouping=self.group)

    def default_swap(self) -> str:
        """Pairs of outputs for acc_eq, as in WMT; cells for everything else."""
        return "pairs" if self.correlation == "acc_eq" else "both"

    def test(self, panel: Panel, swap: str, seed: int) -> tuple[PermutedTest, tuple[int, int]]:
        """Return the permutation test and the shape of its masks."""
        one_of("swap", swap, SWAPS)
        if (swap == "pairs") != (self.correlation == "acc_eq" and swap == "pairs"):
            raise ValueError(f"swap: 'pairs' is a test of acc_eq, not of {self.correlation}")
        if swap != "pairs" and self.epsilon is not None:
            raise ValueError("epsilon: cells of two metrics swap only with calibrated thresholds")
        if swap == "pairs":
            pairs = AccEqPairsTest(panel, self.group, self.epsilon)
            return pairs, pairs.shape
        return self._cellwise(panel, seed), panel.valid.shape  # type: ignore[return-value]

    def _cellwise(self, panel: Panel, seed: int) -> PermutedTest:
        name, group = self.correlation, self.group
        kind = f"kendall_{self.variant}" if name == "kendall" else name
        if name == "soft_pairwise_accuracy":
            flips = self.n_flips and sign_flips(seed, self.n_flips, panel.valid.shape[1])
            return SoftPairwiseTest(panel, None if self.n_flips is None else np.asarray(flips))
        if group == SYSTEM_LEVEL:
            return SystemLevelTest(panel, kind)
        if name == "kendall_like":
            return KendallLikeTest(panel, group, self.threshold)
        if name == "acc_eq":
            return AccEqTest(panel, group)
        return PearsonTest(panel, group) if name == "pearson" else OrderTest(panel, group, kind)

    def _default_grouping(self) -> str:
        if self.correlation in CORRELATIONS[5:]:
            return SYSTEM_LEVEL
        return "none" if self.correlation in PLAIN else "item"
