"""What a campaign's humans and its metrics say, on one grid of systems and segments."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import metaeval
from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.measures import read_measures
from dashboards.selectors import ALL, Floats, HumanScores, human_scores
from metaeval import questions
from metaeval.questions import N_HYBRIDS
from metrics.scores import MeasureScores

__all__ = ["N_HYBRIDS", "Scored", "read"]


@dataclass(frozen=True, eq=False)
class Scored:
    """Human and metric scores of a campaign; a larger turned score always means better."""

    human: HumanScores
    measures: Sequence[MeasureScores]
    seed: int

    @cached_property
    def panel(self) -> questions.Scored:
        """The same without a database, for `metaeval.questions`."""
        ours = self.human.matrix()
        return questions.Scored(
            ours,
            {measure.key: ours.with_values(measure.values) for measure in self.measures},
            self.seed,
            lower=[measure.key for measure in self.measures if not measure.higher_is_better],
            counts={
                m.key: metaeval.CorpusStatistics(
                    m.statistics, ours.systems, ours.segments, m.corpus
                )
                for m in self.measures
                if m.statistics is not None and m.corpus is not None
            },
            human_systems=self.human.published_systems,
            labels={measure.key: measure.label for measure in self.measures},
            given={m.key: m.systems for m in self.measures if m.systems is not None},
        )

    @property
    def cells(self) -> Floats:
        """Human scores, systems x segments, of the cells that all measures have; else nan."""
        return self.panel.cells

    @property
    def n(self) -> int:
        """How many cells all of them have."""
        return self.panel.n

    @staticmethod
    def sign(measure: MeasureScores) -> float:
        """-1 where lower is better."""
        return 1.0 if measure.higher_is_better else -1.0

    def matrices(self) -> tuple[metaeval.ScoreMatrix, dict[str, metaeval.ScoreMatrix]]:
        """Return the humans and the turned measures by name over `cells`."""
        return self.panel.matrices()

    @property
    def hybrids(self) -> metaeval.HybridCorrelations:
        """Hybrid systems, drawn once; ValueError where no cell has everything."""
        return self.panel.hybrids

    def system_level(self, measure: MeasureScores) -> tuple[Floats, Floats]:
        """Return the systems' human scores and their turned scores of one measure."""
        return self.panel.system_level(measure.key)


def read(campaign: Campaign, filters: Filters | str = ALL) -> Scored:
    """Read the judgments that filters choose and the stored scores of every table's measures."""
    human = human_scores(campaign, filters)
    return Scored(human, list(read_measures(campaign, human).values()), campaign.seed)
