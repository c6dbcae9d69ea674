"""YiSi's weighted n-gram matching (Lo 2019), given similarities and lexical weights: numpy only."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class LexicalWeights:
    """How much a unit says: log2(1 + (N + 1) / (c + 1)), c of the N sentences having it.

    A unit is looked up as it is, then lower-cased; c is 0 for one that no sentence has. Without
    sentences every unit weighs 1.
    """

    def __init__(self, sentences: Iterable[Sequence[str]] | None = None) -> None:
        self.counts: Counter[str] | None = None
        if sentences is not None:
            distinct = [set(sentence) for sentence in sentences]
            self.total = len(distinct)
            self.counts = Counter(unit for sentence in distinct for unit in sentence)

    def of(self, units: Sequence[str]) -> Array:
        """Return the (n,) weights of n units."""
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
    ``left`` (m,) and ``right`` (n,) their weights, ``order`` the size of the n-grams, lowered to
    the shorter text. A side without units gives (0, 0).
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
    """Return P R / (alpha P + (1 - alpha) R), 0 where either is 0: recall where alpha is 1."""
    if precision <= 0 or recall <= 0:
        return 0.0
    return precision * recall / (alpha * precision + (1 - alpha) * recall)


def _sums(weights: Array, order: int) -> Array:
    return np.convolve(weights, np.ones(order), mode="valid")


def _sum_diagonals(values: Array, order: int) -> Array:
    """Add up ``order`` entries along every diagonal: position by position of two n-grams."""
    m, n = (size - order + 1 for size in values.shape)
    shifted = (values[step : step + m, step : step + n] for step in range(order))
    return np.asarray(sum(shifted), dtype=np.float64)
