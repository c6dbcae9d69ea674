"""Compute YiSi's weighted n-gram matching from similarities and weights (Lo 2019). Only numpy."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
