"""Select the cells that a hybrid system may take, and centre scores within segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.documents import clusters_from
from metaeval.messages import Message, data_error, message
from metaeval.results import MissingDataWarning, Notes, TooFewWarning
from metaeval.scores.corpus import CorpusStatistics, MetricScores
from metaeval.scores.matrix import ScoreMatrix

# A warning is given if a smaller share of the segments has two systems to draw from.
FEW_INFORMATIVE = 0.5


def drawable_cells(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    statistics: Mapping[str, CorpusStatistics],
    notes: Notes,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], BoolArray]:
    """Return metrics and counts on the human grid, and the cells that a hybrid may take."""
    _check_names(metrics, statistics)
    matrices = {name: _on_grid(name, human, metric) for name, metric in metrics.items()}
    counts = {name: _on_grid(name, human, corpus) for name, corpus in statistics.items()}
    return matrices, counts, _drawable(human, matrices, counts, notes)


def clusters_on(human: ScoreMatrix, others: Iterable[MetricScores]) -> IntArray:
    """Return the document of each human segment; a metric's where the humans have none."""
    documents = human.documents
    for other in others:
        if documents is None and other.documents is not None:
            known = dict(zip(other.segments, other.documents, strict=True))
            documents = tuple(known.get(name, "") for name in human.segments)
    return clusters_from(documents, len(human.segments))


def _check_names(
    metrics: Mapping[str, ScoreMatrix], statistics: Mapping[str, CorpusStatistics]
) -> None:
    both = sorted(set(metrics) & set(statistics))
    if both:
        raise data_error("argument.both", "{name} is in both mappings.", name=both[0])
    if not metrics and not statistics:
        raise data_error("argument.no-metric", "Give at least one metric.")


def _on_grid(name: str, human: ScoreMatrix, metric: MetricScores) -> FloatArray:
    """Return the metric's values or counts on the human grid, nan where the metric has none."""
    if not (_meet(human.systems, metric.systems) and _meet(human.segments, metric.segments)):
        raise data_error(
            "data.nothing-in-common",
            "{name}: no system or no segment in common with the human scores.",
            name=name,
        )
    return metric.at(human.systems, human.segments)


def _meet(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    return bool(ours) if ours == theirs else not set(ours).isdisjoint(theirs)


def _drawable(
    human: ScoreMatrix,
    matrices: Mapping[str, FloatArray],
    counts: Mapping[str, FloatArray],
    notes: Notes,
) -> BoolArray:
    """Return True for the cells that a hybrid may take; count the others by reason."""
    drawable = human.mask
    notes.exclude("missing-human-score", int((~drawable).sum()))
    present = {name: ~np.isnan(values) for name, values in matrices.items()}
    present |= {name: ~np.isnan(values).any(axis=2) for name, values in counts.items()}
    for mask in present.values():
        missing = int((drawable & ~mask).sum())
        notes.exclude("missing-metric-score", missing)
        drawable = drawable & mask
    lost = int((~drawable).sum())
    choices = drawable.sum(axis=0)
    if not choices.any():
        raise data_error("data.no-cell", "No output has a human score and a score of every metric.")
    if lost:
        notes.warn(MissingDataWarning(_lost(lost, drawable.size, int((choices == 0).sum()))))
    if choices.max() < 2:
        notes.warn(
            TooFewWarning(
                message(
                    "hybrids.no-choice",
                    "No segment has outputs of two systems to draw from, so all hybrid systems are "
                    "equal.",
                )
            )
        )
    elif (n := int((choices > 1).sum())) < FEW_INFORMATIVE * (choices > 0).sum():
        notes.warn(
            TooFewWarning(
                message(
                    "hybrids.few-choices",
                    "Only {n} of {all} segments have outputs of two or more systems to draw from. "
                    "The other segments do not contribute to correlations over hybrid systems.",
                    n=n,
                    all=int((choices > 0).sum()),
                )
            )
        )
    return drawable


def _lost(lost: int, size: int, empty: int) -> Message:
    if not empty:
        return message(
            "hybrids.cells-missing",
            "{n} of {all} outputs have no human score or no metric score. They are never drawn.",
            n=lost,
            all=size,
        )
    return message(
        "hybrids.segments-missing",
        "{n} of {all} outputs have no human score or no metric score. They are never drawn, and "
        "{segments} segments without any other output are excluded.",
        n=lost,
        all=size,
        segments=empty,
    )


def within(stack: FloatArray, drawable: BoolArray) -> FloatArray:
    """Return differences from each segment's mean over drawable systems, zero elsewhere.

    `stack` is ... x systems x segments.
    """
    counts = np.maximum(drawable.sum(axis=0), 1)
    present = np.where(drawable, stack, 0.0)
    means = (present.sum(axis=1) / counts)[:, None]
    # Equal values leave rounding behind; their differences are zero.
    smallest = np.where(drawable, stack, np.inf).min(axis=1)
    largest = np.where(drawable, stack, -np.inf).max(axis=1)
    constant = (largest <= smallest)[:, None]
    return np.where(drawable & ~constant, present - means, 0.0)
