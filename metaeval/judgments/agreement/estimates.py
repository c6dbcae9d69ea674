"""Agreement between annotators: one-vs-rest Pearson and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, mean, one_length, one_of
from metaeval.correlation.rows import row_pearson
from metaeval.messages import data_error, message
from metaeval.results import ConstantInputWarning, Notes, Result, StatisticResult, TooFewWarning
from metaeval.rounding import collapse_constant, largest


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
    their spread; on z-scores it does not.

    Parameters
    ----------
    ratings
        annotators x items, nan where an annotator did not rate the item.
    annotators
        Names of the rows; default A1, A2, ...

    Warns
    -----
    ConstantInputWarning, TooFewWarning
        An annotator's r is undefined (nan); the mean excludes it.

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
    notes.exclude("fewer-than-two-ratings", int((raters < 2).sum()))
    total, size = matrix.sum(axis=0, where=present), largest(matrix[:, raters > 1])
    values = np.full(len(matrix), np.nan)
    counts = np.zeros(len(matrix), dtype=np.int64)
    for index, row in enumerate(matrix):
        used = present[index] & (raters > 1)
        # The rest of a constant sum may differ by rounding errors.
        rest = collapse_constant((total[used] - row[used]) / (raters[used] - 1), size)
        counts[index] = used.sum()
        values[index] = _one_vs_rest(row[used], rest, names[index], notes)
    return OneVsRest(
        n=int((raters > 1).sum()),
        **notes.fields,
        statistic=mean(values),
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

    Items with fewer than two ratings are excluded; with m_u ratings in item u and n in all,
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
    DataError
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
    notes.exclude("fewer-than-two-ratings", int((raters < 2).sum()))
    is_whole = raters.min(initial=2) > 1
    pairable = matrix if is_whole else matrix.take(np.flatnonzero(raters > 1), axis=1)
    parts = disagreement(pairable, level)
    observed, expected = parts.observed(), parts.expected()
    return Alpha(
        n=parts.n,
        n_items=parts.n_items,
        statistic=_alpha(parts, observed, expected, notes),
        observed=observed,
        expected=expected,
        **notes.fields,
        method=f"Krippendorff's alpha ({level})",
    )


def annotator_alphas(ratings: ArrayLike) -> FloatArray:
    """Krippendorff's alpha (interval) of each annotator with the others.

    alpha_a = 1 - D_a / D_e: D_a is the mean over the items of a of the mean squared difference
    from every other annotator of the item, D_e that of `krippendorff_alpha`. The mean of the
    values, weighted by the numbers of pairable ratings, is alpha.

    Parameters
    ----------
    ratings
        annotators x items, nan where missing.

    Returns
    -------
    One value per annotator; nan for annotators without an item that another one rated, and for
    all where all ratings are equal.

    Examples
    --------
    >>> annotator_alphas([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 4, 4]]).round(4).tolist()
    [0.9335, 0.9002, 0.9002]
    """
    matrix = as_floats("ratings", ratings, ndim=2)
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
    parts = disagreement(pairable, "interval")
    if not parts.n_items or parts.is_constant:
        return np.full(len(matrix), np.nan)
    raters = (~np.isnan(pairable)).sum(axis=0)
    squares = (pairable - np.nanmean(pairable, axis=0)) ** 2
    # The sum over b of (x_a - x_b)^2 is m (x_a - mean)^2 + the sum over b of (x_b - mean)^2.
    distances = (raters * squares + np.nansum(squares, axis=0)) / (raters - 1)
    n = (~np.isnan(distances)).sum(axis=1)
    means = np.divide(np.nansum(distances, axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
    alphas: FloatArray = 1.0 - means / parts.expected()
    return alphas


def _one_vs_rest(own: FloatArray, rest: FloatArray, name: str, notes: Notes) -> float:
    if len(own) < 2:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.few-shared-items",
                    "One-vs-rest r is undefined for {annotator}: fewer than two items have a score "
                    "that can be compared with scores by others.",
                    annotator=name,
                )
            )
        )
        return np.nan
    if np.ptp(own) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message(
                    "agreement.constant-annotator",
                    "All ratings by {annotator} are equal, so r is undefined.",
                    annotator=name,
                )
            )
        )
        return np.nan
    if np.ptp(rest) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message(
                    "agreement.constant-rest",
                    "The mean ratings by annotators other than {annotator} are all equal, so r is "
                    "undefined.",
                    annotator=name,
                )
            )
        )
        return np.nan
    return float(row_pearson(own, rest))


def _annotator_names(annotators: Iterable[str] | None, size: int) -> tuple[str, ...]:
    names = tuple(annotators) if annotators is not None else ()
    if annotators is None:
        return tuple(f"A{index + 1}" for index in range(size))
    one_length(annotators=names, ratings=range(size))
    return names


def _alpha(parts: Disagreement, observed: float, expected: float, notes: Notes) -> float:
    if parts.n_items == 0:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.alpha-no-pairs", "No item has two ratings, so alpha is undefined."
                )
            )
        )
        return np.nan
    if parts.is_constant:
        notes.warn(
            ConstantInputWarning(
                message("agreement.alpha-constant", "All ratings are equal, so alpha is undefined.")
            )
        )
        return np.nan
    return 1.0 - observed / expected


LEVELS = ("nominal", "ordinal", "interval", "ratio")
# Levels whose distances are squared differences, of ratings or mid-ranks.
PLAIN = ("ordinal", "interval")


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Observed and expected disagreement of ratings, annotators x items, nan where missing.

    Each item has at least two ratings.
    """

    ratings: FloatArray
    level: str

    @property
    def n_items(self) -> int:
        """Items with at least two ratings."""
        return int(self.ratings.shape[1])

    @cached_property
    def _missing(self) -> BoolArray:
        return np.isnan(self.ratings)

    @cached_property
    def n(self) -> int:
        """Pairable ratings."""
        return self.ratings.size - int(np.count_nonzero(self._missing))

    @property
    def is_constant(self) -> bool:
        """True when only one value occurs."""
        return bool(np.nanmin(self.ratings) == np.nanmax(self.ratings))

    def observed(self) -> float:
        """D_o, the disagreement within items."""
        return float(self._per_item().sum() / self.n) if self.n else np.nan

    def expected(self) -> float:
        """D_e, the disagreement between all ratings."""
        if not self.n:
            return np.nan
        if self.level in PLAIN:
            total = 2.0 * self.n * float(np.vdot(self._centred, self._centred))
        else:
            total = _all_pairs(self.ratings[~self._missing], self.level)
        return total / (self.n * (self.n - 1))

    @cached_property
    def _centred(self) -> FloatArray:
        """Ratings whose plain differences are the level's distances, with mean 0; 0 if missing."""
        values = _mid_ranks(self.ratings) if self.level == "ordinal" else self.ratings
        return self._without(np.where(self._missing, 0.0, values), axis=None, n=self.n)

    def _without(self, values: FloatArray, axis: int | None, n: IntArray | int) -> FloatArray:
        """Subtract the mean of n values; 0 if missing."""
        values = values - values.sum(axis=axis) / n
        np.copyto(values, 0.0, where=self._missing)
        return values

    def _per_item(self) -> FloatArray:
        """Sum of distances over the ordered pairs of an item, over (m_u - 1)."""
        ratings, raters = self.ratings, len(self.ratings) - self._missing.sum(axis=0)
        if self.level in PLAIN:
            # Centred on the item first: sums of squares of raw scores would cancel.
            away = self._without(self._centred, axis=0, n=raters)
            spread: FloatArray = 2.0 * raters * np.einsum("ai,ai->i", away, away) / (raters - 1)
            return spread
        total = np.zeros(ratings.shape[1])
        for first in range(len(ratings)):
            for second in range(first):
                distances = _distance(ratings[first], ratings[second], self.level)
                total += 2.0 * np.nan_to_num(distances, nan=0.0)
        scaled: FloatArray = total / (raters - 1)
        return scaled


def disagreement(ratings: FloatArray, level: str) -> Disagreement:
    """Return the parts of alpha; ``ratings`` (annotators x items) holds pairable items only."""
    if level == "ratio" and ratings.size and np.nanmin(ratings) < 0.0:
        raise data_error("data.negative", "The ratio level needs ratings of at least 0.")
    return Disagreement(ratings, level)


def _mid_ranks(ratings: FloatArray) -> FloatArray:
    """Replace ratings by mid-ranks: their differences are Krippendorff's ordinal distances."""
    present = ~np.isnan(ratings)
    _, codes, counts = np.unique(ratings[present], return_inverse=True, return_counts=True)
    ranks = np.full(ratings.shape, np.nan)
    ranks[present] = (np.cumsum(counts) - counts / 2.0)[codes.reshape(-1)]
    return ranks - np.nanmean(ranks) if present.any() else ranks


def _distance(first: FloatArray, second: FloatArray, level: str) -> FloatArray:
    if level == "nominal":
        return np.where(np.isnan(first) | np.isnan(second), np.nan, first != second)
    sums = first + second
    quotient = np.zeros(np.broadcast_shapes(first.shape, second.shape))
    np.divide(first - second, sums, out=quotient, where=sums != 0.0)
    return quotient**2


def _all_pairs(ratings: FloatArray, level: str) -> float:
    """Sum of distances over ordered pairs of all ratings (n,), nominal or ratio."""
    values, counts = np.unique(ratings, return_counts=True)
    if level == "nominal":
        return float(len(ratings) ** 2 - (counts.astype(np.float64) ** 2).sum())
    rows = max(1, 2**22 // len(values))
    return float(
        sum(
            counts[start : start + rows]
            @ _distance(values[start : start + rows, None], values[None, :], level)
            @ counts
            for start in range(0, len(values), rows)
        )
    )
