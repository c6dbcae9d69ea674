"""Humans and metrics of a campaign side by side: the arrays that pages and bundles rest on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import metaeval
from annotation.filters import Filters
from annotation.models import Campaign, Output, System
from annotation.once import once
from dashboards.measures import read_measures
from dashboards.selectors import Floats, HumanScores, human_scores
from metrics.scores import MeasureScores

Integers = NDArray[np.int64]
NOTHING = -1


@dataclass(frozen=True, eq=False)
class Frame:
    """Scores over systems × segments, in one order.

    `outputs` holds primary keys, NOTHING where a system has no output for a segment.
    """

    human: HumanScores
    measures: Mapping[str, MeasureScores]
    outputs: Integers

    def turned(self, key: str) -> Floats:
        """A measure with the sign that makes larger better."""
        measure = self.measures[key]
        return measure.values if measure.higher_is_better else -measure.values


def read_frame(campaign: Campaign, filters: Filters) -> Frame:
    """Read the human scores under a reader's filters and all stored metric scores."""
    human = human_scores(campaign, filters)
    outputs = _outputs(human.systems, human.segments)
    return Frame(human, read_measures(campaign, human), outputs)


@once
def _outputs(systems: tuple[System, ...], segments: tuple[int, ...]) -> Integers:
    row = {system.pk: index for index, system in enumerate(systems)}
    column = {segment: index for index, segment in enumerate(segments)}
    grid = np.full((len(row), len(column)), NOTHING, dtype=np.int64)
    places = Output.objects.filter(system__in=systems).order_by()
    for pk, system, segment in places.values_list("pk", "system_id", "segment_id"):
        grid[row[system], column[segment]] = pk
    grid.flags.writeable = False
    return grid


def system_values(measure: MeasureScores, cells: NDArray[np.bool_]) -> Floats:
    """A measure's score of every system over some cells: from summed counts, or the mean.

    `cells` is systems × segments; a system without any is nan. Larger is better.
    """
    sign = 1.0 if measure.higher_is_better else -1.0
    return sign * metaeval.system_scores(
        measure.values, cells, counts=measure.statistics, score=measure.corpus
    )
