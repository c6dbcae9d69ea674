"""Compute tables 9 and 10 of a campaign: all MT systems by every measure, and their lengths.

Unlike the page on MT systems, marks compare all systems of the length ratio, also those that nobody
judged: they need only the scores of a metric.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.filters.systems import unique_names
from annotation.models import Campaign, System
from dashboards.documents.computing import settled
from dashboards.documents.head import CampaignDocument, head
from dashboards.panel.panel import Panel, read_panel
from dashboards.systems.document import N_RESAMPLES, SystemsChoice
from dashboards.systems.outside import Lengths, deviations, judged_of, others_of
from metaeval.scores import CorpusStatistics, ScoreMatrix
from metaeval.systems import system_table
from metrics.scores import system_scores

VERSION = 2


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A system by one measure: its `score` over `n` segments, `rank`, and mark against the next."""

    measure: str
    system: str
    score: float | None
    n: int
    rank: int
    p: float | None
    mark: str


@dataclass(frozen=True, kw_only=True)
class Standings(CampaignDocument):
    """The document; `systems` in the order of their import, the `n_judged` judged ones first."""

    systems: Sequence[str]
    n_judged: int
    labels: dict[str, str]
    rows: Sequence[Standing]
    lengths: Lengths
    n_resamples: int = N_RESAMPLES
    seed: int


FILTERS = SystemsChoice
DOCUMENT = Standings


def compute(campaign: Campaign, filters: Filters) -> Standings:
    """Return every measure's systems, each tested by the paired bootstrap, and their lengths."""
    if not isinstance(filters, SystemsChoice):
        filters = SystemsChoice(**vars(filters))
    panel = read_panel(campaign, filters)
    judged, others = (
        sorted(each, key=lambda one: one.pk)
        for each in (judged_of(panel), others_of(campaign, panel))
    )
    systems = (*judged, *others)
    lengths, notes = deviations(
        campaign, panel, filters.length_unit, filters.wanted, filters.rounding, systems=systems
    )
    return Standings(
        **head(campaign, panel.human),
        systems=unique_names(systems),
        n_judged=len(panel.human.judged_systems),
        labels={key: str(measure.label) for key, measure in panel.measures.items()},
        rows=_rows(campaign, panel, systems, filters.versus),
        lengths=lengths,
        seed=panel.seed,
        warnings=list(dict.fromkeys([*panel.human.warnings, *notes])),
    )


def _rows(
    campaign: Campaign, panel: Panel, systems: Sequence[System], versus: str
) -> list[Standing]:
    """Return all systems by every measure; without human scores, all of them are compared."""
    if not systems or not panel.measures:
        return []
    names, found = unique_names(systems), system_scores(campaign.test_set, systems)
    place = {segment: column for column, segment in enumerate(found.segments)}
    columns = [place[segment] for segment in panel.human.segments]
    blank = ScoreMatrix(
        np.full((len(systems), len(columns)), np.nan),
        names,
        map(str, panel.human.segments),
        panel.human.documents,
    )
    measures = {key: found.measures[key] for key in panel.measures if key in found.measures}
    table = system_table(
        blank,
        {
            key: blank.with_values(one.values[:, columns])
            if one.statistics is None or one.corpus is None
            else CorpusStatistics(
                one.statistics[:, columns], names, blank.segments, one.corpus, blank.documents
            )
            for key, one in measures.items()
        },
        lower=[key for key, one in measures.items() if not one.higher_is_better],
        versus=versus,
        n_resamples=N_RESAMPLES,
        rng=panel.seed,
    )
    return [
        settled(
            Standing(
                measure=column.metric,
                system=name,
                score=float(column.scores[n]),
                n=int(column.counts[n]),
                rank=n + 1,
                p=float(column.pvalues[n]),
                mark=column.marks[n],
            )
        )
        for column in table.columns
        for n, name in enumerate(column.systems)
    ]
