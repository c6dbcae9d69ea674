"""The plain loops that the fast tests are compared with: one permutation or sample at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from metaeval import ScoreMatrix
from metaeval.correlation import Measure
from metaeval.correlation.panel import Panel, panel
from metaeval.correlation.values import value_of
from metaeval.results import Notes
from metaeval.significance.permutation.masks import Swaps


def matrix(values: np.ndarray, documents: Sequence[object] | None = None) -> ScoreMatrix:
    """Return scores of systems S0.. on segments 0.."""
    systems = [f"S{i}" for i in range(values.shape[0])]
    names = None if documents is None else map(str, documents)
    return ScoreMatrix(values, systems, map(str, range(values.shape[1])), names)


def panel_of(
    human: np.ndarray, *metrics: np.ndarray, documents: Sequence[object] | None = None
) -> Panel:
    """Return a panel of metrics a, b, ..."""
    named = {chr(97 + k): matrix(values, documents) for k, values in enumerate(metrics)}
    return panel(matrix(human, documents), named, Notes())


def permuted(scores: Panel, measure: Measure, swap: str, n: int, seed: int) -> np.ndarray:
    """Swap cells of the first two metrics, one mask at a time, and call the public functions."""
    first, second = scores.standardized()[:2]
    deltas = []
    for chunk in Swaps(seed, n, scores.valid.shape, swap, scores.clusters).chunks():
        for mask in chunk > 0:
            mixed = np.where(mask, first, second), np.where(mask, second, first)
            other = dataclasses.replace(scores, metrics=np.round(mixed, 12), names=("a", "b"))
            values = [value_of(measure, other, index).statistic for index in (0, 1)]
            deltas.append(values[0] - values[1])
    return np.array(deltas)


def resampled(scores: Panel, measure: Measure, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Copy systems and documents as often as drawn, and call the public functions."""
    values = []
    for row, column in zip(rows.astype(int), columns.astype(int), strict=True):
        cells = np.ix_(
            np.repeat(np.arange(len(row)), row), np.repeat(np.arange(len(column)), column)
        )
        copies = np.concatenate([np.arange(count) for count in column])
        names = np.repeat(scores.clusters, column)
        documents = [f"{name}, copy {copy}" for name, copy in zip(names, copies, strict=True)]
        copied = panel_of(scores.human[cells], scores.metrics[0][cells], documents=documents)
        values.append(value_of(measure, copied, 0).statistic)
    return np.array(values)
