"""Pairwise difference Pearson (PDP): Pearson's r of the differences of outputs of one segment."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metaeval.arrays import fraction
from metaeval.correlation.hybrids.cells import within
from metaeval.correlation.hybrids.limits import over_documents, weighted_limit
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.panel import constant, panel
from metaeval.documents import sum_by
from metaeval.results import ConstantInputWarning, Notes
from metaeval.scores.matrix import ScoreMatrix


def pairwise_difference_pearson(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], *, confidence: float = 0.95
) -> CorrelationIntervals:
    """Correlate differences of two outputs of a segment; intervals over documents.

    PDP (DiIanni and Deutsch 2025) is Pearson's r of h_i - h_j and m_i - m_j over all segments and
    all ordered pairs of systems i, j: each pair counts in both directions, so that the order of
    the systems does not matter and the mean difference is 0. With k systems a segment has
    k sum h'm', where ' removes the mean of the segment, so r = sum k h'm' / sqrt(sum k h'^2 sum k
    m'^2). If every system translated every segment, this is the limit of `hybrid_limits`.
    Intervals and differences of metrics are those of `hybrid_limit_intervals`.

    Warns
    -----
    TooFewWarning
        Fewer than 20 segments of two systems, or 6 documents: no interval. Fewer than 20
        documents: it is approximate.
    ApproximationWarning
        Fewer than 100 segments: the interval may be too narrow where segments differ in spread.
    ConstantInputWarning
        One side never differs between the systems of a segment: nan.

    Examples
    --------
    >>> human = ScoreMatrix([[60, 70, 90], [20, 75, 50]], ["A", "B"], ["s1", "s2", "s3"])
    >>> metric = human.with_values([[0.6, 0.6, 0.8], [0.3, 0.5, 0.7]])
    >>> pairwise_difference_pearson(human, {"m": metric}).values.round(3).tolist()
    [0.823]
    """
    fraction("confidence", confidence)
    notes = Notes()
    scores = panel(human, metrics, notes)
    k = scores.valid.sum(axis=0)
    away = within(np.array([scores.human, *scores.metrics]), scores.valid)
    found = [weighted_limit(away[0], metric, k.astype(np.float64)) for metric in away[1:]]
    values = np.array([value for value, _ in found])
    for name, value in zip(scores.names, values, strict=True):
        if np.isnan(value):
            notes.warn(ConstantInputWarning(constant(name)))
    return over_documents(
        scores.names,
        values,
        np.array([sum_by(part, scores.clusters) for _, part in found]),
        scores.clusters[k > 1],
        notes,
        n=int((k * (k - 1)).sum()) // 2,
        n_systems=int(scores.valid.any(axis=1).sum()),
        confidence=confidence,
    )
