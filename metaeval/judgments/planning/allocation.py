"""Where the next judgments help most: systems whose comparisons are not decided yet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from metaeval.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    at_least,
    between,
    fraction,
    mean_along,
    ratio,
)
from metaeval.documents import (
    DOCUMENTS,
    FEWEST_DOCUMENTS,
    clusters_from,
    sizes_of,
    sum_by,
    unit_of,
)
from metaeval.results import Result

# What a score of 0 to 100 is taken to vary by while a system has fewer than two judgments.
PRIOR_VARIANCE = 625.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Allocation(Result):
    """Shares of the next judgments, and what they follow from.

    Attributes
    ----------
    shares
        One per system, summing to 1.
    undecided
        systems × systems, symmetric: True while the pair is not decided.
    counts, means, variances
        One per system, over its judged segments; the variance of one segment, times the design
        effect of its documents.
    unit, n_units
        What the tests take for independent, and how many of them have judgments.
    n
        Judged cells (system, segment).
    """

    shares: FloatArray
    undecided: BoolArray
    counts: IntArray
    means: FloatArray
    variances: FloatArray
    unit: str
    n_units: int

    @property
    def n_undecided(self) -> int:
        """Undecided pairs."""
        return int(np.triu(self.undecided, 1).sum())


def allocate(
    scores: ArrayLike,
    *,
    documents: Iterable[Hashable] | None = None,
    minimum: int = 30,
    alpha: float = 0.05,
    uniform: float = 0.2,
) -> Allocation:
    """Share out the next judgments among systems by the pairs that are still undecided.

    A pair is undecided while one of its systems has fewer than `minimum` judged segments, or
    while |difference| / SE is below the critical value of a two-sided t-test at `alpha`, divided
    by the number of pairs (Bonferroni). On at least `minimum` shared segments the test is paired;
    otherwise it is Welch's, with the smaller sample's degrees of freedom. A system counts with
    its part in the variance of the difference, s² / n, once for each undecided pair that it
    belongs to. That part of the shares is mixed with `uniform`, spread evenly; all is spread
    evenly once every pair is decided.

    The test is looked at again and again, so "decided" holds for the allocation only: the chance
    of a wrong decision at some look is above `alpha`.

    Parameters
    ----------
    scores
        systems × segments: mean score of each judged cell, nan where there is none.
    documents
        The document of each segment; without it each is one. Standard errors are then over
        documents, a pair with fewer than six of them is undecided, and t has as many degrees of
        freedom as documents, less one.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> result = allocate(rng.normal([[50], [51], [90]], 10, (3, 40)))
    >>> result.undecided.astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> result.shares.round(2).tolist()
    [0.56, 0.37, 0.07]
    """
    values = as_floats("scores", scores, ndim=2)
    fraction("alpha", alpha)
    between("uniform", uniform, 0, 1)
    at_least("minimum", minimum, 2)
    mask = ~np.isnan(values)
    counts, of = mask.sum(axis=1), clusters_from(documents, values.shape[1])
    means, variances = _moments(values, mask, counts)
    judged = of[mask.any(axis=0)]
    if unit_of(judged) == DOCUMENTS:
        by = _ByDocument(values, mask, of)
        variances = by.variances(counts, variances)
        undecided = by.undecided(counts, means, variances, minimum, alpha)
    else:
        undecided = _undecided(values, mask, counts, means, variances, minimum, alpha)
    return Allocation(
        n=int(mask.sum()),
        shares=_shares(undecided, counts, variances, uniform),
        undecided=undecided,
        counts=counts,
        means=means,
        variances=variances,
        unit=unit_of(judged),
        n_units=len(sizes_of(judged)),
    )


def _moments(
    values: FloatArray, mask: BoolArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and sample variance per system; nan and the prior where there is too little."""
    means = mean_along(values, axis=1)
    squares = (np.where(mask, values - means[:, None], 0) ** 2).sum(axis=1)
    variances = np.full(len(counts), PRIOR_VARIANCE)
    np.divide(squares, counts - 1, out=variances, where=counts > 1)
    return means, variances


def _undecided(
    values: FloatArray,
    mask: BoolArray,
    counts: IntArray,
    means: FloatArray,
    variances: FloatArray,
    minimum: int,
    alpha: float,
) -> BoolArray:
    tests = _welch(counts, counts, means, variances)
    return _below(tests, _paired(values, mask, minimum), counts < minimum, alpha)


Tests = tuple[FloatArray, FloatArray, FloatArray]


def _below(
    tests: Tests, paired: tuple[BoolArray, FloatArray, FloatArray, FloatArray], few: BoolArray,
    alpha: float,
) -> BoolArray:  # fmt: skip
    """Return which pairs are below their critical value; the paired test holds where there is one.

    ``tests`` are differences, standard errors and degrees of freedom of all pairs.
    """
    difference, error, freedom = tests
    size = len(few)
    for array, replacement in zip((difference, error, freedom), paired[1:], strict=True):
        array[paired[0]] = replacement[paired[0]]
    pairs = max(1, size * (size - 1) // 2)
    critical = stdtrit(np.maximum(freedom, 1), 1 - alpha / (2 * pairs))
    undecided = ~(np.abs(difference) > critical * error) | few[:, None] | few[None, :]
    np.fill_diagonal(undecided, False)
    return np.asarray(undecided)


class _ByDocument:
    """The same tests with the errors of a document summed before they are squared."""

    def __init__(self, values: FloatArray, mask: BoolArray, clusters: IntArray) -> None:
        self.n = sum_by(mask.astype(np.float64), clusters)
        centre = values[mask].mean()
        self.sums = sum_by(np.where(mask, values - centre, 0.0), clusters)
        self.documents = (self.n > 0).sum(axis=1)
        # systems x systems x documents: shared segments, and sums of differences over them.
        m, x = mask.astype(np.float64), np.where(mask, values - centre, 0.0)
        self.shared = np.stack([sum_by(m * one, clusters) for one in m])
        self.gaps = np.stack([sum_by(x[i] * m - m[i] * x, clusters) for i in range(len(m))])

    def variances(self, counts: IntArray, plain: FloatArray) -> FloatArray:
        """Return n times the variance of each mean; the plain one below two documents."""
        means = ratio(self.sums.sum(axis=1), counts)
        errors = self.sums - means[:, None] * self.n
        found = plain.copy()
        spread = (errors**2).sum(axis=1) * self.documents / np.maximum(counts, 1)
        np.divide(spread, self.documents - 1, out=found, where=self.documents > 1)
        return found

    def undecided(
        self, counts: IntArray, means: FloatArray, variances: FloatArray, minimum: int, alpha: float
    ) -> BoolArray:
        tests = _welch(counts, self.documents, means, variances)
        n, documents = self.shared.sum(axis=2), (self.shared > 0).sum(axis=2)
        gaps = ratio(self.gaps.sum(axis=2), n)
        with np.errstate(invalid="ignore", divide="ignore"):
            squares = ((self.gaps - gaps[..., None] * self.shared) ** 2).sum(axis=2)
            error = np.sqrt(squares * documents / (documents - 1.0)) / n
        is_paired = (n >= minimum) & (documents >= FEWEST_DOCUMENTS)
        few = (counts < minimum) | (self.documents < FEWEST_DOCUMENTS)
        return _below(tests, (is_paired, gaps, error, documents - 1.0), few, alpha)


def _welch(counts: IntArray, units: IntArray, means: FloatArray, variances: FloatArray) -> Tests:
    """Difference, standard error and degrees of freedom of every pair, segments aside."""
    squared = variances / np.maximum(counts, 1)
    error = np.sqrt(squared[:, None] + squared[None, :])
    smaller = np.minimum(units[:, None], units[None, :]) - 1.0
    return means[:, None] - means[None, :], error, smaller


def _paired(
    values: FloatArray, mask: BoolArray, minimum: int
) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
    """The same over shared segments, and which pairs have enough of them.

    By matrix products. Scores are centred first, so that little cancels.
    """
    centre = values[mask].mean() if mask.any() else 0.0
    x, m = np.where(mask, values - centre, 0), mask.astype(float)
    n = m @ m.T
    safe = np.maximum(n, 2)
    total = x @ m.T - m @ x.T
    squares = (x**2) @ m.T + m @ (x**2).T - 2 * (x @ x.T)
    variance = np.maximum(squares - total**2 / safe, 0) / (safe - 1)
    return n >= minimum, total / safe, np.sqrt(variance / safe), n - 1


def _shares(
    undecided: BoolArray, counts: IntArray, variances: FloatArray, uniform: float
) -> FloatArray:
    size = len(counts)
    even = np.full(size, 1 / max(1, size))
    weights = undecided.sum(axis=1) * variances / np.maximum(counts, 1)
    if not weights.sum():
        return even
    return np.asarray((1 - uniform) * weights / weights.sum() + uniform * even)
