"""Shares of passed control items, and annotators' consistency on repeated items."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_pair, between, mean
from metaeval.correlation.intervals.independent import wilson_interval
from metaeval.correlation.rows import row_pearson
from metaeval.messages import message, plural
from metaeval.results import (
    ConstantInputWarning,
    Interval,
    Notes,
    Result,
    StatisticResult,
    TooFewWarning,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatConsistency(Result):
    """Differences between first and second ratings of the same items; ``n`` counts pairs.

    ``mean_absolute`` is the mean of |second - first|, ``mean_difference`` that of second - first
    (a drift), ``sd`` the standard deviation of the differences (n - 1), ``r`` Pearson's
    correlation; nan where undefined.
    """

    mean_absolute: float
    mean_difference: float
    sd: float
    r: float


def repeat_consistency(first: ArrayLike, second: ArrayLike) -> RepeatConsistency:
    """Compare an annotator's ratings of items that they saw twice.

    Unlike a correlation, the mean absolute difference is defined without spread between items. An
    annotator who always gives the same score has a perfect one but no information, so interpret it
    together with a test on bad references.

    Warns
    -----
    TooFewWarning, ConstantInputWarning, MissingDataWarning
        Fewer than two pairs, or equal ratings on a side: r is nan; or incomplete pairs.

    Examples
    --------
    >>> result = repeat_consistency([50, 60, 90], [55, 50, 90])
    >>> result.mean_absolute, round(result.mean_difference, 3), result.n
    (5.0, -1.667, 3)
    """
    one, two = as_pair("first", first, "second", second)
    notes = Notes()
    complete = ~(np.isnan(one) | np.isnan(two))
    notes.exclude_missing(
        plural(
            "repeats.incomplete-pairs",
            "Excluded {n} repeated item with a missing score.",
            "Excluded {n} repeated items with a missing score.",
            n=int((~complete).sum()),
        )
    )
    one, two = one[complete], two[complete]
    differences = two - one
    n = len(differences)
    _warn(one, two, notes)
    return RepeatConsistency(
        n=n,
        **notes.fields,
        mean_absolute=mean(np.abs(differences)),
        mean_difference=mean(differences),
        sd=float(differences.std(ddof=1)) if n > 1 else np.nan,
        r=float(row_pearson(one, two)),
    )


def _warn(first: FloatArray, second: FloatArray, notes: Notes) -> None:
    if len(first) < 2:
        notes.warn(
            TooFewWarning(
                plural(
                    "repeats.few-pairs",
                    "There is only {n} repeated item. The standard deviation and r of repeats need "
                    "at least two.",
                    "There are {n} repeated items. The standard deviation and r of repeats need at "
                    "least two.",
                    n=len(first),
                )
            )
        )
    elif np.ptp(first) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message(
                    "repeats.constant-first",
                    "All first ratings of repeated items are equal, so r is undefined.",
                )
            )
        )
    elif np.ptp(second) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message(
                    "repeats.constant-second",
                    "All second ratings of repeated items are equal, so r is undefined.",
                )
            )
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PassRate(StatisticResult):
    """``statistic`` is passed / n, with Wilson's interval; nan without items."""

    passed: int


def pass_rate(passed: int, n: int, *, confidence: float = 0.95) -> PassRate:
    """Return the share of control items passed, with Wilson's score interval.

    Raises
    ------
    DataError
        Unless 0 <= passed <= n.

    Warns
    -----
    TooFewWarning
        No items: the rate is nan, without interval.

    Examples
    --------
    >>> rate = pass_rate(9, 10)
    >>> rate.statistic, round(rate.interval.low, 3), round(rate.interval.high, 3)
    (0.9, 0.596, 0.982)
    """
    between("passed", passed, 0, n)
    interval, notes = None, Notes()
    if not n:
        notes.warn(
            TooFewWarning(
                message(
                    "controls.no-items",
                    "There is no control item, so the share of passed items is undefined.",
                )
            )
        )
    else:
        low, high = wilson_interval(passed / n, n, confidence=confidence)
        interval = Interval(float(low), float(high), confidence)
    return PassRate(
        n=n,
        **notes.fields,
        statistic=passed / n if n else math.nan,
        method="share, Wilson interval",
        interval=interval,
        passed=passed,
    )
