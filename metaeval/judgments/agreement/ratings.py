"""Reliability of ratings: intraclass correlation and weighted kappa."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from metaeval.arrays import FloatArray, as_floats, as_pair, fraction, one_of
from metaeval.correlation.intervals.jackknife import jackknife_t
from metaeval.documents import DOCUMENTS, clusters_from, has_enough_documents, unit_of
from metaeval.messages import Message, message, plural
from metaeval.results import (
    ConstantInputWarning,
    Interval,
    Notes,
    StatisticResult,
    StatisticsWarning,
    TooFewWarning,
)
from metaeval.rounding import SHARE, largest

ICC_FORMS = ("1", "A1", "C1", "1k", "Ak", "Ck")


def icc(
    ratings: ArrayLike,
    *,
    documents: Iterable[Hashable] | None = None,
    form: str = "A1",
    confidence: float = 0.95,
) -> StatisticResult:
    """Intraclass correlation of annotators (Shrout and Fleiss 1979; McGraw and Wong 1996).

    From the mean squares of items (R), annotators (C) and error (E), k annotators, n items:
    ``A1`` = (R - E) / (R + (k-1) E + k (C - E) / n), absolute agreement of single ratings;
    ``C1`` = (R - E) / (R + (k-1) E), consistency; ``1`` = (R - W) / (R + (k-1) W) with W within
    items, annotators not matched. ``Ak``, ``Ck``, ``1k`` are those of the mean of k ratings.

    All may be negative where annotators differ more on an item than items do: ``1`` and ``C1`` down
    to -1 / (k-1), those of means without bound, and their intervals may have no lower end (-inf).

    Parameters
    ----------
    ratings
        annotators x items; items with a missing rating are excluded and counted.
    documents
        The document of each item; without it each is one. The F intervals take items for
        independent; of documents the interval is that of a jackknife over them, of atanh of the
        coefficient of single ratings, with t.
    form
        One of the six.

    Warns
    -----
    TooFewWarning, ConstantInputWarning, MissingDataWarning
        Fewer than two complete items or annotators, equal ratings, equal means of items where the
        form divides by their variance, or an estimate that is no correlation: nan. Or no degrees
        of freedom are left for the interval of A1 and Ak: its ends are nan. Fewer than 20
        documents; below six the ends are nan.

    Examples
    --------
    >>> scores = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> [round(icc(scores, form=form).statistic, 2) for form in ("1", "A1", "C1")]
    [0.17, 0.29, 0.71]
    """
    one_of("form", form, ICC_FORMS)
    fraction("confidence", confidence)
    matrix = as_floats("ratings", ratings, ndim=2)
    notes = Notes()
    complete = ~np.isnan(matrix).any(axis=0)
    notes.exclude_missing(_incomplete(int((~complete).sum())))
    x, of = matrix[:, complete], clusters_from(documents, matrix.shape[1])[complete]
    k, n = x.shape
    if k < 2 or n < 2:
        notes.warn(
            TooFewWarning(
                message(
                    "icc.too-few",
                    "ICC needs at least two complete items and two annotators. Complete items: "
                    "{items}. Annotators: {annotators}.",
                    items=n,
                    annotators=k,
                )
            )
        )
        return _icc_result(form, n, np.nan, Interval(np.nan, np.nan, confidence), notes)
    if np.ptp(x) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message("icc.constant", "All ratings are equal, so ICC is undefined.")
            )
        )
        return _icc_result(form, n, np.nan, Interval(np.nan, np.nan, confidence), notes)
    squares = _mean_squares(x)
    estimate = _of_agreement if form[0] == "A" else _of_consistency
    value, low, high = estimate(form, squares, n, k, confidence)
    if unit_of(of) == DOCUMENTS:
        low, high = np.nan, np.nan
        if has_enough_documents(of, notes):
            left = (x[:, of != one] for one in np.unique(of))
            without = [
                estimate(form, _mean_squares(part), part.shape[1], k, confidence)[0]
                for part in left
            ]
            low, high, _ = jackknife_t(value, np.array(without), confidence)
    if form.endswith("k"):
        value, low, high = (_stepped_up(r, k) for r in (value, low, high))
    if not (np.isfinite(value) and (form.endswith("k") or value >= -1.0)):
        notes.warn(_no_correlation(squares.rows))
        value, low, high = np.nan, np.nan, np.nan
    elif not low - SHARE <= value <= high + SHARE and unit_of(of) != DOCUMENTS:
        notes.warn(
            TooFewWarning(
                message("icc.no-interval", "There are too few ratings for an interval of ICC.")
            )
        )
        low, high = np.nan, np.nan
    low = low if form.endswith("k") else float(np.maximum(low, -1.0))
    return _icc_result(form, n, float(value), Interval(float(low), float(high), confidence), notes)


def weighted_kappa(
    first: ArrayLike, second: ArrayLike, *, weights: str = "quadratic"
) -> StatisticResult:
    """Cohen's kappa of two annotators on ordered categories (Cohen 1968).

    kappa = 1 - sum w o / sum w e, with o the observed and e the chance proportions and w = 1 off
    the diagonal (``unweighted``), |i - j| (``linear``) or (i - j)^2 (``quadratic``). i and j are
    the ratings themselves, so the scale's steps count as they are written.

    Examples
    --------
    >>> round(weighted_kappa([1, 2, 3, 3], [1, 3, 3, 2]).statistic, 3)
    0.636
    """
    one_of("weights", weights, ("unweighted", "linear", "quadratic"))
    x, y = as_pair("first", first, "second", second)
    notes = Notes()
    known = ~(np.isnan(x) | np.isnan(y))
    notes.exclude_missing(_incomplete(int((~known).sum())))
    x, y = x[known], y[known]
    kappa = np.nan
    if len(x):
        power = {"unweighted": 0.0, "linear": 1.0, "quadratic": 2.0}[weights]
        chance = float(_distances(x[:, None] - y[None, :], power).mean())
        if chance > 0.0:
            kappa = 1.0 - float(_distances(x - y, power).mean()) / chance
        else:
            notes.warn(
                ConstantInputWarning(
                    message("kappa.constant", "All ratings are equal, so kappa is undefined.")
                )
            )
    else:
        notes.warn(
            TooFewWarning(
                message(
                    "kappa.no-pairs",
                    "No item has ratings by both annotators, so kappa is undefined.",
                )
            )
        )
    return StatisticResult(
        n=len(x),
        **notes.fields,
        statistic=kappa,
        method=f"{weights} kappa",
    )


def _incomplete(n: int) -> Message:
    return plural(
        "agreement.incomplete-items",
        "Excluded {n} item with a missing rating.",
        "Excluded {n} items with a missing rating.",
        n=n,
    )


@dataclass(frozen=True)
class _Squares:
    """Mean squares of items, of annotators, of error, and within items."""

    rows: float
    columns: float
    error: float
    within: float


def _mean_squares(x: FloatArray) -> _Squares:
    """Return the mean squares, those that are rounding as 0."""
    k, n = x.shape
    items, raters, grand = x.mean(axis=0), x.mean(axis=1), x.mean()
    residual = x - items - raters[:, None] + grand
    found = (
        k * float(((items - grand) ** 2).sum()) / (n - 1),
        n * float(((raters - grand) ** 2).sum()) / (k - 1),
        float((residual**2).sum()) / ((n - 1) * (k - 1)),
        float(((x - items) ** 2).sum()) / (n * (k - 1)),
    )
    least = (SHARE * largest(x)) ** 2
    return _Squares(*(square if square > least else 0.0 for square in found))


def _of_agreement(
    form: str, squares: _Squares, n: int, k: int, confidence: float
) -> tuple[float, float, float]:
    """A1 and its interval; nan where nothing varies but error of two by two ratings."""
    rows, columns, error = squares.rows, squares.columns, squares.error
    total = rows + (k - 1) * error + k * (columns - error) / n
    if not total > 0.0:
        return np.nan, np.nan, np.nan
    value = (rows - error) / total
    spare = _agreement_df(value, rows, columns, error, n, k)
    below, above = fdtri([n - 1, spare], [spare, n - 1], (1.0 + confidence) / 2.0).tolist()
    shift = k * columns + (k * n - k - n) * error
    low = n * (rows - below * error) / (below * shift + n * rows)
    return value, low, n * (above * rows - error) / (shift + n * above * rows)


def _of_consistency(
    form: str, squares: _Squares, n: int, k: int, confidence: float
) -> tuple[float, float, float]:
    """1 or C1 and its interval; nan where neither items nor error vary."""
    is_one_way = form[0] == "1"
    noise = squares.within if is_one_way else squares.error
    spare: float = n * (k - 1) if is_one_way else (n - 1) * (k - 1)
    if not squares.rows + noise > 0.0:
        return np.nan, np.nan, np.nan
    ratio = squares.rows / noise if noise > 0.0 else np.inf
    ends = fdtri(n - 1, spare, [(1.0 + confidence) / 2.0, (1.0 - confidence) / 2.0])
    low, high = (_from_ratio(ratio / float(end), k) for end in ends)
    return _from_ratio(ratio, k), low, high


def _no_correlation(rows: float) -> StatisticsWarning:
    if rows > 0.0:
        return TooFewWarning(
            message(
                "icc.out-of-range",
                "Ratings differ more within items than this form of ICC can express, so it is "
                "undefined.",
            )
        )
    return ConstantInputWarning(
        message("icc.equal-means", "All items have the same mean rating, so ICC is undefined.")
    )


def _agreement_df(value: float, rows: float, columns: float, error: float, n: int, k: int) -> float:
    """Satterthwaite's degrees of freedom (McGraw and Wong 1996, table 7)."""
    a = k * value / (n * (1.0 - value)) if value < 1.0 else np.inf
    b = 1.0 + k * value * (n - 1) / (n * (1.0 - value)) if value < 1.0 else np.inf
    if not np.isfinite(a):
        return float((n - 1) * (k - 1))
    below = (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    return float((a * columns + b * error) ** 2 / below) if below else float((n - 1) * (k - 1))


def _from_ratio(ratio: float, k: int) -> float:
    return 1.0 if np.isinf(ratio) else float((ratio - 1.0) / (ratio + k - 1.0))


def _stepped_up(r: float, k: int) -> float:
    """Spearman-Brown: the reliability of the mean of k ratings; no end below -1/(k - 1)."""
    # At -1/(k - 1) the means do not vary, however the fraction is rounded.
    share = 1.0 + (k - 1) * r
    return float(k * r / share) if not share <= SHARE else -np.inf


def _distances(gaps: FloatArray, power: float) -> FloatArray:
    return (gaps != 0.0).astype(np.float64) if power == 0.0 else np.abs(gaps) ** power


def _icc_result(
    form: str, n: int, value: float, interval: Interval, notes: Notes
) -> StatisticResult:
    return StatisticResult(
        n=n,
        **notes.fields,
        statistic=value,
        interval=interval,
        method=f"ICC({form})",
    )
