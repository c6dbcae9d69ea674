"""Correlations of many short vectors at once: plain arrays, no warnings, nan where undefined."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from metaeval.arrays import BoolArray, FloatArray, IntArray, Remembered, content

Codes: TypeAlias = NDArray[Any]
# Above this width the pairwise comparison of whole rows costs more than a loop over rows.
PAIRWISE_WIDTH = 64
# Up to this width sums run over all rows at once, which takes a sixth of the time of row by row.
NARROW = 16
# From this number of scores on, the order of a side is remembered.
MANY = 10_000
# As many orders are remembered however many scores they are of: those of one document's tables.
SIDES = 32
# The most scores for which scipy gives Kendall's tau an exact p.
EXACT = 33
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
    """Kendall's tau of one pair of vectors."""
    return kendall_test(x, y, variant)[0]


def kendall_test(x: FloatArray, y: FloatArray, variant: str = "b") -> tuple[float, float]:
    """Return Kendall's tau of one pair of vectors, and its two-sided p; nan where undefined.

    p is exact where nothing ties and there are at most 33 pairs, else the tie-corrected normal's,
    as scipy has it. Discordant pairs are counted by scipy's tree; the rest of `kendalltau` takes
    most of its time. The result on many pairs is remembered, because tables and questions share it.
    """
    valid = ~(np.isnan(x) | np.isnan(y))
    x, y = (x, y) if valid.all() else (x[valid], y[valid])
    n = len(x)
    if n < 2 or (x == x[0]).all() or (y == y[0]).all():
        return np.nan, np.nan
    if (discordant_pairs := _tree()) is None:
        from scipy.stats import kendalltau

        found = kendalltau(x, y, variant=variant)
        return float(found.statistic), float(found.pvalue)
    if n < MANY:
        return _kendall_test(_ordered(x), _ordered(y), variant, discordant_pairs)
    keys = content(x), content(y)
    tau, pvalue = _tests.of(
        content(*keys, variant),
        lambda: np.array(
            _kendall_test(
                _remembered_order(keys[0], x), _remembered_order(keys[1], y), variant,
                discordant_pairs,
            )
        ),
    )  # fmt: skip
    return float(tau), float(pvalue)


# Results of 4,096 tests.
_tests = Remembered(2**16)


def _kendall_test(
    of_x: tuple[Codes, IntArray],
    of_y: tuple[Codes, IntArray],
    variant: str,
    discordant_pairs: Callable[[IntArray, IntArray], int],
) -> tuple[float, float]:
    """Return tau and p of two vectors by their codes and orders."""
    (a, by_x), (b, by_y) = of_x, of_y
    n = len(by_x)
    times_x, times_y = np.bincount(a), np.bincount(b)
    # In order of x, those that tie in x in order of y.
    order = by_x if len(times_x) == n else by_y[_order_of(a[by_y])]
    first, second = (codes[order].astype(np.int64) + 1 for codes in (a, b))
    is_new = (np.diff(first, prepend=0) != 0) | (np.diff(second, prepend=0) != 0)
    times_both = np.bincount(np.cumsum(is_new))
    tied_x, tied_y, tied_both = (
        int((times * (times - 1)).sum()) // 2 for times in (times_x, times_y, times_both)
    )
    pairs, discordant = n * (n - 1) // 2, int(discordant_pairs(first, second))
    score = pairs - tied_x - tied_y + tied_both - 2 * discordant
    if variant == "c":
        m = min(len(times_x), len(times_y))
        tau = 2.0 * score * m / (n * n * (m - 1))
    else:
        tau = score / np.sqrt(float(pairs - tied_x)) / np.sqrt(float(pairs - tied_y))
    fewer = min(discordant, pairs - discordant)
    if n < 3:
        pvalue = np.nan
    elif not (tied_x or tied_y) and (n <= EXACT or fewer <= 1):
        pvalue = min(2.0 * float(_orders(n)[: fewer + 1].sum()), 1.0)
    else:
        pvalue = _normal_pvalue(score, n, times_x, times_y)
    return float(min(1.0, max(-1.0, tau))), pvalue


@lru_cache(maxsize=1)
def _tree() -> Callable[[IntArray, IntArray], int] | None:
    """Return scipy's count of discordant pairs; None where a later scipy does not have it."""
    stats: Any = import_module("scipy.stats._stats")
    return getattr(stats, "_kendall_dis", None)


def _normal_pvalue(score: int, n: int, *times: IntArray) -> float:
    """Return the two-sided p of Kendall's score; ``times`` counts each distinct value of a side."""
    counts = [each.astype(np.float64) for each in times]
    pairs = [float((t * (t - 1.0)).sum()) for t in counts]
    triples = [float((t * (t - 1.0) * (t - 2.0)).sum()) for t in counts]
    spread = [float((t * (t - 1.0) * (2.0 * t + 5.0)).sum()) for t in counts]
    m = n * (n - 1.0)
    variance = (m * (2.0 * n + 5.0) - sum(spread)) / 18.0 + pairs[0] * pairs[1] / (2.0 * m)
    variance += triples[0] * triples[1] / (9.0 * m * (n - 2.0))
    return float(2.0 * ndtr(-abs(score) / np.sqrt(variance)))


@lru_cache(maxsize=64)
def _orders(n: int) -> FloatArray:
    """Return the shares of all orders of n things that have 0, 1, 2, … inversions.

    The k-th thing adds 0 to k - 1 of them, each as likely. Beyond EXACT things the first two alone.
    """
    size = n * (n - 1) // 2 + 1 if n <= EXACT else 2
    shares = np.zeros(size)
    shares[0] = 1.0
    for k in range(2, n + 1):
        sums = np.cumsum(shares)
        shares = (sums - np.concatenate([np.zeros(min(k, size)), sums[:-k]])) / k
    return shares


def _ordered(values: FloatArray) -> tuple[Codes, IntArray]:
    """Return codes in the order of the values, equal where they tie, and that order."""
    order = np.argsort(values)
    ordered = values[order]
    codes = np.zeros(len(values), dtype=np.uint16 if len(values) < 2**16 else np.uint32)
    codes[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1], dtype=codes.dtype)
    return codes, order


def ordered_codes(values: FloatArray) -> tuple[Codes, IntArray]:
    """Return the same; of many values remembered, since one side meets that of every metric."""
    if len(values) < MANY:
        return _ordered(values)
    return _remembered_order(content(values), values)


def _remembered_order(key: bytes, values: FloatArray) -> tuple[Codes, IntArray]:
    small = np.uint32 if len(values) < 2**32 else np.int64
    found: NDArray[Any] = _remembered.of(
        key, lambda: np.stack([each.astype(small) for each in _ordered(values)])
    )
    codes = found[0].astype(np.uint16 if len(values) < 2**16 else np.uint32)
    return codes, found[1].astype(np.int64)


def _order_of(codes: Codes) -> IntArray:
    """Return the order of codes, stable: sixteen bits at a time are sorted by counting."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    if codes.dtype.itemsize > 2:
        order = order[np.argsort((codes >> 16).astype(np.uint16)[order], kind="stable")]
    return order


_remembered = Remembered(2**25, SIDES)


def row_ranks(x: FloatArray) -> FloatArray:
    """Average ranks per row (1 is the lowest); nan stays nan."""
    if x.shape[-1] <= PAIRWISE_WIDTH:
        signs = np.sign(x[..., :, None] - x[..., None, :])
        n = (~np.isnan(x)).sum(axis=-1, keepdims=True)
        return np.where(np.isnan(x), np.nan, (np.nansum(signs, axis=-1) + n + 1.0) / 2.0)
    ranks = np.full(x.shape, np.nan)
    for row, found in zip(x.reshape(-1, x.shape[-1]), ranks.reshape(-1, x.shape[-1]), strict=True):
        known = ~np.isnan(row)
        codes = _ordered(row[known])[0]
        counts = np.bincount(codes)
        found[known] = (np.cumsum(counts) - (counts - 1.0) / 2.0)[codes]
    return ranks


def distinct_counts(x: FloatArray) -> FloatArray:
    """Return the number of distinct values in each row, without nan."""
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
