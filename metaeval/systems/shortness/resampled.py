"""Percentile intervals of statistics that are functions of sums over segments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.resampling import block_counts, blocks
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
    *,
    n_resamples: int,
    seed: int,
    confidence: float,
    notes: Notes,
) -> Interval | None:
    """Return the interval over segments drawn with replacement; None where none is defined.

    ``sums`` (segments, k) are added up over the segments drawn; the first is the number of outputs.
    ``statistic`` takes (resamples, k). None of few segments, with a warning.
    """
    if not _is_enough(int(np.count_nonzero(sums[:, 0])), notes):
        return None
    parts = [
        statistic(block_counts(seed, (KEY, number), end - start, len(sums)) @ sums)
        for number, start, end in blocks(n_resamples)
    ]
    found = np.concatenate(parts)
    found = found[np.isfinite(found)]
    if len(found) < 2:
        return None
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
