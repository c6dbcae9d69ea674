"""Read the measures of a campaign's outputs, with warnings on those that were imported."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from annotation.models import Campaign, System, TestSet
from core.caching import memo
from dashboards.panel.human import HumanScores
from dashboards.panel.references import without_own_references
from metaeval.messages import Message, message
from metrics.base import ScoreWarning
from metrics.imported.naming import MARK
from metrics.scores import MeasureScores, system_scores


def read_measures(
    campaign: Campaign, human: HumanScores, all_of: Iterable[str] | None = None
) -> dict[str, MeasureScores]:
    """Read every measure with a score for the campaign's systems, in the order of the catalogue.

    With `all_of`, read every measure of these metrics, not only those of tables. Imported scores of
    whole systems are dropped where the reader chose documents, because they cover all documents.
    """
    wanted = None if all_of is None else frozenset(all_of)
    measures = _briefly_named(_stored(campaign.test_set, human.systems, wanted))
    return {
        key: without_own_references(campaign.test_set, human, _imported(each, human))
        for key, each in measures.items()
    }


@memo
def _stored(
    test_set: TestSet, systems: tuple[System, ...], all_of: frozenset[str] | None
) -> Mapping[str, MeasureScores]:
    return system_scores(test_set, systems, all_of=all_of).measures


def _briefly_named(measures: Mapping[str, MeasureScores]) -> Mapping[str, MeasureScores]:
    """Return the measures without the mark in the names of imported ones that need none.

    Pages mark them beside the name. It stays where another metric has the same name.
    """
    brief = {key: each.label.removesuffix(MARK) for key, each in measures.items()}
    counts = Counter(brief.values())
    return {
        key: replace(each, label=brief[key]) if counts[brief[key]] == 1 else each
        for key, each in measures.items()
    }


def _imported(measure: MeasureScores, human: HumanScores) -> MeasureScores:
    if not measure.is_imported:
        return measure
    if measure.systems is None:
        return replace(measure, warnings=(_mean(measure),))
    if human.is_of_documents:
        found = _whole(measure) if measure.has_segments else _whole_alone(measure)
        return replace(measure, systems=None, warnings=(found,))
    warnings = [] if measure.has_segments else [_alone(measure)]
    warnings += [_some(measure)] if np.isnan(measure.systems).any() else []
    return replace(measure, warnings=tuple(warnings))


def _mean(measure: MeasureScores) -> ScoreWarning:
    found = message(
        "scores.imported-mean",
        "No system scores of {metric} were imported. The means of the output scores are used "
        "instead.",
        metric=measure.label,
    )
    return ScoreWarning("imported_mean", found)


def _alone(measure: MeasureScores) -> ScoreWarning:
    found = message(
        "scores.imported-systems-only",
        "Only system scores of {metric} were imported, so there are no numbers over outputs or "
        "hybrids.",
        metric=measure.label,
    )
    return ScoreWarning("imported_systems_only", found)


def _whole(measure: MeasureScores) -> ScoreWarning:
    found = message(
        "scores.imported-whole-systems",
        "The imported system scores of {metric} cover all documents. For the chosen documents, the "
        "means of the output scores replace them.",
        metric=measure.label,
    )
    return ScoreWarning("imported_whole_systems", found)


def _whole_alone(measure: MeasureScores) -> ScoreWarning:
    found = message(
        "scores.imported-whole-systems-only",
        "The imported scores of {metric} are of whole systems, so there are no numbers over the "
        "chosen documents.",
        metric=measure.label,
    )
    return ScoreWarning("imported_whole_systems_only", found)


def _some(measure: MeasureScores) -> ScoreWarning:
    found = message(
        "scores.imported-some-systems",
        "Scores of {metric} were imported for some of the systems only. The other systems are "
        "excluded at system level.",
        metric=measure.label,
    )
    return ScoreWarning("imported_some_systems", found)


def warnings_of(
    measures: Iterable[MeasureScores] | Mapping[str, MeasureScores],
) -> list[Message]:
    """Return the warnings on the scores of some measures, each once."""
    every = measures.values() if isinstance(measures, Mapping) else measures
    return list(dict.fromkeys(each.message for measure in every for each in measure.warnings))
