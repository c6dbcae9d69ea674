"""Reliability of ratings: intraclass correlation and weighted kappa."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from metaeval.arrays import FloatArray, as_floats, as_pair, fraction, one_of
from metaeval.results import (
    ConstantInputWarning,
    Interval,
    Notes,
    StatisticResult,
    TooFewWarning,
)

ICC_FORMS = ("1", "A1", "C1", "1k", "Ak", "Ck")


def icc(ratings: ArrayLike, *, form: str = "A1", confidence: float = 0.95) -> StatisticResult:
    """Intraclass correlation of annotators (Shrout and Fleiss 1979; McGraw and Wong 1996).

    From the mean squares of items (R), annotators (C) and error (E), k annotators, n items:
    ``A1`` = (R - E) / (R + (k-1) E + k (C - E) / n), absolute agreement of single ratings;
    ``C1`` = (R - E) / (R + (k-1) E), consistency; ``1`` = (R - W) / (R + (k-1) W) with W within
    items, annotators not matched. ``Ak``, ``Ck``, ``1k`` are those of the mean of k ratings.

    Parameters
    ----------
    ratings
        annotators x items; items with a missing rating are left out and counted.
    form
        One of the six.

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
    notes.leave_out("item with a missing rating", int((~complete).sum()))
    x = matrix[:, complete]
    k, n = x.shape
    if k < 2 or n < 2:
        notes.warn(TooFewWarning(f"{n} complete items and {k} annotators: ICC needs two of each."))
        return _icc_result(form, n, np.nan, Interval(np.nan, np.nan, confidence), notes)
    if np.ptp(x) == 0.0:
        notes.warn(ConstantInputWarning("All ratings are equal: ICC is undefined."))
        return _icc_result(form, n, np.nan, Interval(np.nan, np.nan, confidence), notes)
    rows, columns, error, within = _mean_squares(x)
    low_tail, high_tail = (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0
    noise = within if form[0] == "1" else error
    spare: float = n * (k - 1) if form[0] == "1" else (n - 1) * (k - 1)
    if form[0] == "A":
        value = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
        spare = _agreement_df(value, rows, columns, error, n, k)
        quantile = fdtri([n - 1, spare], [spare, n - 1], high_tail)
        shift = k * columns + (k * n - k - n) * error
        low = n * (rows - quantile[0] * error) / (quantile[0] * shift + n * rows)
        high = n * (quantile[1] * rows - error) / (shift + n * quantile[1] * rows)
    else:
        ratio = rows / noise if noise > 0.0 else np.inf
        value = (rows - noise) / (rows + (k - 1) * noise)
        below = ratio / fdtri(n - 1, spare, high_tail)
        above = ratio / fdtri(n - 1, spare, low_tail)
        low, high = (_from_ratio(f, k) for f in (below, above))
    if form.endswith("k"):
        value, low, high = (_stepped_up(r, k) for r in (value, low, high))
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
    notes.leave_out("item with a missing rating", int((~known).sum()))
    x, y = x[known], y[known]
    kappa = np.nan
    if len(x):
        power = {"unweighted": 0.0, "linear": 1.0, "quadratic": 2.0}[weights]
        chance = float(_distances(x[:, None] - y[None, :], power).mean())
        if chance > 0.0:
            kappa = 1.0 - float(_distances(x - y, power).mean()) / chance
        else:
            notes.warn(ConstantInputWarning("Both annotators gave one score: kappa is undefined."))
    else:
        notes.warn(TooFewWarning("No item has both ratings: kappa is undefined."))
    return StatisticResult(
        n=len(x),
        **notes.fields,
        statistic=kappa,
        method=f"{weights} kappa",
    )


def _mean_squares(x: FloatArray) -> tuple[float, float, float, float]:
    k, n = x.shape
    items, raters, grand = x.mean(axis=0), x.mean(axis=1), x.mean()
    rows = k * float(((items - grand) ** 2).sum()) / (n - 1)
    columns = n * float(((raters - grand) ** 2).sum()) / (k - 1)
    within = float(((x - items) ** 2).sum()) / (n * (k - 1))
    residual = x - items - raters[:, None] + grand
    return rows, columns, float((residual**2).sum()) / ((n - 1) * (k - 1)), within


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
    """Spearman-Brown: the reliability of the mean of k ratings."""
    return float(k * r / (1.0 + (k - 1) * r))


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
