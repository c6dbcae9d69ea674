"""Compute YiSi's weighted n-gram matching from similarities and weights (Lo 2019). Only numpy."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from extensions.neural import files
from extensions.neural.encoding.ahead import score_in_slices
from extensions.neural.static_vectors import Words
from metrics import truncation
from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families import references

# Compute similarities of units for YiSi (Lo 2019): from vectors or from letters.

Array = NDArray[np.float64]


def by_vectors(left: Words, right: Words) -> Array:
    """Return cosines, (m, n), at least 0."""
    return np.maximum(left.unit_vectors @ right.unit_vectors.T, 0)


def by_words(left: Words, right: Words, *, same_language: bool) -> Array:
    """Return cosines of static vectors, (m, n), at least 0; equal lower-cased words have 1.

    Across languages, equal words have 1 only if the vocabulary of one side lacks the word. Other
    unknown words have 0.
    """
    equal = np.array([[a.lower() == b.lower() for b in right.forms] for a in left.forms])
    counts = equal.reshape(len(left.forms), len(right.forms))
    if not same_language:
        counts = counts & ~(left.known[:, None] & right.known[None, :])
    return np.where(counts, 1.0, by_vectors(left, right))


def by_letters(left: Sequence[str], right: Sequence[str]) -> Array:
    """Return 2 l / (|a| + |b|), (m, n); l is the longest common substring, lengths in bytes."""
    (rows, row_of), (columns, column_of) = _distinct(left), _distinct(right)
    shares = np.empty((len(rows), len(columns)))
    for row, a in enumerate(rows):
        shares[row] = [_shared(*sorted((a, b))) for b in columns]
    return np.asarray(shares[np.ix_(row_of, column_of)])


def _distinct(words: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct words, and the index of every word among them."""
    places = {word: place for place, word in enumerate(dict.fromkeys(words))}
    return list(places), np.array([places[word] for word in words], dtype=np.intp)


@lru_cache(maxsize=2**17)
def _shared(a: str, b: str) -> float:
    short, long = sorted((a.encode(), b.encode()), key=len)
    longest, start = 0, 0
    while start + longest < len(short):
        if short[start : start + longest + 1] in long:
            longest += 1
        else:
            start += 1
    return 2 * longest / (len(short) + len(long))


class LexicalWeights:
    """Hold the weight of each unit: log2(1 + (N + 1) / (c + 1)).

    c of the N sentences contain the unit. A unit is looked up as it is, then in lower case; c is 0
    for unknown units. Without sentences every unit has weight 1.
    """

    def __init__(self, sentences: Iterable[Sequence[str]] | None = None) -> None:
        self.counts: Counter[str] | None = None
        if sentences is not None:
            distinct = [set(sentence) for sentence in sentences]
            self.total = len(distinct)
            self.counts = Counter(unit for sentence in distinct for unit in sentence)

    def of(self, units: Sequence[str]) -> Array:
        """Return the weights of n units, (n,)."""
        return np.array([self._of(unit) for unit in units], dtype=np.float64)

    def _of(self, unit: str) -> float:
        if self.counts is None:
            return 1.0
        count = self.counts.get(unit) or self.counts.get(unit.lower(), 0)
        return math.log2(1 + (self.total + 1) / (count + 1))


def precision_recall(
    similarity: Array, left: Array, right: Array, order: int
) -> tuple[float, float]:
    """Return (P, R) of an output against one other text.

    ``similarity`` is (m, n) ≥ 0 with the other text's units as rows and the output's as columns,
    ``left`` (m,) and ``right`` (n,) their weights, and ``order`` the size of the n-grams, limited
    by the shorter text. A side without units gives (0, 0).
    """
    order = min(order, *similarity.shape)
    if order == 0:
        return 0.0, 0.0
    rows, columns = _sums(left, order), _sums(right, order)
    recall = _sum_diagonals(similarity * left[:, None], order) / rows[:, None]
    precision = _sum_diagonals(similarity * right[None, :], order) / columns[None, :]
    return (
        float(columns @ precision.max(axis=0) / columns.sum()),
        float(rows @ recall.max(axis=1) / rows.sum()),
    )


def combine(precision: float, recall: float, alpha: float) -> float:
    """Return P R / (alpha P + (1 - alpha) R); 0 if either is 0. With alpha 1 it is recall."""
    if precision <= 0 or recall <= 0:
        return 0.0
    return precision * recall / (alpha * precision + (1 - alpha) * recall)


def _sums(weights: Array, order: int) -> Array:
    return np.convolve(weights, np.ones(order), mode="valid")


def _sum_diagonals(values: Array, order: int) -> Array:
    """Sum ``order`` entries along every diagonal, position by position of two n-grams."""
    m, n = (size - order + 1 for size in values.shape)
    shifted = (values[step : step + m, step : step + n] for step in range(order))
    return np.asarray(sum(shifted), dtype=np.float64)


# Share lexical weights, n-grams and references between the variants of YiSi. Raises
# :class:`metrics.base.MetricError` for files of sentences that cannot be read.

Cut = Callable[[str], Sequence[str]]
Compare = Callable[[str, str], tuple[Array, Sequence[str], Sequence[str]]]
# Increase it with every change that alters a value.
REVISION = 1


@dataclass(frozen=True)
class Tables:
    """Hold the lexical weights of the compared text and of the output.

    ``digest`` identifies their files.
    """

    other: LexicalWeights
    output: LexicalWeights
    digest: str


def load_tables(info: MetricInfo, cut_other: Cut, cut_output: Cut) -> Tables:
    """Learn weights from the files of the options; without files every unit has weight 1.

    If outputs are compared with references, one file serves both sides unless there is one for
    outputs.
    """
    other, output = str(info.option("weights")), str(info.option("output-weights"))
    if not other:
        return Tables(LexicalWeights(), LexicalWeights(), "uniform")
    first = files.read(other)
    second = files.read(output) if output else first
    tables = [
        LexicalWeights(cut(line) for line in file.lines)
        for file, cut in ((first, cut_other), (second, cut_output))
    ]
    return Tables(tables[0], tables[1], f"{first.digest}-{second.digest}")


class Yisi(MeanOfSegments, ABC):
    """Compute YiSi of outputs against sources or references; a text without units scores 0."""

    tables: Tables
    revision = REVISION

    def __init__(self, info: MetricInfo) -> None:
        self.info = info
        self.order, self.alpha = int(info.option("order")), float(info.option("alpha"))

    @abstractmethod
    def fields(self) -> dict[str, str | int]:
        """Return the fields of a signature for the units."""

    @abstractmethod
    def prepare(self, outputs: Sequence[str], others: Sequence[str]) -> Compare:
        """Return a function of (other text, output): similarities and both sides' units."""

    def signature(self) -> str:
        """Return everything that changes a value."""
        shared: dict[str, str | int] = {
            "n": self.order,
            "alpha": f"{self.alpha:g}",
            "against": "reference" if self.info.needs_reference else "source",
            "weights": self.tables.digest,
            **references.field(self.info),
            "revision": self.revision,
        }
        return format_signature(self.info.name, self.fields() | shared)

    def cut_ahead(self, inputs: Sequence[SegmentInput]) -> None:
        """Prepare a slice that is scored next; words need nothing."""

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return scores, (n, 1); see :meth:`_value` for several references."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs, self.cut_ahead)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        others = [references.others(self.info, segment) for segment in inputs]
        outputs = [segment.hypothesis for segment in inputs]
        compare = self.prepare(outputs, [text for texts in others for text in texts])
        values = [
            self._value([self._match(compare, text, output) for text in texts])
            for output, texts in zip(outputs, others, strict=True)
        ]
        return np.array(values, dtype=np.float64).reshape(-1, 1)

    def _match(self, compare: Compare, other: str, output: str) -> tuple[float, float]:
        similarity, left, right = compare(other, output)
        weights = self.tables.other.of(left), self.tables.output.of(right)
        return precision_recall(similarity, *weights, self.order)

    def _value(self, matched: Sequence[tuple[float, float]]) -> float:
        """Combine the largest precision and recall over the references, or return the mean."""
        if self.info.references == "mean":
            return float(np.mean([combine(p, r, self.alpha) for p, r in matched]))
        precision, recall = np.max(matched, axis=0).tolist()
        return combine(precision, recall, self.alpha)
