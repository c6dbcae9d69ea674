"""Sums over pairs of members under random swaps, without a loop over permutations.

Let s_i be +1 where member i keeps x_i and -1 where it takes y_i, and let f(a, b; z_i, z_j) be a
term of a pair, unchanged when i and j trade places. With the matrices A = f(x_i, x_j),
B = f(y_i, y_j), C = f(y_i, x_j), D = f(x_i, y_j), the sum over ordered pairs is

    (1/4) [ sum(A+B+C+D) + 2 s'(A-B-C+D)1 + s'(A+B-C-D)s ],

a quadratic form in s; for the other metric the sign of s changes. So the *difference* between
the two metrics is linear in s: one matrix product gives it for all permutations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray

# Rows of a pair matrix built at once for long groups.
ROWS_AT_ONCE = 256
SHORT = 64


@dataclass(frozen=True, eq=False)
class PairSums:
    """Half sums over ordered pairs: constant (G), linear (G x L) and, if asked for, quadratic.

    ``first`` and ``second`` of a swap vector s are (constant +- linear.s + quadratic(s)).
    """

    constant: FloatArray
    linear: FloatArray
    quadratic: FloatArray | None


def pair_sums(
    kind: str,
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    valid: BoolArray,
    signs: NDArray[np.float32] | None,
    *,
    threshold: float = 0.0,
) -> PairSums:
    """Sum pair terms under swaps.

    Parameters
    ----------
    kind
        ``concordance``: sgn(a-b) sgn(z_i-z_j); ``strict``: the same with a metric tie counted
        as discordant and pairs below ``threshold`` left out; ``ties``: 1 where a = b; ``ranks``:
        sgn(a-b)(z_i-z_j).
    x, y, z, valid
        groups x members.
    signs
        groups x members x resamples, +-1; None leaves the quadratic part out.
    """
    codes_x, codes_y = _codes(x, y)
    if x.shape[1] <= SHORT:
        return _short(kind, codes_x, codes_y, z, valid, signs, threshold)
    parts = [
        _long(
            kind,
            codes_x[g][valid[g]],
            codes_y[g][valid[g]],
            z[g][valid[g]],
            None if signs is None else signs[g][valid[g]],
            threshold,
        )
        for g in range(len(x))
    ]
    linear = np.zeros(x.shape)
    for g, part in enumerate(parts):
        linear[g, valid[g]] = part.linear
    stacked = None if signs is None else np.stack([part.quadratic for part in parts])  # type: ignore[misc]
    return PairSums(np.array([part.constant for part in parts]), linear, stacked)


def _codes(x: FloatArray, y: FloatArray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Dense ranks over both metrics: equal scores have equal codes, and comparing is cheap."""
    _, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    codes = codes.reshape(2, *x.shape).astype(np.int32)
    return codes[0], codes[1]


def _short(
    kind: str,
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    z: FloatArray,
    valid: BoolArray,
    signs: NDArray[np.float32] | None,
    threshold: float,
) -> PairSums:
    both = valid[:, :, None] & valid[:, None, :]
    weights = np.where(both, _weights(kind, z[:, :, None] - z[:, None, :], threshold), 0)
    own = np.arange(x.shape[1])
    weights[:, own, own] = 0
    a, b, c, d = (
        _terms(kind, first[:, :, None], second[:, None, :], weights)
        for first, second in ((x, x), (y, y), (y, x), (x, y))
    )
    constant = (a + b + c + d).sum(axis=(1, 2)) / 8.0
    linear = (a - b - c + d).sum(axis=2) / 4.0
    if signs is None:
        return PairSums(constant.astype(np.float64), linear.astype(np.float64), None)
    matrix = (a + b - c - d).astype(np.float32)
    product = np.einsum("glr,glr->gr", matrix @ signs, signs)
    return PairSums(constant.astype(np.float64), linear.astype(np.float64), product / 8.0)


def _long(
    kind: str,
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    z: FloatArray,
    signs: NDArray[np.float32] | None,
    threshold: float,
) -> PairSums:
    """One long group, by blocks of rows above the diagonal: the form is symmetric."""
    n = len(x)
    constant, linear = 0.0, np.zeros(n)
    quadratic = None if signs is None else np.zeros(signs.shape[1])
    for start in range(0, n, ROWS_AT_ONCE):
        rows, columns = slice(start, start + ROWS_AT_ONCE), slice(start, n)
        weights = _weights(kind, z[rows, None] - z[None, columns], threshold)
        weights[np.tril_indices(*weights.shape[:1])] = 0
        a, b, c, d = (
            _terms(kind, first[rows, None], second[None, columns], weights)
            for first, second in ((x, x), (y, y), (y, x), (x, y))
        )
        constant += float((a + b).sum(dtype=np.float64) + (c + d).sum(dtype=np.float64)) / 4.0
        outer, inner = a - b, d - c
        linear[rows] += (outer + inner).sum(axis=1, dtype=np.float64) / 4.0
        linear[columns] += (outer - inner).sum(axis=0, dtype=np.float64) / 4.0
        if signs is not None and quadratic is not None:
            product = ((a + b) - (c + d)).astype(np.float32) @ signs[columns]
            quadratic += np.einsum("lr,lr->r", product, signs[rows]).astype(np.float64) / 4.0
    return PairSums(np.array(constant), linear, quadratic)


def _weights(kind: str, differences: FloatArray, threshold: float) -> NDArray[np.generic]:
    if kind == "ranks":
        return differences
    if kind == "ties":
        return np.ones(differences.shape, dtype=np.int8)
    signs = np.sign(differences).astype(np.int8)
    return np.where(np.abs(differences) >= threshold, signs, 0) if kind == "strict" else signs


def _terms(
    kind: str, a: NDArray[np.int32], b: NDArray[np.int32], weights: NDArray[np.generic]
) -> NDArray[np.generic]:
    if kind == "ties":
        return weights * (a == b)
    above = a > b
    terms = weights * (above.view(np.int8) - (a < b).view(np.int8))
    return terms - np.abs(weights) * (a == b) if kind == "strict" else terms
