"""Alter references of a test set by a condition.

Altered texts are scored and never stored as outputs: they belong to no system, and must not appear
in tables, runs or campaigns of their test set.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from annotation.models import Segment, TestSet
from annotation.models.corpus import in_order
from core.languages import is_character_based
from metaeval.messages import Message, message, plural
from training.perturbations import files, rules
from training.perturbations.files import GivenFile, LineError

T = TypeVar("T")
# With a lower coverage, most of a text is the untranslated source, so preferences would not be
# about word-by-word translations.
LEAST_COVERAGE = 0.5
RANDOM = ("reorder", "shuffle", "repeat", "clauses")
# In the order of tables.
LABELS = {
    "reorder": message("condition.reorder", "Random order"),
    "shuffle": message("condition.shuffle", "Half of the words exchanged"),
    "repeat": message("condition.repeat", "Four in ten words repeated"),
    "clauses": message("condition.clauses", "Clauses exchanged"),
    "source-order": message("condition.source-order", "Source order"),
    "word-by-word": message("condition.word-by-word", "Word by word"),
    "texts": message("condition.texts", "Texts by annotators"),
}
CONDITIONS = tuple(LABELS)
# Conditions that can use a file, and those that need one: words can also be aligned automatically.
FROM_FILE = ("source-order", "word-by-word", "texts")
NEEDS_FILE = ("word-by-word", "texts")
Alter = Callable[[int, str, str], str | None]  # position, source, reference -> altered text
Words = list[str]
Align = Callable[[Sequence[tuple[Words, Words]]], Sequence[Iterable[tuple[int, int]]]]


@dataclass(frozen=True)
class Altered:
    """The segments of a test set that could be altered, with their ``positions`` in it.

    ``others`` are the references that were not altered. ``coverage`` is the mean share of source
    words in the dictionary over all segments, if one was used.
    """

    condition: str
    n_segments: int
    positions: list[int]
    keys: list[str]
    sources: list[str]
    originals: list[str]
    texts: list[str]
    others: list[tuple[str, ...]]
    coverage: float | None = None

    @property
    def warning(self) -> Message | None:
        """Return why no preference is defined on these texts; None if it is defined."""
        return coverage_warning(self.coverage)

    @property
    def n_excluded(self) -> int:
        """Return how many segments could not be altered."""
        return self.n_segments - len(self.keys)


def alter(
    test_set: TestSet,
    condition: str,
    *,
    file: GivenFile | None = None,
    seed: int = 0,
    align: Align | None = None,
) -> Altered:
    """Alter the first reference of every segment.

    ``file`` is a dictionary, alignments, or texts by annotators, depending on the condition.
    ``align`` aligns words of sources and references if source order has no file. Raises LineError
    for a test set without references, a missing file, or one that does not fit.
    """
    segments = list(test_set.segments.prefetch_related("references"))
    shares: list[float] = []
    change = _Conditions(test_set, segments, file, seed, align, shares).make(condition)
    found = []
    for position, segment in enumerate(segments):
        original, *others = references_of(segment)
        text = change(position, segment.source, original) if original else None
        if text is not None:
            row = (position, segment.key, segment.source, original, text, tuple(others))
            found.append(row)
    if not found:
        raise LineError(
            message(
                "preferences.none-altered",
                "No reference of {test_set} could be altered by the condition “{condition}”.",
                test_set=test_set.slug,
                condition=LABELS[condition],
            )
        )
    positions, keys, sources, originals, texts, others_of = map(list, zip(*found, strict=True))
    coverage = float(np.mean(shares)) if shares else None
    return Altered(
        condition, len(segments), positions, keys, sources, originals, texts, others_of, coverage
    )


def coverage_warning(coverage: float | None) -> Message | None:
    """Return that a dictionary has too few words; None if it has enough or none is used."""
    if coverage is None or coverage >= LEAST_COVERAGE:
        return None
    return message(
        "preferences.coverage",
        "The dictionary has only {coverage:.1%} of the source words. W2W of word-by-word "
        "translations is only defined from {least:percent}.",
        coverage=coverage,
        least=LEAST_COVERAGE,
    )


def references_of(segment: Segment) -> list[str]:
    """Return the texts of the references of a segment; an empty one if there are none."""
    texts = in_order({each.name: each.text for each in segment.references.all()})
    return list(texts) or [""]


def check_file(test_set: TestSet, condition: str, file: GivenFile) -> None:
    """Raise LineError if a file cannot be read or does not fit the test set."""
    alter(test_set, condition, file=file)


@dataclass(frozen=True)
class _Conditions:
    """Make the function that alters one reference; ``shares`` collects coverages."""

    test_set: TestSet
    segments: Sequence[Segment]
    file: GivenFile | None
    seed: int
    align: Align | None
    shares: list[float]

    def make(self, condition: str) -> Alter:
        if condition in RANDOM:
            return partial(self._at_random, condition)
        if condition not in FROM_FILE:
            raise LineError(unknown_condition(condition))
        if condition == "source-order":
            return partial(self._put_in_order, self._alignments())
        if self.file is None:
            raise LineError(needs_file(condition))
        if condition == "word-by-word":
            return partial(self._translate, files.read_dictionary(self.file))
        texts = self._one_a_segment(self.file, files.read_texts(self.file))
        return lambda position, source, original: texts[position]

    def _at_random(self, rule: str, position: int, source: str, original: str) -> str | None:
        # One generator per segment: excluding one does not change the others.
        rng = random.Random(f"{self.seed}:{position}")
        return rules.alter(original, self.test_set.target_language, rule, rng)

    def _alignments(self) -> Sequence[rules.Alignment]:
        if self.file:
            return self._one_a_segment(self.file, files.read_alignments(self.file))
        if self.align is None:
            raise LineError(needs_file("source-order"))
        source_spaced = not is_character_based(self.test_set.source_language)
        pairs = [
            (
                rules.split_words(segment.source, spaced=source_spaced),
                rules.split_words(references_of(segment)[0], spaced=self._spaced),
            )
            for segment in self.segments
        ]
        return [sorted(links) for links in self.align(pairs)]

    def _put_in_order(
        self,
        alignments: Sequence[rules.Alignment],
        position: int,
        source: str,
        original: str,
    ) -> str | None:
        try:
            links = alignments[position]
            return rules.source_order(original, links, spaced=self._spaced)
        except rules.LinkError as error:
            raise LineError(
                plural(
                    "preferences.link",
                    "{file}, line {line}: the link {link} is not valid. The text has {n} word, "
                    "counted from 0.",
                    "{file}, line {line}: the link {link} is not valid. The text has {n} words, "
                    "counted from 0.",
                    n=error.n_words,
                    file=self.file.name if self.file else "alignments",
                    line=position + 1,
                    link=str(error),
                )
            ) from error

    def _translate(
        self, dictionary: rules.Dictionary, position: int, source: str, original: str
    ) -> str | None:
        text, share = rules.word_by_word(
            source,
            dictionary,
            spaced=not is_character_based(self.test_set.source_language),
            target_spaced=self._spaced,
        )
        self.shares.append(share)
        return text

    def _one_a_segment(self, file: GivenFile, lines: list[T]) -> list[T]:
        if len(lines) != len(self.segments):
            raise LineError(
                message(
                    "preferences.file-length",
                    "{file} has {lines} lines, but the test set has {segments} segments. One line "
                    "per segment is needed.",
                    file=file.name,
                    lines=len(lines),
                    segments=len(self.segments),
                )
            )
        return lines

    @property
    def _spaced(self) -> bool:
        return not is_character_based(self.test_set.target_language)


def needs_file(condition: str) -> Message:
    """Return the message that a condition needs a file."""
    return message(
        "preferences.needs-file",
        "The condition “{condition}” needs a file.",
        condition=LABELS[condition],
    )


def unknown_condition(name: str) -> Message:
    """Return the message that there is no such condition."""
    return message(
        "preferences.unknown-condition",
        "There is no condition “{name}”. The conditions are: {known}.",
        name=name,
        known=list(CONDITIONS),
    )
