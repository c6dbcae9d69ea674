"""References of a test set and what each condition makes of them.

Altered texts are scored here and never stored as outputs: they are no system's, and must not be in
the tables, runs or campaigns of their test set.
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
from training.perturbations import by_source, files, rules
from training.perturbations.files import GivenFile, LineError

T = TypeVar("T")
# Of a text of which a dictionary knows less, most is the source as it stands: that metrics prefer
# it to a reference or not says nothing of word-by-word translations.
LEAST_COVERAGE = 0.5
RANDOM = ("reorder", "shuffle", "repeat", "clauses")
# What tables call them, in their order.
LABELS = {
    "reorder": "Random order",
    "shuffle": "Half exchanged",
    "repeat": "Four in ten repeated",
    "clauses": "Clauses exchanged",
    "source-order": "Source order",
    "word-by-word": "Word by word",
    "texts": "Texts by people",
}
CONDITIONS = tuple(LABELS)
# Conditions that a file can be given for, and those that need one: words can be aligned here.
FROM_FILE = ("source-order", "word-by-word", "texts")
NEEDS_FILE = ("word-by-word", "texts")
Alter = Callable[[int, str, str], str | None]  # position, source, reference -> altered text
Words = list[str]
Align = Callable[[Sequence[tuple[Words, Words]]], Sequence[Iterable[tuple[int, int]]]]


@dataclass(frozen=True)
class Altered:
    """The segments of a test set that could be altered, by their ``positions`` among all of them.

    ``others`` are the references that nothing was altered of. ``coverage`` is the mean share of
    source words that a dictionary knew, over all segments, where one was used.
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
    def problem(self) -> str:
        """Why no preference is defined on these texts; empty where one is."""
        return problem_of(self.coverage)

    @property
    def n_left_out(self) -> int:
        """How many segments could not be altered."""
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

    ``file`` holds a dictionary, alignments, or texts by people, as the condition needs; ``align``
    links words of sources and references where source order has no file. Raises ValueError for a
    test set without references, a missing file, or one that does not fit.
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
        message = f"No reference of {test_set.slug} could be altered by “{LABELS[condition]}”."
        raise ValueError(message)
    positions, keys, sources, originals, texts, others_of = map(list, zip(*found, strict=True))
    coverage = float(np.mean(shares)) if shares else None
    return Altered(
        condition, len(segments), positions, keys, sources, originals, texts, others_of, coverage
    )


def problem_of(coverage: float | None) -> str:
    """Say that a dictionary knows too few words (None: there is none); empty where it does not."""
    if coverage is None or coverage >= LEAST_COVERAGE:
        return ""
    return (
        f"The dictionary knows {coverage:.1%} of the source words. W2W of word-by-word "
        f"translations is defined where it knows at least {LEAST_COVERAGE:.0%}."
    )


def references_of(segment: Segment) -> list[str]:
    """Return the texts of a segment's references; one that is empty where there is none."""
    texts = in_order({each.name: each.text for each in segment.references.all()})
    return list(texts) or [""]


def check_file(test_set: TestSet, condition: str, file: GivenFile) -> None:
    """Raise ValueError where a file cannot be read or does not fit the test set."""
    alter(test_set, condition, file=file)


@dataclass(frozen=True)
class _Conditions:
    """Makes the function that alters one reference; ``shares`` collects what dictionaries knew."""

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
            raise ValueError(f"condition must be one of {', '.join(CONDITIONS)}, not {condition!r}")
        if condition == "source-order":
            return partial(self._put_in_order, self._alignments())
        if self.file is None:
            raise ValueError(f"The condition {condition} needs a file.")
        if condition == "word-by-word":
            return partial(self._translate, files.read_dictionary(self.file))
        texts = self._one_a_segment(self.file, files.read_texts(self.file))
        return lambda position, source, original: texts[position]

    def _at_random(self, rule: str, position: int, source: str, original: str) -> str | None:
        # One generator for each segment: leaving one out does not change the others.
        rng = random.Random(f"{self.seed}:{position}")
        return rules.alter(original, self.test_set.target_language, rule, rng)

    def _alignments(self) -> Sequence[by_source.Alignment]:
        if self.file:
            return self._one_a_segment(self.file, files.read_alignments(self.file))
        if self.align is None:
            raise ValueError("The condition source-order needs a file.")
        source_spaced = not is_character_based(self.test_set.source_language)
        pairs = [
            (
                by_source.split(segment.source, spaced=source_spaced),
                by_source.split(references_of(segment)[0], spaced=self._spaced),
            )
            for segment in self.segments
        ]
        return [sorted(links) for links in self.align(pairs)]

    def _put_in_order(
        self,
        alignments: Sequence[by_source.Alignment],
        position: int,
        source: str,
        original: str,
    ) -> str | None:
        try:
            links = alignments[position]
            return by_source.source_order(original, links, spaced=self._spaced)
        except ValueError as error:
            name = self.file.name if self.file else "alignments"
            raise LineError(f"{name}, line {position + 1}, {error}.") from error

    def _translate(
        self, dictionary: by_source.Dictionary, position: int, source: str, original: str
    ) -> str | None:
        text, share = by_source.word_by_word(
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
                f"{file.name} has {len(lines)} lines; the test set has "
                f"{len(self.segments)} segments."
            )
        return lines

    @property
    def _spaced(self) -> bool:
        return not is_character_based(self.test_set.target_language)
