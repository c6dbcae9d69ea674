"""What the humans and the metrics say, on one grid of systems and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from metaeval.arrays import FloatArray, row_means
from metaeval.corpus import CorpusStatistics
from metaeval.hybrids import HybridCorrelations, hybrid_supersample
from metaeval.scores import ScoreMatrix

N_HYBRIDS = 10_000


@dataclass(frozen=True, eq=False)
class Scored:
    """Human and metric scores by the metrics' keys; a larger turned score always means better.

    Metrics in ``lower`` are better when lower. ``counts`` are of metrics whose score of a system
    is made of summed counts. ``human_systems`` (one a system, nan where there is none) replaces
    the means of the systems' human scores. ``labels`` name metrics in sentences and break ties.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    seed: int
    lower: Sequence[str] = ()
    counts: Mapping[str, CorpusStatistics] = field(default_factory=dict)
    human_systems: FloatArray | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    n_hybrids: int = N_HYBRIDS

    @cached_property
    def cells(self) -> FloatArray:
        """Human scores, systems x segments, of the cells that all metrics have; else nan.

        All metrics are compared on the same cells, so one that a metric has not scored is left
        out for all.
        """
        scored = [~np.isnan(metric.values) for metric in self.metrics.values()]
        return np.where(np.logical_and.reduce(scored), self.human.values, np.nan)

    @property
    def n(self) -> int:
        """How many cells all of them have."""
        return int(np.isfinite(self.cells).sum())

    def sign(self, key: str) -> float:
        """-1 where lower is better."""
        return -1.0 if key in self.lower else 1.0

    @property
    def signs(self) -> FloatArray:
        """`sign` of all metrics."""
        return np.array([self.sign(key) for key in self.metrics])

    def turned(self, key: str) -> FloatArray:
        """A metric's values with the sign that makes larger better."""
        return np.asarray(self.sign(key) * self.metrics[key].values)

    @property
    def names(self) -> list[str]:
        """Labels for sentences; with the key where two metrics share a label."""
        labels = [self.labels.get(key, key) for key in self.metrics]
        return [
            label if labels.count(label) == 1 else f"{label} ({key})"
            for label, key in zip(labels, self.metrics, strict=True)
        ]

    def matrices(self) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
        """Return the humans and the turned metrics by name over `cells`."""
        ours = self.human.with_values(self.cells)
        pairs = zip(self.names, self.metrics, strict=True)
        return ours, {name: ours.with_values(self.turned(key)) for name, key in pairs}

    def of_systems(self) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
        """Return one human and one turned score a system, as systems x 1."""
        sides = [self.system_level(key) for key in self.metrics]
        human = ScoreMatrix(sides[0][0][:, None], self.human.systems, ["all"])
        pairs = zip(self.names, sides, strict=True)
        return human, {name: human.with_values(theirs[:, None]) for name, (_, theirs) in pairs}

    @cached_property
    def hybrids(self) -> HybridCorrelations:
        """Hybrid systems, drawn once; ValueError where no cell has everything."""
        return hybrid_supersample(
            self.human.with_values(self.cells),
            {key: each for key, each in self.metrics.items() if key not in self.counts},
            n_hybrids=self.n_hybrids,
            rng=self.seed,
            statistics=self.counts,
        )

    def system_level(self, key: str) -> tuple[FloatArray, FloatArray]:
        """Return the systems' human scores and their turned scores of one metric.

        Published system scores are of whole systems: there the metric covers every output. Else
        both sides cover the outputs that humans judged.
        """
        values = self.turned(key)
        if self.human_systems is None:
            cells = ~np.isnan(self.human.values) & ~np.isnan(values)
            ours = row_means(self.human.values)
        else:
            cells, ours = ~np.isnan(values), self.human_systems
        if key not in self.counts:
            return ours, row_means(np.where(cells, values, np.nan))
        counts = self.counts[key]
        sums = np.where(cells[:, :, None], counts.values, 0.0).sum(axis=1)
        scored = self.sign(key) * counts.score(sums)
        return ours, np.where(cells.any(axis=1), scored, np.nan)
