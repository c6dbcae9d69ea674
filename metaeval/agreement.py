"""Agreement between annotators: one-vs-rest Pearson and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, one_of
from metaeval.disagreement import LEVELS, Disagreement, disagreement
from metaeval.results import (
    ConstantInputWarning,
    Notes,
    Result,
    StatisticResult,
    TooFewWarning,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class OneVsRest(Result):
    """One-vs-rest Pearson correlations.

    ``statistic`` is the mean of ``r`` over the annotators for whom it is defined; ``r`` and
    ``counts`` (items behind each r) follow ``annotators``. ``n`` counts items with at least two
    ratings.
    """

    statistic: float
    annotators: tuple[str, ...]
    r: FloatArray
    counts: IntArray
    method: str = "one-vs-rest Pearson"


def one_vs_rest_pearson(
    ratings: ArrayLike, *, annotators: Iterable[str] | None = None
) -> OneVsRest:
    """Correlate each annotator with the mean of the others.

    r_a = Pearson(x_a, mean over the other annotators present), over the items that a and at
    least one other annotator rated. On raw ratings the mean of the rest weighs annotators by
    their spread; on z-scores it does not (``docs/statistics.md``).

    Parameters
    ----------
    ratings
        annotators x items, nan where an annotator did not rate the item.
    annotators
        Names of the rows; default A1, A2, ...

    Warns
    -----
    ConstantInputWarning, TooFewWarning
        Where an annotator's r is undefined (nan); the mean leaves it out.

    Examples
    --------
    >>> one_vs_rest_pearson([[1, 2, 3, 4], [1, 3, 2, 4], [2, 2, 4, 4]]).r.round(4).tolist()
    [0.9923, 0.6508, 0.7071]
    """
    matrix = as_floats("ratings", ratings, ndim=2)
    names = _annotator_names(annotators, len(matrix))
    notes = Notes()
    present = ~np.isnan(matrix)
    raters = present.sum(axis=0)
    notes.exclude("item with fewer than two ratings", int((raters < 2).sum()))
    total = np.where(present, matrix, 0.0).sum(axis=0)
    values = np.full(len(matrix), np.nan)
    counts = np.zeros(len(matrix), dtype=np.int64)
    for index, row in enumerate(matrix):
        used = present[index] & (raters > 1)
        rest = (total[used] - row[used]) / (raters[used] - 1)
        counts[index] = used.sum()
        values[index] = _one_vs_rest(row[used], rest, names[index], notes)
    defined = ~np.isnan(values)
    return OneVsRest(
        n=int((raters > 1).sum()),
        reasons=notes.reasons,
        warnings=notes.warnings,
        statistic=float(values[defined].mean()) if defined.any() else np.nan,
        annotators=names,
        r=values,
        counts=counts,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Alpha(StatisticResult):
    """Krippendorff's alpha.

    ``n`` counts the pairable ratings (in items with at least two), ``n_items`` those items;
    ``observed`` and ``expected`` are the two disagreements of alpha = 1 - D_o/D_e.
    """

    n_items: int
    observed: float
    expected: float


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    level: str = "interval",
) -> Alpha:
    """Krippendorff's alpha = 1 - D_o / D_e.

    Items with fewer than two ratings are left out; with m_u ratings in item u and n in all,
    D_o = (1/n) sum_u [sum of squared differences over ordered pairs] / (m_u - 1) and
    D_e = [the same over all pairs] / (n (n - 1)) (Krippendorff 2011, "Computing Krippendorff's
    alpha-reliability"). Interval and nominal are O(n); ordinal is interval on mid-ranks, which
    its distance function equals; ratio takes all pairs of distinct values. `agreement_interval`
    has an interval for it at the interval level; for the other levels none is known to hold.

    Parameters
    ----------
    ratings
        annotators x items, nan where missing. Raw scores or z-scores: say which, it decides.
    level
        ``nominal``, ``ordinal``, ``interval`` or ``ratio``.

    Raises
    ------
    ValueError
        Unknown level, or negative ratings at the ratio level.

    Warns
    -----
    ConstantInputWarning, TooFewWarning
        All ratings equal, or no item with two: alpha is nan (the ``krippendorff`` package raises).

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 2, 3, 4], [1, 2, 3, 5]]).statistic, 4)
    0.9369
    """
    matrix = as_floats("ratings", ratings, ndim=2)
    one_of("level", level, LEVELS)
    notes = Notes()
    raters = (~np.isnan(matrix)).sum(axis=0)
    notes.exclude("item with fewer than two ratings", int((raters < 2).sum()))
    parts = disagreement(matrix[:, raters > 1], level)
    observed, expected = parts.observed(), parts.expected()
    return Alpha(
        n=parts.n,
        n_items=parts.n_items,
        statistic=_alpha(parts, observed, expected, notes),
        observed=observed,
        expected=expected,
        reasons=notes.reasons,
        warnings=notes.warnings,
        method=f"Krippendorff's alpha ({level})",
    )


def _one_vs_rest(own: FloatArray, rest: FloatArray, name: str, notes: Notes) -> float:
    if len(own) < 2:
        notes.warn(TooFewWarning(f"{name} shares {len(own)} items with others: r is undefined."))
        return np.nan
    if np.ptp(own) == 0.0 or np.ptp(rest) == 0.0:
        whose = name if np.ptp(own) == 0.0 else f"the mean of the others ({name} left out)"
        notes.warn(ConstantInputWarning(f"The ratings of {whose} are constant: r is undefined."))
        return np.nan
    own, rest = own - own.mean(), rest - rest.mean()
    return float(np.clip(own @ rest / np.sqrt((own @ own) * (rest @ rest)), -1.0, 1.0))


def _annotator_names(annotators: Iterable[str] | None, size: int) -> tuple[str, ...]:
    names = tuple(annotators) if annotators is not None else ()
    if annotators is None:
        return tuple(f"A{index + 1}" for index in range(size))
    if len(names) != size:
        raise ValueError(f"annotators: {len(names)} names for {size} rows of ratings")
    return names


def _alpha(parts: Disagreement, observed: float, expected: float, notes: Notes) -> float:
    if parts.n_items == 0:
        notes.warn(TooFewWarning("No item has two ratings: alpha is undefined."))
        return np.nan
    if parts.is_constant:
        notes.warn(ConstantInputWarning("All ratings are equal: alpha is undefined."))
        return np.nan
    return 1.0 - observed / expected
