"""Agreement with bootstrap intervals, from one row per rating: fast however sparse the ratings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, factorize, fraction, positive_int
from metaeval.resampling import Rng, blocks, resample_counts, resolve_seed, stream
from metaeval.results import ConstantInputWarning, Interval, Notes, Result, TooFewWarning

TINY = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementInterval(Result):
    """One-vs-rest Pearson and Krippendorff's alpha (interval level), each with an interval.

    ``n`` counts the ratings of units with at least two, ``n_units`` those units; an interval is
    None where the statistic is undefined or no resamples were asked for.
    """

    n_units: int
    one_vs_rest: float
    one_vs_rest_interval: Interval | None
    alpha: float
    alpha_interval: Interval | None
    n_resamples: int
    seed: int | None


def agreement_interval(
    ratings: ArrayLike,
    annotators: Iterable[Hashable],
    units: Iterable[Hashable],
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
) -> AgreementInterval:
    """Agreement between annotators with percentile intervals over bootstrap samples of units.

    The statistics are those of `one_vs_rest_pearson` and `krippendorff_alpha`; one set of
    resamples serves both. Units are resampled, not annotators: the intervals say how far the
    agreement of *these* annotators might be off, not that of other people. z-scores are not
    computed again in each resample.

    Parameters
    ----------
    ratings
        One number per rating, raw or z; nan is missing.
    annotators, units
        Who rated what. An annotator who rated a unit more than once counts with the mean.
    n_resamples
        Bootstrap samples; 0 for none.
    rng
        Seed or Generator of the bootstrap.

    Warns
    -----
    TooFewWarning, ConstantInputWarning
        No unit has two ratings, or nothing varies: nan, without interval.

    Examples
    --------
    >>> who, what = ["A"] * 4 + ["B"] * 4, [1, 2, 3, 4] * 2
    >>> result = agreement_interval([1, 2, 3, 4, 1, 2, 3, 5], who, what, n_resamples=0)
    >>> round(result.alpha, 4), round(result.one_vs_rest, 4)
    (0.9369, 0.9827)
    """
    values = as_floats("ratings", ratings, ndim=1)
    fraction("confidence", confidence)
    positive_int("n_resamples", n_resamples, minimum=0)
    notes = Notes()
    who, what = factorize(annotators)[1], factorize(units)[1]
    if not len(who) == len(what) == len(values):
        raise ValueError(
            f"annotators and units: {len(who)} and {len(what)} labels for {len(values)} ratings"
        )
    parts = _paired(values, who, what, notes)
    seed = resolve_seed(rng) if n_resamples else None
    r, alpha = (float(value) for value in parts.statistics(np.ones((1, parts.n_units)))[:, 0])
    if not parts.n_units:
        notes.warn(TooFewWarning("No item has two ratings: agreement is undefined."))
    elif np.isnan(alpha) or np.isnan(r):
        notes.warn(ConstantInputWarning("The ratings do not vary: agreement is undefined."))
    samples = _samples(parts, n_resamples, seed)
    return AgreementInterval(
        n=len(parts.values),
        reasons=notes.reasons,
        warnings=notes.warnings,
        n_units=parts.n_units,
        one_vs_rest=r,
        one_vs_rest_interval=_interval(r, samples[0], confidence),
        alpha=alpha,
        alpha_interval=_interval(alpha, samples[1], confidence),
        n_resamples=n_resamples,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Paired:
    """Ratings of units that have at least two, sorted by annotator, centred on their mean.

    ``unit`` numbers the unit of each rating, ``rest`` is the mean of the others on it, and
    ``slices`` bounds each annotator's ratings.
    """

    values: FloatArray
    rest: FloatArray
    unit: IntArray
    slices: IntArray
    n_units: int

    def statistics(self, counts: FloatArray) -> FloatArray:
        """Return r and alpha (2 x resamples); counts is resamples x units."""
        return np.stack([self._one_vs_rest(counts), self._alpha(counts)])

    def _one_vs_rest(self, counts: FloatArray) -> FloatArray:
        total, defined = np.zeros(len(counts)), np.zeros(len(counts))
        for start, end in zip(self.slices[:-1], self.slices[1:], strict=True):
            x, y = self.values[start:end], self.rest[start:end]
            if len(x) < 2 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
                continue
            # Centred and scaled first: only then do weighted sums of squares keep their digits.
            x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
            sums = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
            n, sx, sy, sxx, syy, sxy = (counts[:, self.unit[start:end]] @ sums).T
            vx, vy = n * sxx - sx**2, n * syy - sy**2
            known = (vx > TINY * n**2) & (vy > TINY * n**2)
            total[known] += (n * sxy - sx * sy)[known] / np.sqrt(vx[known] * vy[known])
            defined += known
        result = np.full(len(counts), np.nan)
        return np.divide(total, defined, out=result, where=defined > 0)

    def _alpha(self, counts: FloatArray) -> FloatArray:
        def per_unit(weights: FloatArray | None = None) -> FloatArray:
            found = np.bincount(self.unit, weights=weights, minlength=self.n_units)
            return found.astype(np.float64)

        raters, sums = per_unit(), per_unit(self.values)
        centred = self.values - (sums / np.maximum(raters, 1.0))[self.unit]
        within = 2.0 * raters * per_unit(centred**2) / np.maximum(raters - 1.0, 1.0)
        columns = np.stack([within, raters, sums, per_unit(self.values**2)], axis=1)
        inside, n, total, squares = (counts @ columns).T
        result = np.full(len(counts), np.nan)
        varied = n * squares - total**2 > TINY * np.square(n) * np.max(self.values**2, initial=0.0)
        n, total, squares, inside = n[varied], total[varied], squares[varied], inside[varied]
        result[varied] = 1.0 - (n - 1.0) * inside / (2.0 * (n * squares - total**2))
        return result


def _paired(values: FloatArray, who: IntArray, what: IntArray, notes: Notes) -> _Paired:
    present = ~np.isnan(values)
    notes.exclude("missing rating", int((~present).sum()))
    values, who, what = values[present], who[present], what[present]
    width = int(what.max()) + 1 if len(what) else 1
    cells, inverse = np.unique(who * width + what, return_inverse=True)
    values = np.bincount(inverse, weights=values, minlength=len(cells)) / np.bincount(
        inverse, minlength=len(cells)
    )
    who, what = cells // width, cells % width
    raters = np.bincount(what, minlength=width)
    notes.exclude("item with fewer than two ratings", int((raters == 1).sum()))
    paired = raters[what] > 1
    values, who, what = values[paired], who[paired], what[paired]
    values = values - values.mean() if len(values) else values
    units, unit = np.unique(what, return_inverse=True)
    total = np.bincount(unit, weights=values, minlength=len(units))
    rest = (total[unit] - values) / (raters[what] - 1)
    # `cells` is sorted by annotator first, so each annotator's ratings are neighbours.
    starts = np.flatnonzero(np.diff(who, prepend=-1))
    slices = np.append(starts, len(who)).astype(np.int64)
    return _Paired(values, rest, unit.astype(np.int64), slices, len(units))


def _samples(parts: _Paired, n_resamples: int, seed: int | None) -> FloatArray:
    if seed is None or not parts.n_units:
        return np.empty((2, 0))
    return np.concatenate(
        [
            parts.statistics(resample_counts(stream(seed, number), end - start, parts.n_units))
            for number, start, end in blocks(n_resamples)
        ],
        axis=1,
    )


def _interval(statistic: float, samples: FloatArray, confidence: float) -> Interval | None:
    defined = samples[~np.isnan(samples)]
    if np.isnan(statistic) or not len(defined):
        return None
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, [tail, 1.0 - tail])
    return Interval(float(low), float(high), confidence)
