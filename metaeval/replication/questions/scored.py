"""Human and metric scores on one grid of systems and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from metaeval.arrays import BoolArray, FloatArray
from metaeval.correlation.hybrids.differences import pairwise_difference_pearson
from metaeval.correlation.hybrids.limits import hybrid_limit_intervals
from metaeval.correlation.hybrids.sampling import HybridCorrelations, hybrid_supersample
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.scores.corpus import CorpusStatistics, ScoreFunction
from metaeval.scores.matrix import ScoreMatrix
from metaeval.scores.oriented import OrientedScores, sides

N_HYBRIDS = 10_000
SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Scored:
    """Human and metric scores by the metrics' keys; a larger oriented score always means better.

    Metrics in ``lower`` are better when lower. ``counts`` are those of metrics whose system score
    is computed from summed counts. ``human_systems`` (one per system, nan if missing) replaces the
    means of the systems' human scores. ``given`` has the system scores that a metric came with (one
    per system, nan if missing); they replace those computed from its segments, of which it may have
    none. ``labels`` name metrics in messages and break ties.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    seed: int
    lower: Sequence[str] = ()
    counts: Mapping[str, CorpusStatistics] = field(default_factory=dict)
    human_systems: FloatArray | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    n_hybrids: int = N_HYBRIDS
    given: Mapping[str, FloatArray] = field(default_factory=dict)

    @cached_property
    def on_segments(self) -> tuple[str, ...]:
        """The metrics that are compared over segments: those that scored enough judged outputs.

        All metrics are compared on the same outputs, so a metric with less than `SHARE` of the
        outputs of the most complete one would leave the others without intervals and ranks.
        """
        counts = {key: self.n_scored(key) for key in self.metrics}
        most = max(counts.values(), default=0)
        return tuple(key for key, n in counts.items() if n and n >= SHARE * most)

    def n_scored(self, key: str) -> int:
        """Return how many judged outputs a metric has scored."""
        return int((self.human.mask & self.metrics[key].mask).sum())

    @cached_property
    def on_systems(self) -> tuple[str, ...]:
        """The metrics that have a score of a system that the humans scored."""
        levels = {key: self.system_level(key, self.system_cells) for key in self.metrics}
        return tuple(
            key
            for key, (ours, theirs) in levels.items()
            if (key in self.given or key in self.on_segments) and np.isfinite(ours + theirs).any()
        )

    @cached_property
    def segment_part(self) -> Scored:
        """The scores of the metrics of `on_segments`."""
        return self._part(self.on_segments)

    @cached_property
    def system_part(self) -> Scored:
        """The scores of the metrics of `on_systems`."""
        return self._part(self.on_systems)

    def _part(self, keys: Sequence[str]) -> Scored:
        if len(keys) == len(self.metrics):
            return self
        return replace(
            self,
            metrics={key: self.metrics[key] for key in keys},
            lower=[key for key in self.lower if key in keys],
            counts={key: each for key, each in self.counts.items() if key in keys},
            given={key: each for key, each in self.given.items() if key in keys},
        )

    @cached_property
    def cells(self) -> FloatArray:
        """Human scores, systems x segments, of the cells that all metrics have; else nan.

        All metrics are compared on the same cells, so a cell that one of them lacks is excluded for
        all. Metrics that scored no judged cell are ignored here.
        """
        if self.metrics and not self.on_segments:
            return np.full(self.human.shape, np.nan)
        return np.where(self.shared, self.human.values, np.nan)

    @cached_property
    def shared(self) -> BoolArray:
        """Where all metrics of `on_segments` have a score; everywhere without such a metric."""
        everywhere = np.ones(self.human.shape, dtype=np.bool_)
        scored = [self.metrics[key].mask for key in self.on_segments]
        return np.asarray(np.logical_and.reduce([everywhere, *scored]))

    def compared(self) -> list[OrientedScores]:
        """Return all metrics oriented, with segment scores only in `cells`."""
        found = {key: self.oriented(key) for key in self.metrics}
        places = {key: self.shared & (key in self.on_segments) for key in found}
        return [
            replace(each, values=np.where(places[key], each.values, np.nan))
            for key, each in found.items()
        ]

    @cached_property
    def system_cells(self) -> BoolArray:
        """The cells behind scores of systems: judged, and scored by all metrics that need them.

        Metrics that came with scores of systems need none.
        """
        needed = [self.metrics[key].mask for key in self.on_segments if key not in self.given]
        return np.asarray(np.logical_and.reduce([self.human.mask, *needed]))

    @property
    def n(self) -> int:
        """Number of cells with all scores."""
        return int(np.isfinite(self.cells).sum())

    @property
    def n_segments(self) -> int:
        """Number of segments with such a cell."""
        return int(np.isfinite(self.cells).any(axis=0).sum())

    @property
    def n_informative(self) -> int:
        """Number of segments with several such cells; the others do not compare systems."""
        return int((np.isfinite(self.cells).sum(axis=0) > 1).sum())

    @property
    def n_systems(self) -> int:
        """Number of systems with such a cell."""
        return int(np.isfinite(self.cells).any(axis=1).sum())

    def sign(self, key: str) -> float:
        """Return -1 if lower is better, else 1."""
        return -1.0 if key in self.lower else 1.0

    @property
    def signs(self) -> FloatArray:
        """`sign` of all metrics."""
        return np.array([self.sign(key) for key in self.metrics])

    def oriented(self, key: str) -> OrientedScores:
        """A metric's scores with the sign that makes larger better."""
        sign, systems = self.sign(key), self.given.get(key)
        values = sign * self.metrics[key].values
        own = None if systems is None else sign * systems
        if key not in self.counts:
            return OrientedScores(values, systems=own)
        counts = self.counts[key]
        return OrientedScores(values, counts.values, _oriented(counts.score, sign), own)

    @property
    def humans(self) -> OrientedScores:
        """The human scores, for which larger is always better."""
        return OrientedScores(self.human.values, systems=self.human_systems)

    @property
    def names(self) -> list[str]:
        """Labels for messages, with the key if two metrics share a label."""
        labels = [self.labels.get(key, key) for key in self.metrics]
        return [
            label if labels.count(label) == 1 else f"{label} ({key})"
            for label, key in zip(labels, self.metrics, strict=True)
        ]

    def matrices(self) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
        """Return the humans and the oriented metrics by name over `cells`."""
        ours = self.human.with_values(self.cells)
        pairs = zip(self.names, self.metrics, strict=True)
        return ours, {name: ours.with_values(self.oriented(key).values) for name, key in pairs}

    def of_systems(self) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
        """Return one human and one oriented score per system, as systems x 1, over `system_cells`.

        A system without a score by one of the metrics is excluded for all of them.
        """
        levels = [self.system_level(key, self.system_cells) for key in self.metrics]
        lost = np.logical_or.reduce([np.isnan(theirs) for _, theirs in levels])
        ours = np.where(lost, np.nan, levels[0][0])
        human = ScoreMatrix(ours[:, None], self.human.systems, ["all"])
        pairs = zip(self.names, levels, strict=True)
        return human, {name: human.with_values(theirs[:, None]) for name, (_, theirs) in pairs}

    @cached_property
    def hybrids(self) -> HybridCorrelations:
        """Hybrid systems, drawn once, for the metrics that have judged segments.

        Raises DataError if no cell has all scores.
        """
        if len(self.on_segments) < len(self.metrics):
            return self.segment_part.hybrids
        return hybrid_supersample(
            self.human.with_values(self.cells),
            {key: each for key, each in self.metrics.items() if key not in self.counts},
            n_hybrids=self.n_hybrids,
            rng=self.seed,
            statistics=self.counts,
        )

    def oriented_hybrids(self) -> dict[str, tuple[float, float]]:
        """Return (r, its limit) over hybrids by metric; empty without metrics or common cells."""
        if not (self.metrics and self.n):
            return {}
        found = self.hybrids
        pairs = zip(found.r.tolist(), found.limit.tolist(), strict=True)
        signs = [self.sign(key) for key in found.metrics]
        return {
            key: (sign * r, sign * limit)
            for key, sign, (r, limit) in zip(found.metrics, signs, pairs, strict=True)
        }

    @cached_property
    def limits(self) -> CorrelationIntervals:
        """Limit of r over hybrids, with intervals over documents, in the order of `metrics`."""
        human, metrics = self.matrices()
        named = dict(zip(self.metrics, metrics.values(), strict=True))
        found = hybrid_limit_intervals(
            human,
            {key: each for key, each in named.items() if key not in self.counts},
            statistics={key: self._oriented_counts(key) for key in self.counts},
        )
        return found.ordered(list(self.metrics))

    @cached_property
    def differences(self) -> CorrelationIntervals:
        """Pairwise difference Pearson, with intervals over documents, in the order of `metrics`."""
        return pairwise_difference_pearson(*self.matrices())

    def _oriented_counts(self, key: str) -> CorpusStatistics:
        counts = self.counts[key]
        score = _oriented(counts.score, self.sign(key))
        return CorpusStatistics(
            counts.values, counts.systems, counts.segments, score, counts.documents
        )

    def system_level(
        self, key: str, cells: BoolArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the systems' human scores and their oriented scores of one metric (`sides`)."""
        return sides(self.humans, self.oriented(key), cells)


def _oriented(score: ScoreFunction, sign: float) -> ScoreFunction:
    return lambda sums: sign * score(sums)
