"""Agreement with its intervals, from one row per rating: fast however sparse the ratings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import IntArray, as_floats, factorize, fraction, one_length, positive_int
from metaeval.documents import documents_of, effective_clusters, sizes_of, unit_of
from metaeval.judgments.agreement.paired import PairedRatings, pair
from metaeval.judgments.agreement.units import AgreementStatistic, Wanted, alpha_of, one_vs_rest_of
from metaeval.judgments.standardize import z_scores
from metaeval.messages import Message
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import Interval, Notes, Result, StatisticsWarning


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementInterval(Result):
    """One-vs-rest Pearson and Krippendorff's alpha (interval level), each with an interval.

    ``n`` counts the ratings of units with at least two, ``n_items`` those units, and ``n_units``
    the resampled ones: their documents, or segments if no two units share a document, as ``unit``
    says, with the effective number ``n_effective``. An interval is None if it cannot be computed (a
    warning gives the reason) or was not requested; then its method is None, too.
    """

    n_items: int
    unit: str
    n_units: int
    n_effective: float
    one_vs_rest: float
    one_vs_rest_interval: Interval | None
    one_vs_rest_method: Message | None
    alpha: float
    alpha_interval: Interval | None
    alpha_method: Message | None
    n_resamples: int
    seed: int | None


def agreement_interval(
    ratings: ArrayLike,
    annotators: Iterable[Hashable],
    units: Iterable[Hashable],
    *,
    documents: Iterable[Hashable] | None = None,
    is_standardised: bool = False,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
) -> AgreementInterval:
    """Agreement between annotators, with intervals over units or their documents.

    The statistics are those of `one_vs_rest_pearson` and `krippendorff_alpha`. Alpha: from 8 units
    the studentised bootstrap of log(1 - alpha), from 2,000 the delta method; with 3 to 7 and as
    many ratings of each, the F interval of the intraclass correlation, which assumes normal
    ratings (Shrout and Fleiss 1979). One-vs-rest: from 5 units atanh of the mean r with the
    jackknife's standard error and t with N - 1 degrees of freedom. Units are drawn, not annotators:
    the intervals say how far the agreement of *these* annotators might be off, not that of other
    people. z-scores are not computed again for each sample of units; where annotators rated few
    units of many, these have imprecise means and deviations: the interval is widened, and below 10
    ratings an annotator there is none.

    Parameters
    ----------
    ratings
        One number per rating, raw or z; nan is missing.
    annotators, units
        Who rated what. An annotator who rated a unit more than once counts with the mean.
    documents
        The document of each rating's unit. Ratings of one document depend on each other, as an
        annotator sees them together: documents are drawn in the place of units, from six on.
        Without it, and where a label is empty, a unit is a document of its own.
    is_standardised
        Whether the ratings are z-scores per annotator; seen without it where all means are equal.
    n_resamples
        Bootstrap samples; 0 for no intervals at all.
    rng
        Seed or Generator of the bootstrap; the jackknife and F need none.

    Warns
    -----
    TooFewWarning
        No unit has two ratings: nan. Or too few units, or no disagreement, for an interval. Fewer
        than 20 documents: the intervals are approximate; below six there is none.
    ConstantInputWarning
        Nothing varies: nan, without interval.
    ApproximationWarning
        Below 100 units with many ratings at the end of the scale, or with heavy skew.

    Raises
    ------
    DataError
        If lengths differ, or one unit has ratings with two documents.

    Examples
    --------
    >>> who, what = ["A"] * 4 + ["B"] * 4, [1, 2, 3, 4] * 2
    >>> result = agreement_interval([1, 2, 3, 4, 1, 2, 3, 5], who, what, n_resamples=0)
    >>> round(result.alpha, 4), round(result.one_vs_rest, 4)
    (0.9369, 0.9827)
    """
    positive_int("n_resamples", n_resamples, minimum=0)
    fraction("confidence", confidence)
    notes, seed = Notes(), resolve_seed(rng) if n_resamples else None
    parts = _parts(ratings, _codes(annotators, units, documents), notes)
    wanted = Wanted(n_resamples, confidence, seed, is_standardised)
    r, alpha = one_vs_rest_of(parts, wanted), alpha_of(parts, wanted)
    return AgreementInterval(
        n=len(parts.values),
        reasons=notes.reasons,
        warnings=_distinct(r, alpha),
        n_items=parts.n_units,
        unit=unit_of(parts.documents),
        n_units=parts.n_documents,
        n_effective=effective_clusters(sizes_of(parts.documents)),
        one_vs_rest=r.statistic,
        one_vs_rest_interval=r.interval,
        one_vs_rest_method=r.method,
        alpha=alpha.statistic,
        alpha_interval=alpha.interval,
        alpha_method=alpha.method,
        n_resamples=n_resamples,
        seed=seed,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgmentAgreement(Result):
    """Agreement of judgments as every page and bundle shows it.

    One-vs-rest r and alpha of z-scores, alpha of the scores as given. ``n`` counts the scores of
    units with at least two, ``n_items`` those units, and ``n_units`` what is drawn, as ``unit``
    says (`AgreementInterval`); each statistic has its own warnings.
    """

    n_items: int
    unit: str
    n_units: int
    n_effective: float
    one_vs_rest: AgreementStatistic
    alpha_z: AgreementStatistic
    alpha_raw: AgreementStatistic


def judgment_agreement(
    scores: ArrayLike,
    annotators: Iterable[Hashable],
    units: Iterable[Hashable],
    *,
    documents: Iterable[Hashable] | None = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
) -> JudgmentAgreement:
    """Agreement on raw scores and on z-scores (per annotator, ddof 1, of these scores).

    Parameters and warnings are those of `agreement_interval`.

    Examples
    --------
    >>> who, what = ["A"] * 4 + ["B"] * 4, [1, 2, 3, 4] * 2
    >>> found = judgment_agreement([1, 2, 3, 4, 1, 2, 3, 5], who, what, rng=1)
    >>> round(found.alpha_raw.statistic, 4), found.alpha_raw.method.code
    (0.9369, 'method.f')
    """
    positive_int("n_resamples", n_resamples, minimum=0)
    fraction("confidence", confidence)
    # An array of whole numbers stays one: it is sorted faster than labels are.
    people, what = (
        each if isinstance(each, np.ndarray) else list(each) for each in (annotators, units)
    )
    notes, seed = Notes(), resolve_seed(rng) if n_resamples else None
    codes = _codes(people, what, documents)
    raw, standard = _parts(scores, codes, notes), z_scores(scores, people)
    z = _parts(standard.z, codes, Notes())
    each = float(standard.counts.mean()) if len(standard.counts) else None
    of_z, of_raw = (Wanted(n_resamples, confidence, seed, is_z, each) for is_z in (True, False))
    r, alpha_z, alpha_raw = one_vs_rest_of(z, of_z), alpha_of(z, of_z), alpha_of(raw, of_raw)
    return JudgmentAgreement(
        n=len(raw.values),
        reasons=notes.reasons,
        warnings=_distinct(r, alpha_z, alpha_raw),
        n_items=raw.n_units,
        unit=unit_of(raw.documents),
        n_units=raw.n_documents,
        n_effective=effective_clusters(sizes_of(raw.documents)),
        one_vs_rest=r,
        alpha_z=alpha_z,
        alpha_raw=alpha_raw,
    )


def _distinct(*results: Result) -> tuple[StatisticsWarning, ...]:
    """Every warning of some results once."""
    return tuple({str(each): each for result in results for each in result.warnings}.values())


_Codes = tuple[IntArray, IntArray, IntArray | None]


def _codes(
    annotators: Iterable[Hashable],
    units: Iterable[Hashable],
    documents: Iterable[Hashable] | None,
) -> _Codes:
    """Return the number of each rating's annotator and unit, and of each unit's document."""
    who, (names, what) = factorize(annotators)[1], factorize(units)
    return who, what, None if documents is None else documents_of(documents, what, names)


def _parts(ratings: ArrayLike, codes: _Codes, notes: Notes) -> PairedRatings:
    values, (who, what, of) = as_floats("ratings", ratings, ndim=1), codes
    one_length(annotators=who, units=what, ratings=values)
    return pair(values, who, what, notes, of)
