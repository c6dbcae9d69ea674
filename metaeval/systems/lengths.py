"""Deviation of output lengths from target lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_pair, at_least, mean, one_of
from metaeval.messages import message
from metaeval.results import Notes, StatisticResult, TooFewWarning

ROUNDINGS = ("none", "nearest", "half-even", "up", "down")


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthDeviation(StatisticResult):
    """``statistic`` is the mean of |length - target| / target; ``n`` counts outputs.

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
    """Compute the relative deviation of output lengths from target lengths.

    d = (length - wanted) / wanted per output. The caller chooses the unit (characters, words,
    subwords); papers rarely state it, nor whether a target length such as 0.8 x source is rounded.
    One-word sources dominate the mean, so report the median or ``pooled`` as well.

    Parameters
    ----------
    lengths, wanted
        Length and target length of each output; nan on either side and target lengths of 0 are
        excluded and counted.
    rounding
        Of the target length: ``none`` (default), ``nearest`` (half up), ``half-even`` (half to
        even and at least 1, as in requests to systems; 0 stays 0), ``up``, ``down``.

    Examples
    --------
    >>> result = length_deviation([9, 12, 10], [10, 10, 10])
    >>> round(result.statistic, 3), round(result.bias, 3), round(result.within, 3)
    (0.1, 0.033, 0.667)
    """
    one_of("rounding", rounding, ROUNDINGS)
    own, goal = as_pair("lengths", lengths, "wanted", wanted)
    for name, values in (("lengths", own), ("wanted", goal)):
        at_least(name, float(np.nanmin(values, initial=0.0)), 0)
    rules = {"none": lambda x: x, "nearest": lambda x: np.floor(x + 0.5)}
    rules |= {"half-even": _half_even, "up": np.ceil, "down": np.floor}
    goal = rules[rounding](goal)
    notes = Notes()
    missing = np.isnan(own) | np.isnan(goal)
    notes.exclude("missing-length", int(missing.sum()))
    notes.exclude("target-length-of-zero", int((goal == 0).sum()))
    used = ~missing & (goal > 0)
    own, goal = own[used], goal[used]
    if not len(own):
        notes.warn(
            TooFewWarning(
                message(
                    "lengths.no-target",
                    "No output has a target length, so the length deviation is undefined.",
                )
            )
        )
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
