"""Percentile intervals of statistics that are functions of sums over segments or documents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.documents import DOCUMENTS, effective_units, has_enough_documents, sum_by, unit_of
from metaeval.messages import plural
from metaeval.resampling import block_counts, blocks, percentile_interval
from metaeval.results import ApproximationWarning, Interval, Notes, TooFewWarning

# Key of these random streams, so that they differ from those of other resamplings.
KEY = 71
# With fewer segments, 95% percentile intervals miss the true value in more than 10% of cases.
FEWEST_SEGMENTS = 20
# With fewer, they still miss it in more than the nominal 5% of cases.
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
    """Return the interval over documents drawn with replacement; None if undefined.

    ``sums`` (segments, k) are summed over the drawn documents, whose numbers are ``clusters``; the
    first column is the number of outputs. ``statistic`` takes (resamples, k). Returns None for few
    segments or documents, with a warning. For documents the interval is expanded for their number.
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
        notes.warn(
            TooFewWarning(
                plural(
                    "shortness.few-segments",
                    "There is only {n} segment. An interval needs at least {fewest}.",
                    "There are only {n} segments. An interval needs at least {fewest}.",
                    n=n,
                    fewest=FEWEST_SEGMENTS,
                )
            )
        )
    elif n < ENOUGH:
        notes.warn(
            ApproximationWarning(
                plural(
                    "shortness.narrow-interval",
                    "There is only {n} segment. With fewer than {enough}, the interval is somewhat "
                    "too narrow.",
                    "There are only {n} segments. With fewer than {enough}, the interval is "
                    "somewhat too narrow.",
                    n=n,
                    enough=ENOUGH,
                )
            )
        )
    return n >= FEWEST_SEGMENTS
