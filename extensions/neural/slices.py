"""Score in slices, so that the memory for vectors does not grow with the size of a chunk."""

from collections.abc import Callable, Sequence

import numpy as np

from metrics.base import Scores, SegmentInput

# Segments of 40 pieces on both sides with 768 numbers per piece take 126 MB.
SIZE = 512


def score_in_slices(
    score: Callable[[Sequence[SegmentInput]], Scores], inputs: Sequence[SegmentInput]
) -> Scores:
    """Return the rows of all inputs; texts shared by slices are encoded once while cached."""
    starts = range(0, len(inputs), SIZE) or [0]
    return np.vstack([score(inputs[start : start + SIZE]) for start in starts])
