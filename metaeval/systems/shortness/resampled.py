"""Percentile intervals of statistics that are functions of sums over segments or documents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.documents import DOCUMENTS, effective_units, has_enough_documents, sum_by, unit_of
from metaeval.resampling import block_counts, blocks, percentile_interval
from metaeval.results import ApproximationWarning, Interval, Notes, TooFewWarning

# The purpose of these streams, apart from those of other resamplings.
KEY = 71
# Of fewer segments, percentile intervals miss more than one time in ten.
FEWEST_SEGMENTS = 20
# Of fewer, they still miss more than the one in twenty that they say.
ENOUGH = 100


def interval_of(
    sums: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    clusters: IntArray,
    *,
    n_resamples: int,
    seed: int,
    confidence: float,
    notes: Notes,
) -> Interval | None:
    """Return the interval over documents drawn with replacement; None where none is defined.

    ``sums`` (segments, k) are added up over the documents drawn, whose numbers are ``clusters``;
    the first is the number of outputs. ``statistic`` takes (resamples, k). None of few segments or
    documents, with a warning; of documents the interval is expanded for their number.
    """
    is_used = sums[:, 0] > 0
    has_documents = unit_of(clusters[is_used]) == DOCUMENTS
    if has_documents:
        if not has_enough_documents(clusters[is_used], notes):
            return None
        worth = effective_units(clusters[is_used])
        sums = sum_by(sums[is_used].T, clusters[is_used]).T
    elif not _is_enough(int(np.count_nonzero(is_used)), notes):
        return None
    parts = [
        statistic(block_counts(seed, (KEY, number), end - start, len(sums)) @ sums)
        for number, start, end in blocks(n_resamples)
    ]
    found = np.concatenate(parts)
    found = found[np.isfinite(found)]
    if len(found) < 2:
        return None
    if has_documents:
        return percentile_interval(found, confidence=confidence, expanded=worth)
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high), confidence)


def _is_enough(n: int, notes: Notes) -> bool:
    if n < FEWEST_SEGMENTS:
        text = f"Too few segments for an interval: {n} of the {FEWEST_SEGMENTS} that are needed."
        notes.warn(TooFewWarning(text))
    elif n < ENOUGH:
        text = f"{n} segments: below {ENOUGH} the interval is somewhat too narrow."
        notes.warn(ApproximationWarning(text))
    return n >= FEWEST_SEGMENTS
