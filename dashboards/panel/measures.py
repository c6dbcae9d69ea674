"""Read the measures of a campaign's outputs, with warnings on those that were imported."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Campaign, Reference, System, TestSet
from core.caching import memo
from core.languages import is_character_based
from dashboards.panel.human import HumanScores
from metaeval.messages import Message, message, plural, truncated
from metaeval.scores.human_systems import scored_against_itself
from metrics.base import IMPORTED, MetricError, MetricInfo, Scores, ScoreWarning
from metrics.catalogue import infos
from metrics.checkpoints import places
from metrics.imported.naming import MARK
from metrics.scores import MeasureScores, system_scores

WORDS, CHARACTERS = "words", "characters"
Length = Callable[[str], int]


def unit_of(language: str) -> str:
    """Return the default unit of length for a language."""
    return CHARACTERS if is_character_based(language) else WORDS


def counter(unit: str) -> Length:
    """Return a function that measures a text; blanks never count.

    `unit` is words, characters, or the name of a checkpoint whose tokenizer is used, without
    special tokens. Raises MetricError where the tokenizer cannot be loaded.
    """
    if unit == WORDS:
        return lambda text: len(text.split())
    if unit == CHARACTERS:
        return lambda text: sum(not sign.isspace() for sign in text)
    return _pieces(unit)


@lru_cache(maxsize=4)
def _pieces(checkpoint: str) -> Length:
    folder = Path(places.find(checkpoint))
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        about = message(
            "lengths.no-transformers",
            "The tokenizer of {checkpoint} needs transformers, which is not installed here.",
            checkpoint=checkpoint,
        )
        raise MetricError(about, permanent=True) from error
    load = AutoTokenizer.from_pretrained
    tokenizer: Any = load(folder, local_files_only=True)  # type: ignore[no-untyped-call]
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))


def lengths(texts: Sequence[str], unit: str) -> list[int]:
    """Return the length of every text."""
    count = counter(unit)
    return [count(text) for text in texts]


# Exclude the scores that a metric gives to the reference that it reads.


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


def read_measures(
    campaign: Campaign, human: HumanScores, all_of: Iterable[str] | None = None
) -> dict[str, MeasureScores]:
    """Read every measure with a score for the campaign's systems, in the order of the catalogue.

    With `all_of`, read every measure of these metrics, not only those of tables. Where the reader
    chose documents, imported scores of whole systems are replaced by those of the chosen document
    or domain, if there are any, or dropped, because they cover all documents.
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
    if human.part and (scores := measure.parts.get(human.part)) is not None:
        own = replace(measure, systems=scores)
        warnings = [_of_part(own, human.part[1]), *([_some(own)] if np.isnan(scores).any() else [])]
        return replace(own, warnings=tuple(warnings))
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


def _of_part(measure: MeasureScores, name: str) -> ScoreWarning:
    found = message(
        "scores.imported-part",
        "The system scores of {metric} are those imported for {part}.",
        metric=measure.label,
        part=name,
    )
    return ScoreWarning("imported_part", found)


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
