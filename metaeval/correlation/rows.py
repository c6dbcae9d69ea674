"""Correlations of many short vectors at once: plain arrays, no warnings, nan where undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray

# Above this width the pairwise comparison of whole rows costs more than a loop over rows.
PAIRWISE_WIDTH = 64
# Up to this width sums run over all rows at once, which takes a sixth of the time of row by row.
NARROW = 16
# Four numbers below two to this power multiply to less than the largest float.
SAFE_EXPONENT = 250


def row_pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson per row of two rows x L arrays over the columns where neither is nan."""
    if x.shape[-1] <= NARROW:
        x, y = np.asfortranarray(x), np.asfortranarray(y)
    x, y, valid = _common(x, y)
    n = valid.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = _within_range(centred(x, valid, n))
        y = _within_range(centred(y, valid, n))
        r = (x * y).sum(axis=-1) / np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    return np.where(n > 1, np.clip(r, -1.0, 1.0), np.nan)


def _within_range(x: FloatArray) -> FloatArray:
    """Rows times powers of two where their fourth powers could leave what a float holds."""
    high, low = (
        x.max(axis=-1, keepdims=True, initial=0.0),
        x.min(axis=-1, keepdims=True, initial=0.0),
    )
    exponents = np.frexp(np.maximum(high, -low))[1]
    return x if (np.abs(exponents) < SAFE_EXPONENT).all() else np.ldexp(x, -exponents)


def pearson_table(rows: FloatArray) -> FloatArray:
    """Pearson's r between all rows (m x L, none missing), m x m; nan for a row that is constant.

    A row whose spread is of the size of rounding counts as constant.
    """
    away = rows - rows.mean(axis=1, keepdims=True)
    norms = np.sqrt((away**2).sum(axis=1))
    flat = norms <= 1e-12 * np.abs(rows).max(axis=1, initial=0.0) * np.sqrt(rows.shape[1])
    unit = away / np.where(flat, np.nan, norms)[:, None]
    # Not a matrix product: BLAS adds in another order with another number of threads.
    products = np.array([(unit * row).sum(axis=1) for row in unit])
    return np.asarray(np.clip(products, -1.0, 1.0))


def row_spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman per row: Pearson of the average ranks."""
    x, y, valid = _common(x, y)
    x, y = np.where(valid, x, np.nan), np.where(valid, y, np.nan)
    return row_pearson(row_ranks(x), row_ranks(y))


def row_kendall(x: FloatArray, y: FloatArray, variant: str = "b") -> FloatArray:
    """Kendall's tau-b or tau-c per row."""
    if x.shape[-1] <= PAIRWISE_WIDTH:
        return _row_kendall_pairwise(x, y, variant)
    flat_x, flat_y = x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])
    taus = [kendall_tau(a, b, variant) for a, b in zip(flat_x, flat_y, strict=True)]
    return np.array(taus).reshape(x.shape[:-1])


def kendall_tau(x: FloatArray, y: FloatArray, variant: str = "b") -> float:
    """Kendall's tau of one pair of vectors in O(n log n)."""
    from scipy.stats import kendalltau

    valid = ~(np.isnan(x) | np.isnan(y))
    x, y = x[valid], y[valid]
    if len(x) < 2 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return np.nan
    if len(x) == 2:  # scipy's p divides by the number of cells less two
        return float(np.sign(x[1] - x[0]) * np.sign(y[1] - y[0]))
    return float(kendalltau(x, y, variant=variant, method="asymptotic").statistic)


def row_ranks(x: FloatArray) -> FloatArray:
    """Average ranks per row (1 is the lowest); nan stays nan."""
    if x.shape[-1] <= PAIRWISE_WIDTH:
        signs = np.sign(x[..., :, None] - x[..., None, :])
        n = (~np.isnan(x)).sum(axis=-1, keepdims=True)
        return np.where(np.isnan(x), np.nan, (np.nansum(signs, axis=-1) + n + 1.0) / 2.0)
    from scipy.stats import rankdata

    ranks: FloatArray = rankdata(x, axis=-1, nan_policy="omit")
    return np.where(np.isnan(x), np.nan, ranks)


def distinct_counts(x: FloatArray) -> FloatArray:
    """How many distinct values each row has, nan not counted."""
    ordered = np.sort(x, axis=-1)
    first = ~np.isnan(ordered[..., :1])
    changes = (np.diff(ordered, axis=-1) > 0.0).sum(axis=-1)
    counts: FloatArray = (first.sum(axis=-1) + changes).astype(np.float64)
    return counts


def _row_kendall_pairwise(x: FloatArray, y: FloatArray, variant: str) -> FloatArray:
    x, y, valid = _common(x, y)
    x, y = np.where(valid, x, np.nan), np.where(valid, y, np.nan)
    upper, lower = np.triu_indices(x.shape[-1], 1)
    sign_x = np.nan_to_num(np.sign(x[..., upper] - x[..., lower]))
    sign_y = np.nan_to_num(np.sign(y[..., upper] - y[..., lower]))
    score = (sign_x * sign_y).sum(axis=-1)
    untied_x, untied_y = (sign_x != 0.0).sum(axis=-1), (sign_y != 0.0).sum(axis=-1)
    result = np.full(score.shape, np.nan)
    if variant == "b":
        scale = np.sqrt(untied_x * untied_y.astype(np.float64))
    else:
        n = valid.sum(axis=-1)
        m = np.minimum(distinct_counts(x), distinct_counts(y))
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = n * n * (m - 1.0) / m / 2.0
    np.divide(score, scale, out=result, where=(untied_x > 0) & (untied_y > 0))
    return result


def _common(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    valid = ~(np.isnan(x) | np.isnan(y))
    return x, y, valid


def centred(x: FloatArray, valid: BoolArray, n: NDArray[Any]) -> FloatArray:
    """Remove the row mean; a constant row becomes exactly zero, whatever the rounding."""
    mean = np.where(valid, x, 0.0).sum(axis=-1, keepdims=True) / n[..., None]
    low = np.where(valid, x, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    high = np.where(valid, x, -np.inf).max(axis=-1, keepdims=True, initial=-np.inf)
    return np.where(valid & (low < high), x - mean, 0.0)
