"""How far each observation moves a correlation: influence values of r, rho, tau and acc_eq.

A correlation's error is nearly the mean of these values over the observations, so their sums over
clusters (segments, systems) give its standard error where observations are not independent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from metaeval.arrays import FloatArray, Remembered, content
from metaeval.correlation.measure import Measure
from metaeval.correlation.pair_counts import agreements, codes_of
from metaeval.correlation.rows import SIDES, ordered_codes
from metaeval.correlation.ties import PairTable

Influence = Callable[[FloatArray, FloatArray], FloatArray]


def influence_of(measure: Measure) -> Influence:
    """Return the function for r, rho or tau."""
    if measure.correlation == "kendall":
        return partial(kendall_influence, variant=measure.variant)
    return pearson_influence if measure.correlation == "pearson" else spearman_influence


def pearson_influence(z: FloatArray, x: FloatArray) -> FloatArray:
    """Influence of each pair on r: z x - r (z^2 + x^2) / 2 of the standardised values (n,).

    nan where a side is constant, as in all functions here.

    Examples
    --------
    >>> pearson_influence(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])).round(3).tolist()
    [0.75, -0.375, -0.375]
    """
    if not _vary(z, x):
        return np.full(len(z), np.nan)
    z, x = _standard(z), _standard(x)
    r = (z * x).mean()
    return np.asarray(z * x - r * (z * z + x * x) / 2.0)


def spearman_influence(z: FloatArray, x: FloatArray) -> FloatArray:
    """Influence on rho: r's over the mid-ranks, and how each pair moves the ranks of the others.

    With u_i the mean of sgn(z_i - z_j), v_i of sgn(x_i - x_j), rho = C/sqrt(A B) of the means
    C, A, B of uv, uu, vv; pair i changes C by u_i v_i + mean_k sgn(z_k - z_i) v_k
    + mean_k u_k sgn(x_k - x_i) - 3 C, and A and B likewise.
    """
    if not _vary(z, x):
        return np.full(len(z), np.nan)
    z, x = codes_of(z).astype(np.float64), codes_of(x).astype(np.float64)
    u, v = _centred_ranks(z), _centred_ranks(x)
    c, a, b = (u * v).mean(), (u * u).mean(), (v * v).mean()
    own_c = u * v + _above(z, v) + _above(x, u) - 3.0 * c
    own_a, own_b = u * u + 2.0 * _above(z, u) - 3.0 * a, v * v + 2.0 * _above(x, v) - 3.0 * b
    return np.asarray((own_c - c * (own_a / (2.0 * a) + own_b / (2.0 * b))) / np.sqrt(a * b))


def kendall_influence(z: FloatArray, x: FloatArray, variant: str = "b") -> FloatArray:
    """Influence on tau-b, 2 [(c-C)/sqrt(AB) - tau ((a-A)/2A + (b-B)/2B)], or on tau-c.

    c, a, b are the means over the other pairs of sgn sgn, sgn_z^2, sgn_x^2, and C, A, B theirs.
    Metrics are often compared with each other and with floors.
    """
    if not _vary(z, x):
        return np.full(len(z), np.nan)
    return _influences.of(content(z, x, variant), lambda: _kendall_influence(z, x, variant))


_influences = Remembered(2**25, SIDES)


def _kendall_influence(z: FloatArray, x: FloatArray, variant: str) -> FloatArray:
    n = len(z)
    left, right = (ordered_codes(each)[0].astype(np.int64) for each in (z, x))
    c = agreements(left, right) / (n - 1)
    if variant == "c":
        m = min(int(left.max()), int(right.max())) + 1
        return np.asarray(2.0 * (c - c.mean()) * (n - 1) / n * m / (m - 1))
    a, b = ((n - np.bincount(codes)[codes]) / (n - 1) for codes in (left, right))
    scale = np.sqrt(a.mean() * b.mean())
    tau = c.mean() / scale
    ties = (a - a.mean()) / (2.0 * a.mean()) + (b - b.mean()) / (2.0 * b.mean())
    return np.asarray(2.0 * ((c - c.mean()) / scale - tau * ties))


def accuracy_influence(table: PairTable, epsilon: float, shape: tuple[int, int]) -> FloatArray:
    """Influence on acc_eq's accuracy within each group (members x groups); the threshold is fixed.

    Twice the mean agreement of a member's pairs, less the group's; zero for cells without a pair.
    """
    agrees = table.agreement(epsilon).astype(np.float64)
    cells = np.concatenate([table.first, table.second]) * shape[1] + np.tile(table.groups, 2)
    size = shape[0] * shape[1]
    pairs = np.bincount(cells, minlength=size).reshape(shape)
    sums = np.bincount(cells, np.tile(agrees, 2), size).reshape(shape)
    with np.errstate(invalid="ignore"):
        accuracies = sums.sum(axis=0) / pairs.sum(axis=0)
    shares = sums / np.maximum(pairs, 1)
    return np.where(pairs > 0, 2.0 * (shares - accuracies), 0.0)


def _vary(z: FloatArray, x: FloatArray) -> bool:
    return len(z) > 1 and bool(np.ptp(z) > 0.0 and np.ptp(x) > 0.0)


def _standard(values: FloatArray) -> FloatArray:
    away = values - values.mean()
    return np.asarray(away / np.sqrt((away * away).mean()))


def _centred_ranks(codes: FloatArray) -> FloatArray:
    """Return mean_j sgn(value_i - value_j)."""
    return _signed_sums(codes, np.ones(len(codes))) / len(codes)


def _above(codes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return mean_k w_k sgn(value_k - value_i)."""
    return -_signed_sums(codes, weights) / len(codes)


def _signed_sums(codes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_k w_k sgn(code_i - code_k), by running sums over the codes."""
    places = codes.astype(np.int64)
    totals = np.bincount(places, weights)
    running = np.cumsum(totals)
    return np.asarray((2.0 * running - totals - running[-1])[places])
