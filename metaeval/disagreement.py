"""Observed and expected disagreement at each level of measurement (for Krippendorff's alpha)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray

LEVELS = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Ratings of the items that have at least two, with what alpha needs of them.

    ``ratings`` is annotators x items, ``raters`` the ratings per item, ``codes`` the index of
    each rating among the distinct ``values`` (-1 where missing).
    """

    ratings: FloatArray
    level: str

    @property
    def n_items(self) -> int:
        """Items with at least two ratings."""
        return int(self.ratings.shape[1])

    @property
    def n(self) -> int:
        """Pairable ratings."""
        return int((~np.isnan(self.ratings)).sum())

    @property
    def is_constant(self) -> bool:
        """True when only one value occurs."""
        return bool(np.nanmin(self.ratings) == np.nanmax(self.ratings))

    def observed(self) -> float:
        """D_o, the disagreement within items."""
        return float(self._per_item(self._scaled()).sum() / self.n) if self.n else np.nan

    def expected(self) -> float:
        """D_e, the disagreement between all ratings."""
        n = self.n
        return _all_pairs(self._scaled(), self.level) / (n * (n - 1)) if n else np.nan

    def _scaled(self) -> FloatArray:
        """Ratings in units whose plain differences are the level's distances."""
        if self.level == "ordinal":
            return _mid_ranks(self.ratings)
        if self.level == "interval" and self.n:
            return self.ratings - np.nanmean(self.ratings)
        return self.ratings

    def _per_item(self, ratings: FloatArray) -> FloatArray:
        """Sum of distances over the ordered pairs of an item, over (m_u - 1)."""
        raters = (~np.isnan(ratings)).sum(axis=0)
        if self.level in ("interval", "ordinal"):
            present = np.where(np.isnan(ratings), 0.0, ratings)
            # Centred on the item first: sums of squares of raw scores would cancel.
            centred = np.where(np.isnan(ratings), 0.0, ratings - present.sum(axis=0) / raters)
            spread: FloatArray = 2.0 * raters * (centred**2).sum(axis=0) / (raters - 1)
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
        raise ValueError("ratings: the ratio level needs ratings of at least 0")
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
    """Sum of distances over ordered pairs of all ratings."""
    flat = ratings[~np.isnan(ratings)]
    if level in ("interval", "ordinal"):
        return float(2.0 * len(flat) * ((flat - flat.mean()) ** 2).sum())
    values, counts = np.unique(flat, return_counts=True)
    if level == "nominal":
        return float(len(flat) ** 2 - (counts.astype(np.float64) ** 2).sum())
    rows = max(1, 2**22 // len(values))
    return float(
        sum(
            counts[start : start + rows]
            @ _distance(values[start : start + rows, None], values[None, :], level)
            @ counts
            for start in range(0, len(values), rows)
        )
    )
