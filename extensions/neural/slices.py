"""Score in slices, so that the vectors in use at a time do not grow with a chunk."""

from collections.abc import Callable, Sequence

import numpy as np

from metrics.base import Scores, SegmentInput

# Segments of 40 pieces on both sides at 768 numbers a piece: 126 MB.
SIZE = 512


def score_in_slices(
    score: Callable[[Sequence[SegmentInput]], Scores], inputs: Sequence[SegmentInput]
) -> Scores:
    """Return the rows of all inputs; texts that slices share are encoded once as long as kept."""
    starts = range(0, len(inputs), SIZE) or [0]
    return np.vstack([score(inputs[start : start + SIZE]) for start in starts])
