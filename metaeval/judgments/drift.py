"""Whether an annotator's scores or times move while they work: the Mann-Kendall trend test."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, factorize, fraction
from metaeval.correlation.coefficients import kendall
from metaeval.results import (
    ConstantInputWarning,
    Notes,
    Result,
    StatisticsWarning,
    TooFewWarning,
)
from metaeval.significance.corrections import adjust_pvalues

# Kendall's normal approximation is good from here on (Kendall 1975).
FEWEST = 10


class DriftWarning(StatisticsWarning):
    """Somebody's values rise or fall while they work."""

    code = "drift"


@dataclass(frozen=True, kw_only=True, eq=False)
class Drift(Result):
    """Trend per annotator; arrays follow ``annotators``, and ``n`` counts values.

    ``tau`` is Kendall's tau-b of place and value, ``pvalue`` its two-sided p, ``adjusted`` that p
    after Holm's correction over the annotators; ``first`` and ``last`` are the means of the first
    and the last third. All but the means are nan below ten values and where all are equal.
    """

    annotators: tuple[Any, ...]
    counts: IntArray
    tau: FloatArray
    pvalue: FloatArray
    adjusted: FloatArray
    first: FloatArray
    last: FloatArray
    is_drifting: BoolArray
    alpha: float


def drift(values: ArrayLike, annotators: Iterable[Hashable], *, alpha: float = 0.05) -> Drift:
    """Test each annotator's values, in the order given, for a monotone trend.

    The test of Mann (1945) and Kendall (1975): tau-b of place and value, so one pause or one
    outlier does not decide. It takes the values for independent; where neighbouring items come
    from one document its p is too small.

    Parameters
    ----------
    values
        Scores or times, each annotator's in the order of their work; nan is left out and counted.

    Warns
    -----
    DriftWarning
        Somebody drifts at ``alpha`` after Holm's correction.
    TooFewWarning
        Somebody has fewer than ten values.
    ConstantInputWarning
        Somebody's values are all equal.

    Examples
    --------
    >>> result = drift([*range(12), *[5, 6, 5, 7, 5, 6, 7, 5, 6, 5, 7, 6]], ["A"] * 12 + ["B"] * 12)
    >>> result.annotators, result.is_drifting.tolist()
    (('A', 'B'), [True, False])
    """
    scores = as_floats("values", values, ndim=1)
    fraction("alpha", alpha)
    people, who = factorize(annotators)
    if len(who) != len(scores):
        raise ValueError(f"annotators: expected {len(scores)} labels, got {len(who)}")
    notes = Notes()
    notes.exclude("missing value", int(np.isnan(scores).sum()))
    series = [own[~np.isnan(own)] for own in (scores[who == i] for i in range(len(people)))]
    trends = [_trend(own) for own in series]
    tau, pvalue = np.array(trends, dtype=np.float64).reshape(-1, 2).T
    adjusted = adjust_pvalues(pvalue, method="holm", alpha=alpha)
    counts = np.array([len(own) for own in series], dtype=np.int64)
    _warn_untested(notes, people, series)
    _warn(notes, people, adjusted.is_significant, alpha)
    ends = np.array([_ends(own) for own in series]).reshape(-1, 2)
    return Drift(
        n=int(counts.sum()),
        **notes.fields,
        annotators=tuple(people),
        counts=counts,
        tau=tau,
        pvalue=pvalue,
        adjusted=adjusted.pvalues,
        first=ends[:, 0],
        last=ends[:, 1],
        is_drifting=adjusted.is_significant,
        alpha=alpha,
    )


def _trend(own: FloatArray) -> tuple[float, float]:
    """Return tau-b and p, nan for too few values or equal ones."""
    if len(own) < FEWEST or np.ptp(own) == 0.0:
        return np.nan, np.nan
    found = kendall(np.arange(len(own)), own)
    return found.statistic, np.nan if found.pvalue is None else found.pvalue


def _ends(own: FloatArray) -> tuple[float, float]:
    third = max(1, len(own) // 3)
    return (own[:third].mean(), own[-third:].mean()) if len(own) else (np.nan, np.nan)


def _warn_untested(notes: Notes, people: Iterable[Any], series: list[FloatArray]) -> None:
    all_of = [(str(one), own) for one, own in zip(people, series, strict=True)]
    few = [one for one, own in all_of if len(own) < FEWEST]
    if few:
        notes.warn(
            TooFewWarning(f"Fewer than {FEWEST} values, no test of a trend: {', '.join(few)}.")
        )
    flat = [one for one, own in all_of if len(own) >= FEWEST and np.ptp(own) == 0.0]
    if flat:
        notes.warn(
            ConstantInputWarning(f"All values are equal, no test of a trend: {', '.join(flat)}.")
        )


def _warn(notes: Notes, people: Iterable[Any], drifting: BoolArray, alpha: float) -> None:
    moved = [str(one) for one, yes in zip(people, drifting, strict=True) if yes]
    if moved:
        notes.warn(
            DriftWarning(
                f"A trend over the work of {', '.join(moved)} (Mann-Kendall, p <= {alpha:g} after "
                "Holm's correction)."
            )
        )
