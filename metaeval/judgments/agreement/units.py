"""Agreement statistics with the interval that holds for as many units, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.intervals.jackknife import jackknife_t
from metaeval.documents import has_enough_documents
from metaeval.judgments.agreement import alpha as alpha_intervals
from metaeval.judgments.agreement.paired import EQUAL, PairedRatings
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    Interval,
    Notes,
    StatisticResult,
    TooFewWarning,
)

STUDENTISED = "studentised bootstrap of log(1 − α)"
DRAWN = {
    False: "studentised bootstrap of log(1 − α) over items",
    True: "studentised bootstrap of log(1 − α) over documents",
}
DELTA = {
    False: "delta method of log(1 − α) over items, t distribution",
    True: "delta method of log(1 − α) over documents, t distribution",
}
F_NORMAL = "F distribution, which assumes normal ratings"
JACKKNIFE = {
    False: "jackknife of atanh r over items, t distribution",
    True: "jackknife of atanh r over documents, t distribution",
}
HANGS = {
    False: "One-vs-rest r depends on single items: no interval.",
    True: "One-vs-rest r depends on single documents: no interval.",
}
# Fewer units have no such interval; with skewed ratings none is to be trusted below ENOUGH.
FEWEST_STUDENTISED, FEWEST_F, FEWEST_JACKKNIFE, ENOUGH = 8, 3, 5, 100
# From so many units on the delta method gives what the bootstrap does, a thousand times faster.
MANY = 2000
# Share of ratings at the end of the scale, skewness, and how many times the root of the number of
# units an annotator has to rate for z-scores: where simulated intervals begin to fail.
AT_THE_END, SKEWED, ROOTS = 0.4, 1.5, 3.0
# Ratings an annotator below which z-scores have no interval; above, it is widened by so many k-th
# parts of alpha and of r.
FEWEST_EACH, OFF_ALPHA, OFF_R = 10, 1.7, 1.0


@dataclass(frozen=True)
class Wanted:
    """What is asked for: no interval without ``n_resamples``; whether ratings are z-scores.

    ``each`` is how many scores of an annotator the z-scores rest on (mean); None: those at hand.
    """

    n_resamples: int
    confidence: float
    seed: int | None
    is_standardised: bool
    each: float | None = None


def one_vs_rest_of(parts: PairedRatings, wanted: Wanted) -> StatisticResult:
    """Mean one-vs-rest r; the jackknife over documents needs no seed."""
    notes = Notes()
    r, without = parts.one_vs_rest()
    interval, method = None, ""
    if np.isnan(r):
        _warn_undefined(parts, "One-vs-rest r", notes)
    elif wanted.n_resamples and _has_enough(
        "one-vs-rest r", FEWEST_JACKKNIFE, parts, wanted, notes
    ):
        interval = _jackknife(r, without, wanted.confidence)
        if interval is None:
            notes.warn(TooFewWarning(HANGS[parts.has_documents]))
        method = JACKKNIFE[parts.has_documents]
        interval, method = _widened(r, interval, method, _scarce(parts, wanted), OFF_R)
        _warn_skewed(parts, notes)
    return StatisticResult(
        n=len(parts.values), statistic=r, interval=interval, method=method, warnings=notes.warnings
    )


def alpha_of(parts: PairedRatings, wanted: Wanted) -> StatisticResult:
    """Krippendorff's alpha, interval level."""
    notes, sums = Notes(), parts.alpha_sums()
    alpha = 1.0 - float(np.exp(alpha_intervals.log_disagreement(sums.sum(axis=0))))
    interval, method = None, ""
    if np.isnan(alpha):
        _warn_undefined(parts, "α", notes)
    elif wanted.n_resamples and alpha > 1.0 - EQUAL:
        notes.warn(TooFewWarning("No two annotators differ on any item: α has no interval."))
    elif wanted.n_resamples:
        interval, method = _alpha_interval(parts, wanted, notes)
    is_drawn = method.startswith(STUDENTISED)
    interval, method = _widened(alpha, interval, method, _scarce(parts, wanted), OFF_ALPHA)
    return StatisticResult(
        n=len(parts.values),
        statistic=alpha,
        interval=interval,
        method=method,
        **notes.fields,
        n_resamples=wanted.n_resamples if is_drawn else None,
        seed=wanted.seed if is_drawn else None,
    )


def _alpha_interval(
    parts: PairedRatings, wanted: Wanted, notes: Notes
) -> tuple[Interval | None, str]:
    sums, is_given = parts.document_sums(), not _is_standardised(parts, wanted)
    is_plain = is_given and not parts.has_documents and _is_complete(parts)
    if FEWEST_F <= len(sums) < FEWEST_STUDENTISED and is_plain:
        return alpha_intervals.f_interval(sums, wanted.confidence), F_NORMAL
    if not _has_enough("α", FEWEST_STUDENTISED, parts, wanted, notes) or wanted.seed is None:
        return None, ""
    _warn_skewed(parts, notes)
    if len(sums) >= MANY:
        return alpha_intervals.delta_interval(sums, wanted.confidence), DELTA[parts.has_documents]
    interval, without_spread = alpha_intervals.studentised(
        sums, n_resamples=wanted.n_resamples, confidence=wanted.confidence, seed=wanted.seed
    )
    notes.exclude("bootstrap sample without variation", without_spread)
    if interval is None:
        notes.warn(TooFewWarning("Too few items with a disagreement for an interval of α."))
    return interval, DRAWN[parts.has_documents] if interval else ""


def _is_complete(parts: PairedRatings) -> bool:
    raters = parts.per_unit()
    return bool(np.all(raters == raters[0]))


def _is_standardised(parts: PairedRatings, wanted: Wanted) -> bool:
    return wanted.is_standardised or parts.has_equal_means


def _has_enough(name: str, fewest: int, parts: PairedRatings, wanted: Wanted, notes: Notes) -> bool:
    """Whether there are units enough and, for z-scores, ratings enough of each annotator."""
    if not has_enough_documents(parts.documents, notes):
        return False
    if not parts.has_documents and parts.n_units < fewest:
        said = f"{parts.n_units} item{'s are' if parts.n_units > 1 else ' is'} too few"
        notes.warn(TooFewWarning(f"{said} for an interval of {name}: {fewest} are needed."))
        return False
    each = _scarce(parts, wanted)
    if each is not None and each < FEWEST_EACH:
        notes.warn(
            TooFewWarning(
                f"Annotators gave {each:.3g} ratings on average, of different items: too few for "
                f"an interval on z-scores, {FEWEST_EACH} are needed."
            )
        )
        return False
    return True


def _scarce(parts: PairedRatings, wanted: Wanted) -> float | None:
    """Ratings of an annotator that z-scores rest on, where so few bias agreement; else None.

    They lower it by about 1.5 of its k-th part, which more annotators do not mend, while an
    interval over N units is about 1/sqrt(N) wide. Where all rate the same units nothing is lost.
    """
    if not parts.n_units or not _is_standardised(parts, wanted):
        return None
    each = wanted.each or len(parts.values) / (len(parts.slices) - 1)
    is_scarce = each < min(ROOTS * np.sqrt(parts.n_units), parts.n_units / 2.0)
    return each if is_scarce else None


def _widened(
    statistic: float, interval: Interval | None, method: str, each: float | None, off: float
) -> tuple[Interval | None, str]:
    """Move the end that is away from 0 by what scarce ratings may have taken off z-scores."""
    if interval is None or each is None:
        return interval, method if interval else ""
    by = off * abs(statistic) / each
    low, high = interval.low - by * (statistic < 0), interval.high + by * (statistic > 0)
    told = f"{method}; widened by {by:.2g}, as z-scores rest on {each:.3g} ratings an annotator"
    return Interval(max(low, -1.0), min(high, 1.0), interval.confidence), told


def _jackknife(r: float, without: FloatArray, confidence: float) -> Interval | None:
    """The interval by leaving out each document; None where r is 1, or depends on single ones."""
    low, high, pvalue = jackknife_t(r, without, confidence)
    is_there = abs(r) <= 1.0 - EQUAL and not np.isnan(pvalue)
    return Interval(low, high, confidence) if is_there else None


def _warn_undefined(parts: PairedRatings, name: str, notes: Notes) -> None:
    if not parts.n_units:
        notes.warn(TooFewWarning("No item has two scores: agreement is undefined."))
    elif np.ptp(parts.values) == 0.0:
        notes.warn(ConstantInputWarning("The ratings do not vary: agreement is undefined."))
    else:
        notes.warn(TooFewWarning(f"{name} is undefined: no annotator shares two items that vary."))


def _warn_skewed(parts: PairedRatings, notes: Notes) -> None:
    at_the_end, skewness = parts.share_at_the_end(), parts.skewness()
    if at_the_end < AT_THE_END and abs(skewness) < SKEWED:
        return
    what = f"{at_the_end:.0%} of the ratings stand at the end of the scale"
    if at_the_end < AT_THE_END:
        what = f"the ratings are heavily skewed ({skewness:+.1f})"
    reliable = f"no interval of agreement is reliable below {ENOUGH}; it may be too narrow"
    if parts.n_units >= ENOUGH:
        reliable = "intervals of agreement may hold the truth in 90 of 100 cases instead of 95"
    notes.warn(ApproximationWarning(f"With {parts.n_units:,} items, {what}: {reliable}."))
