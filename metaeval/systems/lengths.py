"""How far outputs miss the length they were asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_pair, mean, one_of
from metaeval.results import Notes, StatisticResult, TooFewWarning

ROUNDINGS = ("none", "nearest", "half-even", "up", "down")


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthDeviation(StatisticResult):
    """``statistic`` is the mean of |length - wanted| / wanted; ``n`` counts outputs.

    ``bias`` is the mean signed deviation (above 0: too long), ``pooled`` the deviation of the
    summed lengths, ``within`` the share of outputs whose deviation is at most ``tolerance``.
    """

    bias: float
    pooled: float
    median: float
    within: float
    tolerance: float
    deviations: FloatArray


def length_deviation(
    lengths: ArrayLike, wanted: ArrayLike, *, rounding: str = "none", tolerance: float = 0.1
) -> LengthDeviation:
    """Relative deviation of output lengths from the wanted ones.

    d = (length - wanted) / wanted per output. The unit (characters, words, subwords) is the
    caller's; papers rarely say it, nor whether a wanted length such as 0.8 x source is rounded.
    One-word sources make the mean explode: give the median or ``pooled`` beside it.

    Parameters
    ----------
    lengths, wanted
        One per output; nan on either side and wanted lengths of 0 are left out and counted.
    rounding
        Of the wanted length: ``none`` (default), ``nearest`` (half up), ``half-even`` (half to
        even and at least 1, as systems are asked for it; 0 stays 0), ``up``, ``down``.

    Examples
    --------
    >>> result = length_deviation([9, 12, 10], [10, 10, 10])
    >>> round(result.statistic, 3), round(result.bias, 3), round(result.within, 3)
    (0.1, 0.033, 0.667)
    """
    one_of("rounding", rounding, ROUNDINGS)
    own, goal = as_pair("lengths", lengths, "wanted", wanted)
    if (own < 0).any() or (goal < 0).any():
        raise ValueError("lengths and wanted: expected no negative length")
    rules = {"none": lambda x: x, "nearest": lambda x: np.floor(x + 0.5)}
    rules |= {"half-even": _half_even, "up": np.ceil, "down": np.floor}
    goal = rules[rounding](goal)
    notes = Notes()
    missing = np.isnan(own) | np.isnan(goal)
    notes.exclude("missing length", int(missing.sum()))
    notes.exclude("wanted length of 0", int((goal == 0).sum()))
    used = ~missing & (goal > 0)
    own, goal = own[used], goal[used]
    if not len(own):
        notes.warn(TooFewWarning("No output has a wanted length: the deviation is undefined."))
    deviations = (own - goal) / goal
    size = np.abs(deviations)
    return LengthDeviation(
        n=len(own),
        **notes.fields,
        statistic=mean(size),
        method="relative length deviation",
        bias=mean(deviations),
        pooled=float(own.sum() / goal.sum() - 1.0) if len(own) else np.nan,
        median=float(np.median(size)) if len(own) else np.nan,
        within=float((size <= tolerance + 1e-12).mean()) if len(own) else np.nan,
        tolerance=tolerance,
        deviations=deviations,
    )


def _half_even(goal: FloatArray) -> FloatArray:
    """Round half to even; what is above 0 stays at least 1."""
    return np.where(goal > 0, np.maximum(np.rint(goal), 1.0), goal)
