"""What a campaign's humans and its metrics say, on one grid of systems and segments."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import metaeval
from annotation.models import Campaign
from dashboards.filters import Filters
from dashboards.selectors import ALL, Floats, HumanScores, human_scores
from metrics.scores import MeasureScores, system_scores

N_HYBRIDS = 10_000


@dataclass(frozen=True, eq=False)
class Scored:
    """Human and metric scores of a campaign; a larger turned score always means better."""

    human: HumanScores
    measures: Sequence[MeasureScores]
    seed: int

    @cached_property
    def cells(self) -> Floats:
        """Human scores, systems x segments, of the cells that all measures have; else nan.

        All metrics are compared on the same cells, so one that a metric has not scored is left
        out for all.
        """
        scored = [~np.isnan(measure.values) for measure in self.measures]
        return np.where(np.logical_and.reduce(scored), self.human.values, np.nan)

    @property
    def n(self) -> int:
        """How many cells all of them have."""
        return int(np.isfinite(self.cells).sum())

    @staticmethod
    def sign(measure: MeasureScores) -> float:
        """-1 where lower is better."""
        return 1.0 if measure.higher_is_better else -1.0

    @property
    def signs(self) -> Floats:
        """`sign` of all measures."""
        return np.array([self.sign(measure) for measure in self.measures])

    @property
    def names(self) -> list[str]:
        """Labels of the measures for sentences; with the key where two share a label."""
        labels = [measure.label for measure in self.measures]
        return [
            measure.label
            if labels.count(measure.label) == 1
            else f"{measure.label} ({measure.key})"
            for measure in self.measures
        ]

    def matrices(self) -> tuple[metaeval.ScoreMatrix, dict[str, metaeval.ScoreMatrix]]:
        """Return the humans and the turned measures by name over `cells`."""
        ours = self.human.matrix(self.cells)
        pairs = zip(self.names, self.measures, strict=True)
        return ours, {name: ours.with_values(self.sign(m) * m.values) for name, m in pairs}

    def of_systems(self) -> tuple[metaeval.ScoreMatrix, dict[str, metaeval.ScoreMatrix]]:
        """Return one human and one turned score a system, as systems x 1."""
        sides = [self.system_level(measure) for measure in self.measures]
        ours = sides[0][0]
        human = metaeval.ScoreMatrix(ours[:, None], self.human.names, ["all"])
        pairs = zip(self.names, sides, strict=True)
        return human, {name: human.with_values(theirs[:, None]) for name, (_, theirs) in pairs}

    @cached_property
    def hybrids(self) -> metaeval.HybridCorrelations:
        """Draw hybrid systems; ValueError where no cell has everything."""
        return metaeval.hybrid_supersample(
            self.human.matrix(self.cells),
            {m.key: self.human.matrix(m.values) for m in self.measures if m.statistics is None},
            n_hybrids=N_HYBRIDS,
            rng=self.seed,
            statistics={
                m.key: metaeval.CorpusStatistics(
                    m.statistics, self.human.names, [str(s) for s in self.human.segments], m.corpus
                )
                for m in self.measures
                if m.statistics is not None and m.corpus is not None
            },
        )

    def system_level(self, measure: MeasureScores) -> tuple[Floats, Floats]:
        """Return the systems' human scores and their turned scores of one measure.

        Published system scores are of whole systems: there the metric covers every output. Else
        both sides cover the outputs that humans judged.
        """
        values = self.sign(measure) * measure.values
        if self.human.published_systems is None:
            cells, ours = ~np.isnan(self.human.values) & ~np.isnan(values), means(self.human.values)
        else:
            cells, ours = ~np.isnan(values), self.human.published_systems
        if measure.statistics is None or measure.corpus is None:
            return ours, means(np.where(cells, values, np.nan))
        sums = np.where(cells[:, :, None], measure.statistics, 0.0).sum(axis=1)
        scored = self.sign(measure) * measure.corpus(sums)
        return ours, np.where(cells.any(axis=1), scored, np.nan)


def read(campaign: Campaign, filters: Filters | str = ALL) -> Scored:
    """Read the judgments that filters choose and the stored scores of every table's measures."""
    human = human_scores(campaign, filters)
    table = system_scores(campaign.test_set, human.systems)
    return Scored(human, list(table.measures.values()), campaign.seed)


def means(values: Floats) -> Floats:
    """Row means over what is there; nan for an empty row, without numpy's complaint."""
    present = ~np.isnan(values)
    counts = present.sum(axis=1)
    sums = np.where(present, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
