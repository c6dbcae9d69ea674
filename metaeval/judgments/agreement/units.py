"""Agreement statistics with the interval that suits the number of units, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.intervals.jackknife import jackknife_t
from metaeval.documents import has_enough_documents
from metaeval.judgments.agreement import alpha as alpha_intervals
from metaeval.judgments.agreement.paired import EQUAL, PairedRatings
from metaeval.messages import Message, message, plural
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    Interval,
    Notes,
    StatisticResult,
    TooFewWarning,
)

# Methods, by whether documents are the unit.
BOOTSTRAP = {
    False: message(
        "method.bootstrap-alpha-items", "studentised bootstrap of log(1 − α) over items"
    ),
    True: message(
        "method.bootstrap-alpha-documents", "studentised bootstrap of log(1 − α) over documents"
    ),
}
DELTA = {
    False: message(
        "method.delta-alpha-items", "delta method of log(1 − α) over items, t distribution"
    ),
    True: message(
        "method.delta-alpha-documents", "delta method of log(1 − α) over documents, t distribution"
    ),
}
F_NORMAL = message("method.f", "F distribution, which assumes normal ratings")
JACKKNIFE = {
    False: message("method.jackknife-r-items", "jackknife of atanh r over items, t distribution"),
    True: message(
        "method.jackknife-r-documents", "jackknife of atanh r over documents, t distribution"
    ),
}
UNSTABLE = {
    False: message(
        "agreement.depends-on-items",
        "One-vs-rest r depends on single items, so it has no interval.",
    ),
    True: message(
        "agreement.depends-on-documents",
        "One-vs-rest r depends on single documents, so it has no interval.",
    ),
}
ONE_VS_REST = message("agreement.one-vs-rest-r", "one-vs-rest r")
# Minimum numbers of units for an interval; with skewed ratings none is reliable below ENOUGH.
FEWEST_STUDENTISED, FEWEST_F, FEWEST_JACKKNIFE, ENOUGH = 8, 3, 5, 100
# From this number of units the delta method gives the bootstrap's result, a thousand times faster.
MANY = 2000
# Share of ratings at the end of the scale, skewness, and how many times the root of the number of
# units an annotator must rate for z-scores: beyond these, simulated intervals begin to fail.
AT_THE_END, SKEWED, ROOTS = 0.4, 1.5, 3.0
# Below the first number of ratings per annotator z-scores have no interval. Above, with k ratings,
# it is widened by the given k-th parts of alpha and of r.
FEWEST_EACH, OFF_ALPHA, OFF_R = 10, 1.7, 1.0


@dataclass(frozen=True)
class Wanted:
    """Options: no interval without ``n_resamples``; whether ratings are z-scores.

    ``each`` is the mean number of scores per annotator behind the z-scores; None: the given ones.
    """

    n_resamples: int
    confidence: float
    seed: int | None
    is_standardised: bool
    each: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementStatistic(StatisticResult):
    """One-vs-rest r or alpha; without an interval, `method` is None."""

    method: Message | None


def one_vs_rest_of(parts: PairedRatings, wanted: Wanted) -> AgreementStatistic:
    """Return the mean one-vs-rest r; the jackknife over documents needs no seed."""
    notes = Notes()
    r, without = parts.one_vs_rest()
    interval: Interval | None = None
    method: Message | None = None
    if np.isnan(r):
        _warn_undefined(parts, ONE_VS_REST, notes)
    elif wanted.n_resamples and _has_enough(ONE_VS_REST, FEWEST_JACKKNIFE, parts, wanted, notes):
        interval = _jackknife(r, without, wanted.confidence)
        if interval is None:
            notes.warn(TooFewWarning(UNSTABLE[parts.has_documents]))
        method = JACKKNIFE[parts.has_documents]
        interval, method = _widened(r, interval, method, _scarce(parts, wanted), OFF_R)
        _warn_skewed(parts, notes)
    return AgreementStatistic(
        n=len(parts.values), statistic=r, interval=interval, method=method, warnings=notes.warnings
    )


def alpha_of(parts: PairedRatings, wanted: Wanted) -> AgreementStatistic:
    """Return Krippendorff's alpha, interval level."""
    notes, sums = Notes(), parts.alpha_sums()
    alpha = 1.0 - float(np.exp(alpha_intervals.log_disagreement(sums.sum(axis=0))))
    interval: Interval | None = None
    method: Message | None = None
    if np.isnan(alpha):
        _warn_undefined(parts, "α", notes)
    elif wanted.n_resamples and alpha > 1.0 - EQUAL:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.no-disagreement",
                    "No two annotators differ on any item, so α has no interval.",
                )
            )
        )
    elif wanted.n_resamples:
        interval, method = _alpha_interval(parts, wanted, notes)
    is_drawn = method in BOOTSTRAP.values()
    interval, method = _widened(alpha, interval, method, _scarce(parts, wanted), OFF_ALPHA)
    return AgreementStatistic(
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
) -> tuple[Interval | None, Message | None]:
    sums, is_given = parts.document_sums(), not _is_standardised(parts, wanted)
    is_plain = is_given and not parts.has_documents and _is_complete(parts)
    if FEWEST_F <= len(sums) < FEWEST_STUDENTISED and is_plain:
        return alpha_intervals.f_interval(sums, wanted.confidence), F_NORMAL
    if not _has_enough("α", FEWEST_STUDENTISED, parts, wanted, notes) or wanted.seed is None:
        return None, None
    _warn_skewed(parts, notes)
    if len(sums) >= MANY:
        return alpha_intervals.delta_interval(sums, wanted.confidence), DELTA[parts.has_documents]
    interval, without_spread = alpha_intervals.studentised(
        sums, n_resamples=wanted.n_resamples, confidence=wanted.confidence, seed=wanted.seed
    )
    notes.exclude("constant-sample", without_spread)
    if interval is None:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.few-disagreements",
                    "Annotators differ on too few items for an interval of α.",
                )
            )
        )
    return interval, BOOTSTRAP[parts.has_documents] if interval else None


def _is_complete(parts: PairedRatings) -> bool:
    raters = parts.per_unit()
    return bool(np.all(raters == raters[0]))


def _is_standardised(parts: PairedRatings, wanted: Wanted) -> bool:
    return wanted.is_standardised or parts.has_equal_means


def _has_enough(
    statistic: Message | str, fewest: int, parts: PairedRatings, wanted: Wanted, notes: Notes
) -> bool:
    """Return whether there are enough units and, for z-scores, ratings per annotator; else warn."""
    if not has_enough_documents(parts.documents, notes):
        return False
    if not parts.has_documents and parts.n_units < fewest:
        notes.warn(
            TooFewWarning(
                plural(
                    "agreement.few-items",
                    "Only {n} item has two ratings. An interval of {statistic} needs at least "
                    "{fewest} such items.",
                    "Only {n} items have two ratings. An interval of {statistic} needs at least "
                    "{fewest} such items.",
                    n=parts.n_units,
                    statistic=statistic,
                    fewest=fewest,
                )
            )
        )
        return False
    each = _scarce(parts, wanted)
    if each is not None and each < FEWEST_EACH:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.few-ratings-each",
                    "Annotators gave {each:.3g} ratings on average, of different items. An "
                    "interval on z-scores needs at least {fewest} ratings per annotator.",
                    each=each,
                    fewest=FEWEST_EACH,
                )
            )
        )
        return False
    return True


def _scarce(parts: PairedRatings, wanted: Wanted) -> float | None:
    """Return the number of ratings per annotator behind z-scores if it is too small; else None.

    With k ratings per annotator, z-scores lower agreement by about 1.5 k-th parts, whatever the
    number of annotators, while an interval over N units is about 1/sqrt(N) wide. There is no such
    bias if all annotators rate the same units.
    """
    if not parts.n_units or not _is_standardised(parts, wanted):
        return None
    each = wanted.each or len(parts.values) / (len(parts.slices) - 1)
    is_scarce = each < min(ROOTS * np.sqrt(parts.n_units), parts.n_units / 2.0)
    return each if is_scarce else None


def _widened(
    statistic: float,
    interval: Interval | None,
    method: Message | None,
    each: float | None,
    off: float,
) -> tuple[Interval | None, Message | None]:
    """Move the end that is further from 0 by the possible bias of z-scores of few ratings."""
    if interval is None or each is None:
        return interval, method if interval else None
    by = off * abs(statistic) / each
    low, high = interval.low - by * (statistic < 0), interval.high + by * (statistic > 0)
    widened = message(
        "method.widened",
        "{method}; widened by {by:.2g}, because z-scores are based on {each:.3g} ratings per "
        "annotator",
        method=method,
        by=by,
        each=each,
    )
    return Interval(max(low, -1.0), min(high, 1.0), interval.confidence), widened


def _jackknife(r: float, without: FloatArray, confidence: float) -> Interval | None:
    """Return the jackknife interval; None if r is 1, or depends on a single document."""
    low, high, pvalue = jackknife_t(r, without, confidence)
    is_there = abs(r) <= 1.0 - EQUAL and not np.isnan(pvalue)
    return Interval(low, high, confidence) if is_there else None


def _warn_undefined(parts: PairedRatings, statistic: Message | str, notes: Notes) -> None:
    if not parts.n_units:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.no-pairs",
                    "No item has two scores that can be compared, so agreement is undefined.",
                )
            )
        )
    elif np.ptp(parts.values) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message("agreement.constant", "All ratings are equal, so agreement is undefined.")
            )
        )
    else:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement.no-varying-items",
                    "No annotator shares two items with different ratings, so {statistic} is "
                    "undefined.",
                    statistic=statistic,
                )
            )
        )


def _warn_skewed(parts: PairedRatings, notes: Notes) -> None:
    at_the_end, skewness = parts.share_at_the_end(), parts.skewness()
    if at_the_end < AT_THE_END and abs(skewness) < SKEWED:
        return
    if at_the_end >= AT_THE_END:
        distribution = message(
            "agreement.at-the-end",
            "{share:percent} of the ratings are at an annotator's lowest or highest score.",
            share=at_the_end,
        )
    else:
        distribution = message(
            "agreement.skewed",
            "The ratings are heavily skewed (skewness: {skewness:+.1f}).",
            skewness=skewness,
        )
    if parts.n_units >= ENOUGH:
        known = message(
            "agreement.lower-coverage",
            "{distribution} A 95% interval of agreement may then cover the true value in only 90% "
            "of cases.",
            distribution=distribution,
        )
    else:
        known = plural(
            "agreement.unreliable-interval",
            "{distribution} With {n} item, the interval of agreement is unreliable and may be too "
            "narrow; at least {enough} items are needed.",
            "{distribution} With {n} items, the interval of agreement is unreliable and may be too "
            "narrow; at least {enough} items are needed.",
            distribution=distribution,
            n=parts.n_units,
            enough=ENOUGH,
        )
    notes.warn(ApproximationWarning(known))
