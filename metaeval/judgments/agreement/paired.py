"""Ratings of units that at least two annotators rated: their sums, and one-vs-rest Pearson."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.documents import SEGMENTS, recoded, sum_by, unit_of
from metaeval.results import Notes
from metaeval.rounding import collapse_constant, largest

TINY = 1e-12
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class PairedRatings:
    """Ratings of units that have at least two, sorted by annotator, centred on their mean.

    ``unit`` numbers the unit of each rating, ``documents`` the document of each unit. ``rest`` is
    the mean of the other ratings of the unit. ``slices`` bounds each annotator's ratings. ``size``
    is the largest absolute rating before centring.
    """

    values: FloatArray
    rest: FloatArray
    unit: IntArray
    slices: IntArray
    n_units: int
    size: float
    documents: IntArray

    @property
    def n_documents(self) -> int:
        """Number of documents; a unit without a document counts as one."""
        return int(self.documents.max(initial=-1)) + 1

    @property
    def has_documents(self) -> bool:
        """Whether any document has two units or more."""
        return unit_of(self.documents) != SEGMENTS

    def per_unit(self, weights: FloatArray | None = None) -> FloatArray:
        """Sum one number per rating over each unit; without numbers, count the ratings."""
        found = np.bincount(self.unit, weights=weights, minlength=self.n_units)
        return found.astype(np.float64)

    def alpha_sums(self) -> FloatArray:
        """Return the sums for alpha of each unit (units x 4): m, w = 2 m SS/(m - 1), sum of x, x².

        The ratings are scaled to a mean square of 1, which keeps products precise and alpha as is.
        """
        raters = self.per_unit()
        scale = float(np.sqrt(np.mean(self.values**2))) if self.n_units else 0.0
        values = np.asarray(self.values / (scale or 1.0), dtype=np.float64)
        sums = self.per_unit(values)
        centred: FloatArray = values - (sums / raters)[self.unit]
        within: FloatArray = 2.0 * raters * self.per_unit(centred**2) / (raters - 1.0)
        return np.stack([raters, within, sums, self.per_unit(values**2)], axis=1)

    def document_sums(self) -> FloatArray:
        """Return `alpha_sums` added up over each document (documents x 4)."""
        return sum_by(self.alpha_sums().T, self.documents).T

    @property
    def has_equal_means(self) -> bool:
        """Whether all annotators have the same mean, as after standardising each of them."""
        if len(self.slices) < 3:
            return False
        means = np.add.reduceat(self.values, self.slices[:-1]) / np.diff(self.slices)
        return bool(np.ptp(means) <= EQUAL * np.max(np.abs(self.values)))

    def share_at_the_end(self) -> float:
        """Share of each annotator's ratings, less one, at their own lowest or highest."""
        if not self.n_units:
            return 0.0
        starts, counts, close = self.slices[:-1], np.diff(self.slices), EQUAL * largest(self.values)
        at = [
            np.abs(self.values - np.repeat(end.reduceat(self.values, starts), counts)) <= close
            for end in (np.minimum, np.maximum)
        ]
        most = np.max([np.add.reduceat(each.astype(np.int64), starts) for each in at], axis=0)
        others = int((counts - 1).sum())
        return float((most - 1).sum()) / others if others else 0.0

    def skewness(self) -> float:
        """Third standardised moment of all ratings; 0 where they do not vary."""
        variance = float(np.mean(self.values**2)) if len(self.values) else 0.0
        return float(np.mean(self.values**3)) / variance**1.5 if variance > 0.0 else 0.0

    def one_vs_rest(self) -> tuple[float, FloatArray]:
        """Return the mean r over annotators for whom it is defined, and that without each document.

        Removing a document changes r only for annotators who rated it, and subtracting its ratings
        from their sums gives the new r, so the whole jackknife takes as long as r itself.
        """
        size = self.n_documents
        total, n, change, gone = 0.0, 0, np.zeros(size), np.zeros(size)
        for start, end in zip(self.slices[:-1], self.slices[1:], strict=True):
            own, rest = (
                collapse_constant(each[start:end], self.size) for each in (self.values, self.rest)
            )
            documents, of = np.unique(self.documents[self.unit[start:end]], return_inverse=True)
            r, without = _without_each(own, rest, of)
            if np.isnan(r):
                continue
            total, n = total + r, n + 1
            defined = ~np.isnan(without)
            change[documents] += np.where(defined, without, 0.0) - r
            gone[documents] += ~defined
        left = np.full(size, np.nan)
        np.divide(total + change, n - gone, out=left, where=n > gone)
        return (total / n if n else np.nan), left


def _without_each(x: FloatArray, y: FloatArray, of: IntArray) -> tuple[float, FloatArray]:
    """Return r, and r without the pairs of each document; nan if one side does not vary."""
    if len(x) < 2 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return np.nan, np.empty(0)
    # Centre and scale first: otherwise differences of sums of squares lose their digits.
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    n = len(x)
    gone = np.bincount(of)
    sums = [np.bincount(of, weights=each) for each in (x, y, x * x, y * y, x * y)]
    sx, sy, sxx, syy, sxy = -sums[0], -sums[1], n - sums[2], n - sums[3], float(x @ y) - sums[4]
    left = n - gone
    vx, vy = left * sxx - sx**2, left * syy - sy**2
    without = np.full(len(gone), np.nan)
    known = (vx > TINY * n**2) & (vy > TINY * n**2) & (left > 1)
    without[known] = (left * sxy - sx * sy)[known] / np.sqrt(vx[known] * vy[known])
    return float(np.clip(x @ y / n, -1.0, 1.0)), np.clip(without, -1.0, 1.0)


def pair(
    values: FloatArray,
    who: IntArray,
    what: IntArray,
    notes: Notes,
    documents: IntArray | None = None,
) -> PairedRatings:
    """Return the ratings of units with two or more; an annotator's repeated ratings are averaged.

    ``documents`` numbers the document of each unit, by the unit's number.
    """
    present = ~np.isnan(values)
    notes.exclude("missing-rating", int((~present).sum()))
    values, who, what = values[present], who[present], what[present]
    width = int(what.max()) + 1 if len(what) else 1
    cells, inverse = np.unique(who * width + what, return_inverse=True)
    values = np.bincount(inverse, weights=values, minlength=len(cells)) / np.bincount(
        inverse, minlength=len(cells)
    )
    who, what = cells // width, cells % width
    raters = np.bincount(what, minlength=width)
    notes.exclude("fewer-than-two-ratings", int((raters == 1).sum()))
    paired = raters[what] > 1
    values, who, what = values[paired], who[paired], what[paired]
    size = largest(values)
    values = collapse_constant(values, size)
    values = values - values.mean() if len(values) else values
    units, unit = np.unique(what, return_inverse=True)
    total = np.bincount(unit, weights=values, minlength=len(units))
    rest = (total[unit] - values) / (raters[what] - 1)
    # `cells` is sorted by annotator first, so each annotator's ratings are neighbours.
    starts = np.flatnonzero(np.diff(who, prepend=-1))
    slices = np.append(starts, len(who)).astype(np.int64)
    of = recoded(units if documents is None else documents[units])
    return PairedRatings(values, rest, unit.astype(np.int64), slices, len(units), size, of)
