"""Quality at equal compliance: quality of systems where all of them reach the target length.

A system can reach a deviation of 0 by cutting its output, which a mean over all outputs hides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, of_shape
from metaeval.messages import data_error, message
from metaeval.results import Notes, Result, TooFewWarning


@dataclass(frozen=True, kw_only=True, eq=False)
class Compliance(Result):
    """Curves over ``tolerances``; ``n`` counts segments with all scores and lengths.

    ``share`` (systems, tolerances) of segments within the tolerance, ``own`` the mean quality of
    those, ``common`` the mean quality where every system is within, and ``n_common`` how many
    segments these are.
    """

    tolerances: FloatArray
    share: FloatArray
    own: FloatArray
    common: FloatArray
    n_common: IntArray


def compliance(quality: ArrayLike, deviation: ArrayLike, tolerances: ArrayLike) -> Compliance:
    """Return shares and mean qualities of outputs whose length deviates by at most a tolerance.

    Parameters
    ----------
    quality, deviation
        Systems x segments; |length - wanted| / wanted for the second. A segment with any nan is
        excluded for all systems and counted.
    tolerances
        Ascending.

    Examples
    --------
    >>> found = compliance([[1.0, 2.0], [3.0, 5.0]], [[0.0, 0.3], [0.0, 0.1]], [0.0, 0.1, 0.5])
    >>> found.share.tolist()
    [[0.5, 0.5, 1.0], [0.5, 1.0, 1.0]]
    >>> found.common[1].tolist(), found.n_common.tolist()
    ([3.0, 3.0, 4.0], [1, 1, 2])
    """
    scores = as_floats("quality", quality, ndim=2)
    away = np.abs(as_floats("deviation", deviation, ndim=2))
    steps = as_floats("tolerances", tolerances, ndim=1)
    of_shape("deviation", away, scores.shape)
    if (np.diff(steps) <= 0).any() or (steps < 0).any():
        raise data_error(
            "argument.tolerances", "Tolerances must be at least 0 and in ascending order."
        )
    notes = Notes()
    known = ~(np.isnan(scores) | np.isnan(away)).any(axis=0)
    notes.exclude("incomplete-segment", int((~known).sum()))
    scores, away = scores[:, known], away[:, known]
    if not known.any():
        notes.warn(
            TooFewWarning(
                message(
                    "compliance.no-segments",
                    "No segment has scores and lengths of all systems.",
                )
            )
        )
    is_within = away[:, :, None] <= steps + 1e-12
    is_common = is_within.all(axis=0)
    return Compliance(
        n=int(known.sum()),
        **notes.fields,
        tolerances=steps,
        share=_mean(is_within.astype(float), np.ones_like(is_within)),
        own=_mean(scores[:, :, None], is_within),
        common=_mean(scores[:, :, None], np.broadcast_to(is_common, is_within.shape)),
        n_common=is_common.sum(axis=0),
    )


def _mean(values: FloatArray, chosen: BoolArray) -> FloatArray:
    """Return means over the chosen segments, (systems, tolerances); nan without any."""
    n = chosen.sum(axis=1)
    total = np.where(chosen, values, 0.0).sum(axis=1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)
