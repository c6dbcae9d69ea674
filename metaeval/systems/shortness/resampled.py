"""Percentile intervals of statistics that are functions of sums over segments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.resampling import block_counts, blocks
from metaeval.results import Interval

# The purpose of these streams, apart from those of other resamplings.
KEY = 71


def interval_of(
    sums: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    *,
    n_resamples: int,
    seed: int,
    confidence: float,
) -> Interval | None:
    """Return the interval over segments drawn with replacement; None where none is defined.

    ``sums`` (segments, k) are added up over the segments drawn; ``statistic`` takes (resamples, k).
    """
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
