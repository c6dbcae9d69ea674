"""What is shown of trained metrics: gains, seeds."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.metaeval.covered.case import REJECTS, Case, Size, count_of, holds, rejects
from metaeval.significance import compare_seeds, paired_gain


def gain(won: float, lost: float, rng: np.random.Generator, size: Size) -> float:
    """Examples that only the trained or only the untrained encoder finds."""
    moved = rng.choice([1, -1, 0], p=[won, lost, 1.0 - won - lost], size=count_of(size))
    before = np.where(moved == 1, 0, 1)
    found = paired_gain(before, before + moved).interval
    return holds(found.low, found.high, won - lost) if found else np.nan


def seeds(test: str, rng: np.random.Generator, size: Size) -> float:
    first, second = rng.normal(0.6, 0.02, size=(2, count_of(size)))
    return rejects(getattr(compare_seeds(first, second, n_resamples=10, rng=1), test))


WIDE = "few changes: too wide rather than too narrow"
CASES = (
    Case("gain of a training", "5% won, 1% lost", partial(gain, 0.05, 0.01),
         (4, 5, 10, 50, 200), note=WIDE),
    Case("gain of a training", "30% won, 10% lost", partial(gain, 0.3, 0.1),
         (4, 5, 10, 50, 200), note=WIDE),
    Case("seeds, permutation", "equal", partial(seeds, "permutation"), (6, 8, 12), REJECTS),
    Case("seeds, t", "equal", partial(seeds, "t"), (3, 5, 10), REJECTS),
    Case("seeds, signed rank", "equal", partial(seeds, "wilcoxon"), (6, 8, 12), REJECTS),
)  # fmt: skip
