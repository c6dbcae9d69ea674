"""Outlier systems, whose scores would dominate a correlation over systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, as_floats
from metaeval.messages import message, plural
from metaeval.results import ConstantInputWarning, Notes, Result, TooFewWarning

# Makes the median absolute deviation of a normal sample its standard deviation.
CONSISTENCY = 1.483
THRESHOLD = 2.5
FEWEST = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemOutliers(Result):
    """Which systems are outliers; ``n`` counts systems with a score.

    ``is_outlier`` and ``deviations`` are (systems,): the deviation is the distance from the median
    in units of 1.483 MAD, nan for a system without a score and where MAD is 0.
    """

    is_outlier: BoolArray
    deviations: FloatArray
    median: float
    mad: float


def find_outliers(scores: ArrayLike, *, threshold: float = THRESHOLD) -> SystemOutliers:
    """Find systems whose human score is far from the median of all.

    A system is an outlier where |score - median| / (1.483 MAD) > 2.5, with MAD the median of
    |score - median| (Mathur, Baldwin & Cohn 2020, "Tangled up in BLEU", section 4.2). Human
    systems do not belong among the scores.

    Parameters
    ----------
    scores
        (systems,): human scores of systems, nan where there is none.
    threshold
        Deviations above it are outliers.

    Returns
    -------
    SystemOutliers
        Without any outlier, and with a warning, if fewer than three systems have a score
        (`TooFewWarning`), or if half of the systems or more have the median as score, so that MAD
        is 0 (`ConstantInputWarning`).

    Examples
    --------
    >>> find_outliers([1.0, 2.0, 3.0, 4.0, 9.0]).is_outlier.tolist()
    [False, False, False, False, True]
    """
    values = as_floats("scores", scores, ndim=1)
    known = ~np.isnan(values)
    notes = Notes()
    notes.exclude("system-without-score", int((~known).sum()))
    n = int(known.sum())
    median = float(np.median(values[known])) if n else np.nan
    mad = float(np.median(np.abs(values[known] - median))) if n else np.nan
    deviations = np.full(values.shape, np.nan)
    if n < FEWEST:
        notes.warn(
            TooFewWarning(
                plural(
                    "outliers.few-systems",
                    "Only {n} system has a score. Outliers are defined for at least {fewest}.",
                    "Only {n} systems have a score. Outliers are defined for at least {fewest}.",
                    n=n,
                    fewest=FEWEST,
                )
            )
        )
    elif not mad > 0:
        notes.warn(
            ConstantInputWarning(
                message(
                    "outliers.constant",
                    "Half of the systems or more have the same score, so outliers are undefined.",
                )
            )
        )
    else:
        deviations = np.abs(values - median) / (CONSISTENCY * mad)
    return SystemOutliers(
        n=n,
        **notes.fields,
        is_outlier=np.nan_to_num(deviations) > threshold,
        deviations=deviations,
        median=median,
        mad=mad,
    )
