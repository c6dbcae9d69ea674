"""Where two scores of the same outputs disagree most."""

from __future__ import annotations

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.rows import row_ranks


def gaps(x: FloatArray, y: FloatArray, *, by: str = "z") -> FloatArray | None:
    """Return how much higher y puts each of n outputs than x does, (n,).

    ``by`` is ``z`` (standard scores over the outputs given, ddof 1) or ``rank`` (ranks as shares,
    0 lowest, 1 highest). None if one side does not vary: the gap is then undefined.

    Examples
    --------
    >>> gaps(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), by="rank").tolist()
    [0.0, 0.5, -0.5]
    """
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    if by == "rank":
        return np.asarray((row_ranks(y[None])[0] - row_ranks(x[None])[0]) / (len(x) - 1))
    return np.asarray((y - y.mean()) / y.std(ddof=1) - (x - x.mean()) / x.std(ddof=1))
