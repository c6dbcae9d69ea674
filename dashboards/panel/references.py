"""Exclude the scores that a metric gives to the reference that it reads."""

from dataclasses import replace

import numpy as np

from annotation.models import Reference, System, TestSet
from core.caching import memo
from dashboards.panel.human import HumanScores
from metaeval.messages import Message, plural, truncated
from metaeval.scores.human_systems import scored_against_itself
from metrics.base import IMPORTED, MetricInfo, Scores, ScoreWarning
from metrics.catalogue import infos
from metrics.scores import MeasureScores


def without_own_references(
    test_set: TestSet, human: HumanScores, measure: MeasureScores
) -> MeasureScores:
    """Return a measure without scores of texts against themselves, and with a warning."""
    places = [
        place for place, system in enumerate(human.systems)
        if system.reference and _reads(test_set, measure, system)
    ]  # fmt: skip
    if not places:
        return measure
    values = _blank(measure.values, places)
    lost = int((np.isfinite(measure.values) & ~np.isfinite(values)).sum())
    systems = truncated([human.names[place] for place in places])
    warning = ScoreWarning("own_reference", _message(measure, lost, systems))
    return replace(
        measure,
        values=values,
        statistics=None if measure.statistics is None else _blank(measure.statistics, places),
        systems=None if measure.systems is None else _blank(measure.systems, places),
        own_references=tuple(places),
        warnings=(*measure.warnings, warning) if lost else measure.warnings,
    )


def _message(measure: MeasureScores, n: int, systems: list[str]) -> Message:
    if not measure.is_imported:
        return plural(
            "scores.own-reference",
            "The score of {n} output against itself as the reference is excluded: {systems}.",
            "The scores of {n} outputs against themselves as references are excluded: {systems}.",
            n=n,
            systems=systems,
        )
    return plural(
        "scores.imported-own-reference",
        "{metric}: the score of {n} output against itself as the reference is excluded: {systems}.",
        "{metric}: the scores of {n} outputs against themselves as references are excluded: "
        "{systems}.",
        n=n,
        metric=measure.label,
        systems=systems,
    )


def _blank(scores: Scores, places: list[int]) -> Scores:
    found = scores.copy()
    found[places] = np.nan
    return found


def _reads(test_set: TestSet, measure: MeasureScores, system: System) -> bool:
    """Return whether a measure reads the reference that a system consists of.

    For imported scores, only the metric's name says so, as mt-metrics-eval writes it.
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
