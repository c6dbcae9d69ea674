"""The measures of a campaign's outputs, and what a reader must know of those that were imported."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from annotation.models import Campaign, System, TestSet
from core.caching import memo
from core.text import join_truncated
from dashboards.panel.human import HumanScores
from dashboards.panel.references import without_own_references
from metaeval.messages import Message, untranslated
from metrics.base import ScoreWarning
from metrics.scores import MeasureScores, system_scores

NAMED = 3
MEAN = ScoreWarning(
    "imported_mean",
    "imported without scores of systems; their system score is the mean of the outputs’.",
)
ALONE = ScoreWarning(
    "imported_systems_only",
    "only scores of systems were imported, so there is no number over outputs or hybrids.",
)
WHOLE = ScoreWarning(
    "imported_whole_systems",
    "the imported scores of systems are of all documents; for the chosen ones the means of their "
    "outputs stand in.",
)
WHOLE_ALONE = ScoreWarning(
    "imported_whole_systems_only",
    "the imported scores are of whole systems and say nothing of the chosen documents.",
)
SOME = ScoreWarning(
    "imported_some_systems",
    "scores of some of the systems only were imported; the others are left out at system level.",
)


def read_measures(
    campaign: Campaign, human: HumanScores, all_of: Iterable[str] | None = None
) -> dict[str, MeasureScores]:
    """Read every measure with a score for the campaign's systems, in the order of the catalogue.

    With `all_of` every measure of these metrics, and not those of tables alone. Imported scores of
    whole systems are left out where the reader chose documents: they are of all.
    """
    wanted = None if all_of is None else frozenset(all_of)
    measures = _stored(campaign.test_set, human.systems, wanted)
    return {
        key: without_own_references(campaign.test_set, human, _imported(each, human))
        for key, each in measures.items()
    }


@memo
def _stored(
    test_set: TestSet, systems: tuple[System, ...], all_of: frozenset[str] | None
) -> Mapping[str, MeasureScores]:
    return system_scores(test_set, systems, all_of=all_of).measures


def _imported(measure: MeasureScores, human: HumanScores) -> MeasureScores:
    if not measure.is_imported:
        return measure
    if measure.systems is None:
        return replace(measure, warnings=(MEAN,))
    if human.is_of_documents:
        why = WHOLE if measure.has_segments else WHOLE_ALONE
        return replace(measure, systems=None, warnings=(why,))
    doubts = [] if measure.has_segments else [ALONE]
    doubts += [SOME] if np.isnan(measure.systems).any() else []
    return replace(measure, warnings=tuple(doubts))


def told(measures: Iterable[MeasureScores] | Mapping[str, MeasureScores]) -> list[Message]:
    """Return the warnings of some measures as sentences, those of imported ones once for all."""
    sentences: dict[ScoreWarning, list[str]] = {}
    for measure in measures.values() if isinstance(measures, Mapping) else measures:
        for warning in measure.warnings:
            sentences.setdefault(warning, []).append(measure.label if measure.is_imported else "")
    return [
        untranslated(f"{join_truncated(named, NAMED)}: {warning.message}")
        if (named := [n for n in names if n])
        else warning.message
        for warning, names in sentences.items()
    ]
