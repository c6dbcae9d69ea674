"""Preference analysis of reference-free metrics: references against texts worse by construction.

Altered texts are scored here and not stored: they are no system's outputs, and must never be in
the tables, runs or campaigns of their test set.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from annotation.languages import is_character_based
from annotation.models import Segment, TestSet
from metaeval import Preference, preference
from metrics import catalogue, perturbations
from metrics.base import MetricError, MetricInfo, Scores, SegmentInput
from metrics.perturbations import LineError

T = TypeVar("T")
RANDOM: dict[str, Callable[..., str | None]] = {
    "reorder": perturbations.reorder,
    "shuffle": perturbations.shuffle_some,
    "repeat": perturbations.repeat_some,
    "clauses": perturbations.permute_clauses,
}
FROM_FILE = ("source-order", "word-by-word", "texts")
CONDITIONS = (*RANDOM, *FROM_FILE)
Alter = Callable[[int, str, str], str | None]  # position, source, reference -> altered text


@dataclass(frozen=True)
class Altered:
    """The segments that could be altered; ``n_left_out`` could not. ``coverage`` is the mean share
    of source words that a dictionary knew, where one was used."""

    keys: list[str]
    sources: list[str]
    originals: list[str]
    texts: list[str]
    n_left_out: int
    coverage: float | None = None


@dataclass(frozen=True)
class Row:
    """One measure of a metric under one condition."""

    measure: str
    label: str
    result: Preference


def alter(test_set: TestSet, condition: str, *, file: Path | None = None, seed: int = 0) -> Altered:
    """Alter the first reference of every segment.

    ``file`` holds a dictionary, alignments, or texts by people, as the condition needs. Raises
    ValueError for a test set without references, a missing file, or one that does not fit.
    """
    segments = list(test_set.segments.prefetch_related("references"))
    shares: list[float] = []
    change = _make_alter(test_set, condition, file, seed, len(segments), shares)
    found: list[tuple[str, str, str, str]] = []
    for position, segment in enumerate(segments):
        original = _first_reference(segment)
        text = change(position, segment.source, original) if original else None
        if text is not None:
            found.append((segment.key, segment.source, original, text))
    if not found:
        raise ValueError(f"No reference of {test_set.slug} could be altered by {condition}.")
    keys, sources, originals, texts = map(list, zip(*found, strict=True))
    coverage = float(np.mean(shares)) if shares else None
    return Altered(keys, sources, originals, texts, len(segments) - len(found), coverage)


def compare(
    altered: Altered, metric: str, *, source_language: str, target_language: str
) -> list[Row]:
    """Score both texts of each segment with one metric.

    Raises a permanent :class:`MetricError` for a metric that needs references: the texts to
    compare are the references.
    """
    info = catalogue.get(metric)
    if info.needs_reference:
        message = f"{info.label} needs references; here they are what is compared."
        raise MetricError(message, permanent=True)
    scorer = catalogue.load(
        metric, source_language=source_language, target_language=target_language
    )
    n = len(altered.texts)
    both = zip(
        [*altered.sources, *altered.sources], [*altered.texts, *altered.originals], strict=True
    )
    scores = scorer.score([SegmentInput(source, text, ()) for source, text in both])
    return _rows(info, scores[:n], scores[n:])


def _rows(info: MetricInfo, altered: Scores, original: Scores) -> list[Row]:
    sign = 1 if info.higher_is_better else -1
    rows = []
    for measure in info.table_measures:
        column = info.measures.index(measure)
        result = preference(sign * altered[:, column], sign * original[:, column])
        rows.append(Row(measure, info.measure_labels[column], result))
    return rows


def _first_reference(segment: Segment) -> str:
    return next((each.text for each in segment.references.all()), "")


def _make_alter(
    test_set: TestSet,
    condition: str,
    file: Path | None,
    seed: int,
    n_segments: int,
    shares: list[float],
) -> Alter:
    spaced = not is_character_based(test_set.target_language)
    if condition in RANDOM:
        # One generator for each segment: leaving one out does not change the others.
        return lambda position, source, original: RANDOM[condition](
            original, random.Random(f"{seed}:{position}"), spaced=spaced
        )
    if condition not in FROM_FILE:
        raise ValueError(f"condition must be one of {', '.join(CONDITIONS)}, not {condition!r}")
    if file is None:
        raise ValueError(f"The condition {condition} needs a file.")
    if condition == "word-by-word":
        languages = test_set.source_language, test_set.target_language
        return partial(_translate, perturbations.read_dictionary(file), languages, shares)
    if condition == "texts":
        texts = _one_a_segment(file, perturbations.read_texts(file), n_segments)
        return lambda position, source, original: texts[position]
    alignments = _one_a_segment(file, perturbations.read_alignments(file), n_segments)
    return partial(_put_in_order, file, alignments, spaced)


def _translate(
    dictionary: perturbations.Dictionary,
    languages: tuple[str, str],
    shares: list[float],
    position: int,
    source: str,
    original: str,
) -> str | None:
    spaced, target_spaced = (not is_character_based(code) for code in languages)
    text, share = perturbations.word_by_word(
        source, dictionary, spaced=spaced, target_spaced=target_spaced
    )
    shares.append(share)
    return text


def _put_in_order(
    file: Path,
    alignments: Sequence[perturbations.Alignment],
    spaced: bool,
    position: int,
    source: str,
    original: str,
) -> str | None:
    try:
        return perturbations.source_order(original, alignments[position], spaced=spaced)
    except ValueError as error:
        raise LineError(f"{file}:{position + 1}: there is no {error}.") from error


def _one_a_segment(
    file: Path, lines: list[perturbations.T], n_segments: int
) -> list[perturbations.T]:
    if len(lines) != n_segments:
        raise LineError(f"{file} has {len(lines)} lines; the test set has {n_segments} segments.")
    return lines
