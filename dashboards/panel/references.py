"""Systems that are references, which no metric that reads them is compared on."""

from dataclasses import replace

import numpy as np

from annotation.models import Reference, System, TestSet
from core.caching import memo
from core.text import join_truncated, pluralize
from dashboards.panel.human import HumanScores
from metaeval.scores.human_systems import scored_against_itself
from metrics.base import IMPORTED, MetricInfo, Scores, ScoreWarning
from metrics.catalogue import infos
from metrics.scores import MeasureScores

NAMED = 5


def without_own_references(
    test_set: TestSet, human: HumanScores, measure: MeasureScores
) -> MeasureScores:
    """Return a measure without scores of texts against themselves, and with a warning of them."""
    places = [
        place for place, system in enumerate(human.systems)
        if system.reference and _reads(test_set, measure, system)
    ]  # fmt: skip
    if not places:
        return measure
    values = _blank(measure.values, places)
    lost = int((np.isfinite(measure.values) & ~np.isfinite(values)).sum())
    named = join_truncated([human.names[place] for place in places], NAMED)
    outputs = pluralize(lost, "output")
    if measure.is_imported:
        about = f"the scores of {outputs} against themselves as references are left out: {named}."
    else:
        about = f"The scores of {outputs} against themselves as references are left out: {named}."
    warning = ScoreWarning("own_reference", about)
    return replace(
        measure,
        values=values,
        statistics=None if measure.statistics is None else _blank(measure.statistics, places),
        systems=None if measure.systems is None else _blank(measure.systems, places),
        own_references=tuple(places),
        warnings=(*measure.warnings, warning) if lost else measure.warnings,
    )


def _blank(scores: Scores, places: list[int]) -> Scores:
    found = scores.copy()
    found[places] = np.nan
    return found


def _reads(test_set: TestSet, measure: MeasureScores, system: System) -> bool:
    """Whether a measure reads the reference that a system is.

    Of imported scores only the name of the metric tells, as mt-metrics-eval writes it.
    """
    info: MetricInfo | None = infos(retired=True).get(measure.metric)
    if measure.is_imported or (info and info.family == IMPORTED):
        name = measure.label.partition(" (")[0]
        return bool(scored_against_itself(name, {system.name: system.reference}))
    if info is None or not info.references:
        return False
    return info.references != "first" or system.reference == _first_reference(test_set)


@memo
def _first_reference(test_set: TestSet) -> str:
    rows = Reference.objects.filter(segment__test_set=test_set).order_by()
    return min(rows.values_list("name", flat=True).distinct(), default="")
