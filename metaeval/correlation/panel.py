"""Human scores and several metrics on one grid of systems and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, one_length
from metaeval.documents import clusters_from
from metaeval.messages import Message, data_error, message, plural
from metaeval.results import MissingDataWarning, Notes
from metaeval.scores.matrix import ScoreMatrix, align

# A metric's value this close to another's, in standard deviations, is the same value.
SAME = 1e-12
# Of a correlation that does not know the name of its metric; `constant` has it.
ONE_SIDE_CONSTANT = message(
    "correlation.constant-side",
    "All scores on one side are equal, so the correlation is undefined.",
)


def constant(metric: str) -> Message:
    """Return that a metric has no correlation, because compared scores are all equal."""
    return message(
        "correlation.constant",
        "The correlation is undefined for {metric}: all compared scores are equal.",
        metric=metric,
    )


@dataclass(frozen=True, eq=False)
class Panel:
    """Aligned scores: nan outside the cells that the humans and every metric have.

    ``human`` is systems x segments, ``metrics`` metrics x systems x segments, ``valid`` the cells
    in use. A mask of swaps or a resample then means the same for every metric. ``documents`` has
    the document of each segment, None where each is one of its own.
    """

    human: FloatArray
    metrics: FloatArray
    valid: BoolArray
    names: tuple[str, ...]
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    documents: tuple[str, ...] | None = None

    @cached_property
    def clusters(self) -> IntArray:
        """The number of each segment's document, (segments,): 0, 1, … in order of appearance."""
        return clusters_from(self.documents, len(self.segments))

    @property
    def n(self) -> int:
        """Cells in use."""
        return int(self.valid.sum())

    def standardized(self, cells: BoolArray | None = None) -> FloatArray:
        """Each metric with mean 0 and standard deviation 1 over cells; a constant one is 0.

        ``cells`` (systems x segments) is a part of the cells in use; by default all.
        """
        flat = self.metrics[:, self.valid if cells is None else cells]
        means = flat.mean(axis=1)[:, None, None]
        sds = flat.std(axis=1)[:, None, None]
        constant = (np.ptp(flat, axis=1) == 0.0)[:, None, None]
        scaled = (self.metrics - means) / np.where(constant, 1.0, sds)
        return np.where(constant & self.valid, 0.0, scaled)

    def sizes(self) -> FloatArray:
        """Each metric's largest score in its standard deviations, before its mean is removed.

        The rounding errors of `standardized` have that size; 0 for a constant metric.
        """
        flat = self.metrics[:, self.valid]
        constant = np.ptp(flat, axis=1) == 0.0
        return np.where(
            constant, 0.0, np.abs(flat).max(axis=1) / np.where(constant, 1.0, flat.std(axis=1))
        )

    def matrix(self, index: int) -> ScoreMatrix:
        """Return one metric as a matrix."""
        return self.human_matrix.with_values(self.metrics[index])

    @cached_property
    def human_matrix(self) -> ScoreMatrix:
        """The human scores as a matrix."""
        return ScoreMatrix(self.human, self.systems, self.segments, self.documents)


def panel(
    human: ScoreMatrix | ArrayLike,
    metrics: Mapping[str, Any],
    notes: Notes,
) -> Panel:
    """Align human and metric scores; count excluded cells, and warn of them.

    A vector becomes the scores of one system, with one segment per entry.
    """
    if not metrics:
        raise data_error("argument.no-metric", "Give at least one metric.")
    first = _matrix("human", human)
    others = [_matrix(name, scores) for name, scores in metrics.items()]
    if isinstance(human, ScoreMatrix) != all(isinstance(m, ScoreMatrix) for m in metrics.values()):
        raise data_error(
            "argument.grids", "{names}: give vectors or score matrices, not both.",
            names=["human", "metrics"],
        )  # fmt: skip
    for name, other in zip(metrics, others, strict=True):
        if not isinstance(human, ScoreMatrix):
            one_length(**{"human": first.segments, f"metrics[{name!r}]": other.segments})
    aligned = align(first, *others)
    lost = first.values.size - aligned[0].values.size
    lost += max((o.values.size - aligned[0].values.size for o in others), default=0)
    stack = np.array([matrix.values for matrix in aligned])
    valid = ~np.isnan(stack).any(axis=0)
    missing = int((~valid).sum())
    notes.exclude("unmatched-cell", lost)
    notes.exclude("incomplete-cell", missing)
    if lost or missing:
        notes.warn(
            MissingDataWarning(
                plural(
                    "panel.missing-cells",
                    "Excluded {n} output for all metrics: it lacks a human score or a metric's "
                    "score.",
                    "Excluded {n} outputs for all metrics: they lack a human score or a metric's "
                    "score.",
                    n=lost + missing,
                )
            )
        )
    if not valid.any():
        raise data_error("data.no-cell", "No output has a human score and a score of every metric.")
    stack = np.where(valid, stack, np.nan)
    names, segments = aligned[0].systems, aligned[0].segments
    return Panel(
        stack[0], stack[1:], valid, tuple(metrics), names, segments, common_documents(aligned)
    )


def snapped(y: FloatArray, x: FloatArray) -> FloatArray:
    """Return y with every value that differs from one of x by rounding only set to it.

    Two metrics that are affine maps of one another are equal once standardised, except in the
    last bits; an order statistic must not read those.
    """
    levels = np.unique(x[~np.isnan(x)])
    if not len(levels):
        return y
    right = np.clip(np.searchsorted(levels, y), 0, len(levels) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(levels[left] - y) < np.abs(levels[right] - y), left, right)
    close = np.abs(levels[nearest] - y) <= SAME
    return np.where(close, levels[nearest], y)


def grouped(values: np.ndarray, valid: BoolArray, grouping: str) -> np.ndarray:  # type: ignore[type-arg]
    """Return ... x groups x members of ... x systems x segments.

    ``none`` keeps only the valid cells, as one group; ``item`` has a group per segment,
    ``system`` one per system.
    """
    if grouping == "none":
        return values[..., valid][..., None, :]
    return np.swapaxes(values, -1, -2) if grouping == "item" else values


def common_documents(matrices: Sequence[ScoreMatrix]) -> tuple[str, ...] | None:
    """Return the documents that aligned matrices agree on; DataError where they do not."""
    given = [matrix for matrix in matrices if matrix.documents is not None]
    for matrix in given[1:]:
        if (matrix.clusters != given[0].clusters).any():
            raise data_error(
                "data.documents-differ", "The scores assign segments to different documents."
            )
    return given[0].documents if given else None


def _matrix(name: str, scores: ScoreMatrix | ArrayLike) -> ScoreMatrix:
    if isinstance(scores, ScoreMatrix):
        return scores
    vector = as_floats(name, scores, ndim=1)
    return ScoreMatrix(vector[None, :], ["all"], map(str, range(len(vector))))
