"""Mann-Kendall test for a trend in an annotator's scores or times over the course of their work."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    factorize,
    fraction,
    one_length,
)
from metaeval.correlation.coefficients import kendall
from metaeval.documents import DOCUMENTS, clusters_from, sizes_of, sum_by, unit_of
from metaeval.messages import message, truncated
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
    """An annotator's values rise or fall over the course of their work."""

    code = "drift"


@dataclass(frozen=True, kw_only=True, eq=False)
class Drift(Result):
    """Trend per annotator; arrays follow ``annotators``, and ``n`` counts values.

    ``units`` counts the tested documents of each annotator, or values if ``unit`` is segments;
    ``n_units`` is their sum.
    ``tau`` is Kendall's tau-b of position and value, ``pvalue`` its two-sided p, ``adjusted`` that
    p after Holm's correction over the annotators; ``first`` and ``last`` are the means of the first
    and the last third. All but the means are nan with fewer than ten units or equal values.
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
    unit: str
    n_units: int
    units: IntArray


def drift(
    values: ArrayLike,
    annotators: Iterable[Hashable],
    *,
    documents: Iterable[Hashable] | None = None,
    alpha: float = 0.05,
) -> Drift:
    """Test each annotator's values, in the order given, for a monotone trend.

    The test of Mann (1945) and Kendall (1975): tau-b of position and value, so a single pause or
    outlier has little influence. It assumes independent values. With documents, it uses the mean
    position and mean value of each document that an annotator worked on.

    Parameters
    ----------
    values
        Scores or times, each annotator's in the order of their work; nan is excluded and counted.
    documents
        The document of each value; by default each value is a document of its own.

    Warns
    -----
    DriftWarning
        An annotator's trend is significant at ``alpha`` after Holm's correction.
    TooFewWarning
        An annotator has fewer than ten values, or documents.
    ConstantInputWarning
        An annotator's values are all equal.

    Examples
    --------
    >>> result = drift([*range(12), *[5, 6, 5, 7, 5, 6, 7, 5, 6, 5, 7, 6]], ["A"] * 12 + ["B"] * 12)
    >>> result.annotators, result.is_drifting.tolist()
    (('A', 'B'), [True, False])
    """
    scores = as_floats("values", values, ndim=1)
    fraction("alpha", alpha)
    people, who = factorize(annotators)
    one_length(values=scores, annotators=who)
    notes = Notes()
    notes.exclude("missing-value", int(np.isnan(scores).sum()))
    of = clusters_from(documents, len(scores))
    unit = unit_of(of[~np.isnan(scores)])
    chosen = [(who == i) & ~np.isnan(scores) for i in range(len(people))]
    series = [scores[one] for one in chosen]
    by_unit = [_over_documents(scores[one], of[one]) for one in chosen]
    trends = [_trend(*own) for own in by_unit]
    tau, pvalue = np.array(trends, dtype=np.float64).reshape(-1, 2).T
    adjusted = adjust_pvalues(pvalue, method="holm", alpha=alpha)
    counts = np.array([len(own) for own in series], dtype=np.int64)
    _warn_untested(notes, people, [own for _, own in by_unit], unit)
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
        unit=unit,
        n_units=sum(len(own) for _, own in by_unit),
        units=np.array([len(own) for _, own in by_unit], dtype=np.int64),
    )


def _over_documents(own: FloatArray, of: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean place and the mean value of each document."""
    sizes = sizes_of(of)
    places = np.arange(len(own), dtype=np.float64)
    return sum_by(places, of) / sizes, sum_by(own, of) / sizes


def _trend(places: FloatArray, own: FloatArray) -> tuple[float, float]:
    """Return tau-b and p, nan for too few values or equal ones."""
    if len(own) < FEWEST or np.ptp(own) == 0.0:
        return np.nan, np.nan
    found = kendall(places, own)
    return found.statistic, np.nan if found.pvalue is None else found.pvalue


def _ends(own: FloatArray) -> tuple[float, float]:
    third = max(1, len(own) // 3)
    return (own[:third].mean(), own[-third:].mean()) if len(own) else (np.nan, np.nan)


def _warn_untested(
    notes: Notes, people: Iterable[Any], series: list[FloatArray], unit: str
) -> None:
    all_of = [(str(one), own) for one, own in zip(people, series, strict=True)]
    few = [one for one, own in all_of if len(own) < FEWEST]
    if few and unit == DOCUMENTS:
        notes.warn(
            TooFewWarning(
                message(
                    "drift.few-documents",
                    "Annotators with fewer than {fewest} documents are not tested for a trend: "
                    "{annotators}.",
                    fewest=FEWEST,
                    annotators=truncated(few),
                )
            )
        )
    elif few:
        notes.warn(
            TooFewWarning(
                message(
                    "drift.few-values",
                    "Annotators with fewer than {fewest} values are not tested for a trend: "
                    "{annotators}.",
                    fewest=FEWEST,
                    annotators=truncated(few),
                )
            )
        )
    flat = [one for one, own in all_of if len(own) >= FEWEST and np.ptp(own) == 0.0]
    if flat:
        notes.warn(
            ConstantInputWarning(
                message(
                    "drift.constant",
                    "Annotators whose values are all equal are not tested for a trend: "
                    "{annotators}.",
                    annotators=truncated(flat),
                )
            )
        )


def _warn(notes: Notes, people: Iterable[Any], drifting: BoolArray, alpha: float) -> None:
    moved = [str(one) for one, yes in zip(people, drifting, strict=True) if yes]
    if moved:
        notes.warn(
            DriftWarning(
                message(
                    "drift.found",
                    "These annotators show a trend over the course of their work: {annotators} "
                    "(Mann–Kendall test, p ≤ {alpha:r} after Holm’s correction).",
                    annotators=truncated(moved),
                    alpha=alpha,
                )
            )
        )
