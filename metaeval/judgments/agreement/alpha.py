"""Intervals of Krippendorff's alpha (interval level) from the sums of each unit.

A unit with m ratings has the sums m, w = 2 m SS/(m - 1), t = sum of x and q = sum of x². With n, W,
T and Q their totals and D = nQ - T², alpha = 1 - (n - 1) W/(2D).
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtri, stdtrit

from metaeval.arrays import FloatArray
from metaeval.judgments.agreement.paired import TINY
from metaeval.resampling import block_counts, blocks
from metaeval.results import Interval

# Index pairs of the products of two sums, the lower ones twice as heavy off the diagonal.
ROWS, COLUMNS = np.triu_indices(4)
TWICE = np.where(ROWS == COLUMNS, 1.0, 2.0)


def log_disagreement(totals: FloatArray) -> FloatArray:
    """Return log(1 - alpha) of totals (... x 4); -inf without disagreement, nan without spread."""
    n, within, total, squares = np.moveaxis(totals, -1, 0)
    spread = n * squares - total**2
    found = np.full(np.shape(n), np.nan)
    varied = spread > TINY * n * n
    with np.errstate(divide="ignore"):
        np.divide((n - 1.0) * within, 2.0 * spread, out=found, where=varied)
        return np.asarray(np.log(found))


def influence(totals: FloatArray) -> FloatArray:
    """Return the coefficients (... x 4) of a unit's sums in its influence on log(1 - alpha).

    l_u = m_u/(n - 1) + w_u/W - (n q_u + m_u Q - 2 T t_u)/D.
    """
    n, within, total, squares = np.moveaxis(totals, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = n * squares - total**2
        parts = [1.0 / (n - 1.0) - squares / spread, 1.0 / within, 2.0 * total / spread]
        return np.stack([*parts, -n / spread], axis=-1)


def standard_errors(totals: FloatArray, products: FloatArray, n_units: int) -> FloatArray:
    """Return the standard error of log(1 - alpha): N/(N - 1) times the sum of (l - mean l)².

    ``totals`` (... x 4) are sums over units, ``products`` (... x 10) those of their products.
    """
    by = influence(totals)
    with np.errstate(invalid="ignore"):
        squares = (TWICE * by[..., ROWS] * by[..., COLUMNS] * products).sum(axis=-1)
        spread = squares - (by * totals).sum(axis=-1) ** 2 / n_units
        return np.asarray(np.sqrt(np.maximum(spread, 0.0) * n_units / (n_units - 1.0)))


def studentised(
    sums: FloatArray, *, n_resamples: int, confidence: float, seed: int
) -> tuple[Interval | None, int]:
    """Interval of alpha by the studentised bootstrap of log(1 - alpha) over units.

    T* = (L* - L)/se* in each resample; the ends are 1 - exp(L - q se) at the quantiles q of T*.
    Returns the interval and the number of resamples without spread, which are excluded. The
    interval is None if resamples without disagreement make an end infinite.
    """
    columns = np.concatenate([sums, sums[:, ROWS] * sums[:, COLUMNS]], axis=1)
    n_units, whole = len(sums), columns.sum(axis=0)
    level = float(log_disagreement(whole[:4]))
    error = float(standard_errors(whole[:4], whole[4:], n_units))
    ratios = np.concatenate(
        [
            _ratios(block_counts(seed, (number,), end - start, n_units) @ columns, level, n_units)
            for number, start, end in blocks(n_resamples)
        ]
    )
    defined = ratios[~np.isnan(ratios)]
    tail = (1.0 - confidence) / 2.0
    if not len(defined) or not error > 0.0:
        return None, len(ratios) - len(defined)
    # Alpha is never below -1. Nothing to interpolate between an infinite ratio and a finite one.
    q = np.quantile(defined, [tail, 1.0 - tail], method="closest_observation")
    with np.errstate(over="ignore"):
        low, high = 1.0 - np.exp(level - q * error)
    interval = Interval(max(float(low), -1.0), float(high), confidence)
    return (interval if np.isfinite(q).all() else None), len(ratios) - len(defined)


def delta_interval(sums: FloatArray, confidence: float) -> Interval:
    """The same without samples: T* has the t distribution with N - 1 degrees of freedom."""
    totals, products = sums.sum(axis=0), (sums[:, ROWS] * sums[:, COLUMNS]).sum(axis=0)
    error = standard_errors(totals, products, len(sums))
    half = stdtrit(len(sums) - 1, (1.0 + confidence) / 2.0) * error
    with np.errstate(over="ignore"):
        high, low = 1.0 - np.exp(log_disagreement(totals) + np.array([-half, half]))
    return Interval(max(float(low), -1.0), float(high), confidence)


def _ratios(drawn: FloatArray, level: float, n_units: int) -> FloatArray:
    """T* of each resample: infinite where it has no disagreement, nan where it has no spread."""
    totals = drawn[:, :4]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = log_disagreement(totals)
        ratios = (logs - level) / standard_errors(totals, drawn[:, 4:], n_units)
    return np.where(np.isneginf(logs), -np.inf, ratios)


def f_interval(sums: FloatArray, confidence: float) -> Interval:
    """Interval of the one-way intraclass correlation, exact for normal ratings, complete data.

    F = MSB/MSW over N units of m ratings; the ends are (F' - 1)/(F' + m - 1) at F/F_{N-1, N(m-1)}
    and F F_{N(m-1), N-1} (Shrout and Fleiss 1979, case 1).
    """
    n_units, m = len(sums), float(sums[0, 0])
    means = sums[:, 2] / m
    between = m * float(((means - means.mean()) ** 2).sum()) / (n_units - 1)
    inside = float(sums[:, 1].sum()) * (m - 1.0) / (2.0 * m) / (n_units * (m - 1.0))
    ratio, top = between / inside, 1.0 - (1.0 - confidence) / 2.0
    df = n_units - 1, n_units * (m - 1.0)
    low, high = ratio / fdtri(*df, top), ratio * fdtri(*df[::-1], top)
    low, high = ((each - 1.0) / (each + m - 1.0) for each in (low, high))
    return Interval(float(low), float(high), confidence)
