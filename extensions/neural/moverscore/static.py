"""Compute word mover's distance over aligned static vectors (RCSLS in Zhao et al. 2020).

Words without a vector are skipped; a word that is not in the file is looked up in lower case. An
n-gram's vector is the mean of n adjacent remaining words, scaled to length 1. Weights are uniform
and the transport is exact. The score is 1 - cost. If a side has no known word, the score is the
lowest possible one: 1 - 4 for squared, 1 - 2 for Euclidean costs.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from extensions.neural.static_vectors import Words, of_words
from extensions.neural.transport import transport_cost
from extensions.neural.yisi.words import load_sides, side_fields
from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families import references

# Increase it with every change that alters a value.
REVISION = 1
Array = NDArray[np.float64]
_NAMES = {"squared": "sqeuclidean", "euclidean": "euclidean"}
_LARGEST = {"squared": 4.0, "euclidean": 2.0}


class WordMover(MeanOfSegments):
    """Score with the files of the options, one per language."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        other = target_language if info.needs_reference else source_language
        self.sides = load_sides(info, other, target_language)
        self.order, self.cost = int(info.option("order")), str(info.option("cost"))

    def signature(self) -> str:
        """Return everything that changes a value."""
        shared: dict[str, str | int] = {
            "n": self.order,
            "cost": self.cost,
            "against": str(self.info.option("compare")),
            **references.field(self.info),
            "revision": REVISION,
        }
        return format_signature(self.info.name, side_fields(self.sides) | shared)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return 1 - cost, (n, 1)."""
        check_inputs(self.info, inputs)
        others = [references.others(self.info, segment) for segment in inputs]
        left = of_words((text for texts in others for text in texts), *self.sides[0])
        right = of_words((segment.hypothesis for segment in inputs), *self.sides[1])
        values = [
            references.one_of(
                self.info, [self._value(left[text], right[segment.hypothesis]) for text in texts]
            )
            for segment, texts in zip(inputs, others, strict=True)
        ]
        return np.array(values, dtype=np.float64).reshape(-1, 1)

    def _value(self, left: Words, right: Words) -> float:
        if not (left.known.any() and right.known.any()):
            return 1 - _LARGEST[self.cost]
        grams = [ngram_vectors(words.vectors[words.known], self.order) for words in (left, right)]
        return 1 - transport_cost(cdist(*grams, metric=_NAMES[self.cost]))


def ngram_vectors(vectors: Array, order: int) -> Array:
    """Return the means of ``order`` adjacent rows at length 1; a shorter text is one n-gram."""
    order = min(order, len(vectors))
    sums = sum(vectors[step : len(vectors) - order + 1 + step] for step in range(order))
    means = np.asarray(sums) / order
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(np.divide(means, norms, where=norms > 0, out=np.zeros_like(means)))
