"""Correction of p-values for many tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, as_floats, between, fraction, one_of
from metaeval.messages import plural
from metaeval.results import Notes, ResolutionWarning, Result

METHODS = ("bonferroni", "holm", "bh", "none")


@dataclass(frozen=True, kw_only=True, eq=False)
class AdjustedPvalues(Result):
    """Adjusted p-values in the order and shape of the input; ``n`` counts tests."""

    pvalues: FloatArray
    is_significant: BoolArray
    method: str
    alpha: float


def adjust_pvalues(
    pvalues: ArrayLike,
    *,
    method: str = "holm",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    sides: int = 1,
) -> AdjustedPvalues:
    """Adjust p-values of one family of tests.

    ``bonferroni``: m p. ``holm``: running maximum of (m - i + 1) p_(i), never less powerful; the
    scripts of Deutsch et al. (2021) call it Bonferroni. ``bh``: Benjamini and Hochberg (1995),
    running minimum from above of m p_(i) / i, controls the false discovery rate. ``none`` does not
    change them.

    Parameters
    ----------
    pvalues
        Any shape; nan is an undefined test, which is excluded from the family and counted.
    n_resamples
        Of the permutation tests behind the p-values: their smallest p is 1/(n_resamples + 1).
    sides
        2 if each p is the smaller of two one-sided ones: it is doubled before it is corrected.

    Warns
    -----
    ResolutionWarning
        With so few resamples no corrected p-value can be significant.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03], method="holm").pvalues.round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    one_of("method", method, METHODS)
    fraction("alpha", alpha)
    array = np.asarray(pvalues, dtype=np.float64)
    flat = as_floats("pvalues", array.reshape(-1), ndim=1)
    known = ~np.isnan(flat)
    for value in flat[known & ~((flat >= 0.0) & (flat <= 1.0))]:
        between("pvalues", value, 0, 1)
    notes = Notes()
    notes.exclude("undefined-test", int((~known).sum()))
    m = int(known.sum())
    tests = sides * m
    if n_resamples is not None and tests / (n_resamples + 1) > alpha and method in METHODS[:2]:
        notes.warn(
            ResolutionWarning(
                plural(
                    "correction.few-resamples",
                    "With {resamples} resamples the smallest possible p-value is 1/{possible}. "
                    "{n} test at {alpha:r} needs at least {needed} resamples.",
                    "With {resamples} resamples the smallest possible p-value is 1/{possible}. "
                    "{n} tests at {alpha:r} need at least {needed} resamples.",
                    resamples=n_resamples,
                    possible=n_resamples + 1,
                    n=tests,
                    alpha=alpha,
                    needed=int(np.ceil(tests / alpha)) - 1,
                )
            )
        )
    adjusted = np.full(flat.shape, np.nan)
    adjusted[known] = _adjust(np.minimum(1.0, sides * flat[known]), method)
    table = adjusted.reshape(array.shape)
    return AdjustedPvalues(
        n=m,
        **notes.fields,
        pvalues=table,
        is_significant=np.nan_to_num(table, nan=1.0) <= alpha,
        method=method,
        alpha=alpha,
    )


def adjust_table(
    pvalues: FloatArray,
    *,
    method: str = "holm",
    scope: str = "table",
    alpha: float = 0.05,
    n_resamples: int | None = None,
) -> AdjustedPvalues:
    """Correct one-sided p-values of all pairs (m, m): small where the row is better.

    ``table``: one family of all pairs, each with the smaller of its two p-values, the other nan.
    Taking the smaller one is two-sided testing, so it is doubled before a correction. ``row``: one
    family per row, as in a paper that asks which metrics one of them beats (Deutsch et al. 2021
    show both).
    """
    one_of("scope", scope, ("table", "row"))
    table = np.array(pvalues, dtype=np.float64)
    if scope == "table":
        below = np.tri(len(table), k=-1, dtype=np.bool_)
        table[(table > table.T) | ((table == table.T) & below)] = np.nan
        return adjust_pvalues(
            table, method=method, alpha=alpha, n_resamples=n_resamples,
            sides=1 if method == "none" else 2,
        )  # fmt: skip
    rows = [adjust_pvalues(r, method=method, alpha=alpha, n_resamples=n_resamples) for r in table]
    return AdjustedPvalues(
        n=sum(row.n for row in rows),
        reasons={"undefined-test": sum(row.n_excluded for row in rows)},
        warnings=tuple({w.message: w for row in rows for w in row.warnings}.values()),
        pvalues=np.array([row.pvalues for row in rows]).reshape(table.shape),
        is_significant=np.array([row.is_significant for row in rows]).reshape(table.shape),
        method=method,
        alpha=alpha,
    )


def _adjust(pvalues: FloatArray, method: str) -> FloatArray:
    m = len(pvalues)
    if method == "none":
        return pvalues
    if method == "bonferroni" or not m:
        return np.minimum(1.0, m * pvalues)
    order = np.argsort(pvalues, kind="stable")
    steps = np.arange(1, m + 1)
    if method == "holm":
        ordered = np.maximum.accumulate((m - steps + 1) * pvalues[order])
    else:
        ordered = np.minimum.accumulate((m / steps * pvalues[order])[::-1])[::-1]
    result = np.empty(m)
    result[order] = np.minimum(1.0, ordered)
    return result
