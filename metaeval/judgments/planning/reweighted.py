"""Means of systems that were drawn with unequal probabilities, such as by their scores so far."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from metaeval.arrays import (
    FloatArray,
    IntArray,
    as_floats,
    factorize,
    fraction,
    group_means,
    one_length,
    ratio,
)
from metaeval.documents import FEW_DOCUMENTS, FEWEST_DOCUMENTS
from metaeval.messages import data_error, message, truncated
from metaeval.results import AdaptiveDrawWarning, Notes, Result, TooFewWarning

# Measured by `benchmarks.metaeval.drawn`; docs/assignment.md has the table.
BIAS = message(
    "drawing.biased-means",
    "Systems were drawn by their scores so far, so their plain means are biased. In simulations "
    "these means were too low, by up to {mean:.1f} of 100 points over all systems and by up to "
    "{one:.1f} points for one system. Means weighted by 1 / (probability of being drawn) differed "
    "by at most {weighted:.1f} points. The page “MT systems” shows them.",
    mean=0.5,
    one=0.8,
    weighted=0.4,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReweightedMeans(Result):
    """Means of systems; arrays follow ``systems``.

    Attributes
    ----------
    means, plain
        Weighted by 1 / probability (Hájek), and of the judgments as they are.
    lows, highs
        Ends of the intervals of ``means``; nan below six documents.
    covariance
        systems x systems, of ``means``; that of a difference is found from it.
    counts, documents, effective
        Judgments, documents, and as how many equally weighted documents those count.
    n
        Judgments.
    """

    systems: tuple[Any, ...]
    means: FloatArray
    plain: FloatArray
    lows: FloatArray
    highs: FloatArray
    covariance: FloatArray
    counts: IntArray
    documents: IntArray
    effective: FloatArray
    confidence: float


def reweighted_means(
    scores: ArrayLike,
    systems: Iterable[Hashable],
    documents: Iterable[Hashable],
    probabilities: ArrayLike,
    *,
    confidence: float = 0.95,
) -> ReweightedMeans:
    """Estimate systems' means from judgments of systems that were drawn by their scores so far.

    A system with low scores by chance is drawn less often, so its plain mean stays too low. Given
    all earlier judgments, a judgment that is drawn with probability p and weighted by 1 / p has the
    right expectation, whatever determined p; the weighted mean (Hájek 1971) divides by the sum of
    the weights. The interval is that of a ratio, linearised, over documents (all visits of a
    document together), with Student's t at the effective number of documents less one. It is valid
    if the choice of annotator for an item does not depend on the scores.

    Parameters
    ----------
    scores
        One per judgment; nan is missing.
    systems, documents
        The judged system and the document, which is the independent unit, of each judgment.
    probabilities
        The probability with which the system was drawn for the item, above 0, at most 1.

    Warns
    -----
    AdaptiveDrawWarning
        The probabilities differ, so that the plain means are biased.
    TooFewWarning
        A system was judged on fewer than six documents, or on fewer than 20 of equal weight.

    Examples
    --------
    >>> result = reweighted_means([90, 60, 50], "AAA", "xyz", [0.9, 0.45, 0.45])
    >>> result.means.round(2).tolist(), result.plain.round(2).tolist()
    ([62.0], [66.67])
    """
    fraction("confidence", confidence)
    values = as_floats("scores", scores, ndim=1)
    chances = as_floats("probabilities", probabilities, ndim=1)
    (names, of), (units, where) = factorize(systems), factorize(documents)
    one_length(scores=values, systems=of, documents=where, probabilities=chances)
    if not ((chances > 0) & (chances <= 1)).all():
        raise data_error("argument.probabilities", "Probabilities must be above 0 and at most 1.")
    notes, there = Notes(), ~np.isnan(values)
    notes.exclude("missing-score", int((~there).sum()))
    values, chances, of, where = values[there], chances[there], of[there], where[there]
    shape = (len(names), len(units))
    cell = of * len(units) + where
    weights = np.bincount(cell, 1 / chances, np.prod(shape, dtype=int)).reshape(shape)
    total = weights.sum(axis=1)
    means = ratio(np.bincount(of, values / chances, len(names)), total)
    residual = np.bincount(cell, (values - means[of]) / chances, weights.size).reshape(shape)
    parts = ratio(residual, np.broadcast_to(total[:, None], shape))
    n_documents = (weights > 0).sum(axis=1)
    # Of a pair, as much as both numbers of documents ask for.
    small = np.sqrt(ratio(n_documents, n_documents - 1))
    covariance = (parts * small[:, None]) @ (parts * small[:, None]).T
    effective = ratio(total**2, (weights**2).sum(axis=1))
    spread = np.where(n_documents >= FEWEST_DOCUMENTS, np.sqrt(np.diag(covariance)), np.nan)
    reach = stdtrit(np.maximum(effective - 1, 1), (1 + confidence) / 2) * spread
    if len(chances) and np.ptp(chances) > 0:
        notes.warn(AdaptiveDrawWarning(BIAS))
    n_each = list(zip(names, n_documents.tolist(), effective.tolist(), strict=True))
    if few := [str(name) for name, n, _ in n_each if n < FEWEST_DOCUMENTS]:
        notes.warn(
            TooFewWarning(
                message(
                    "drawing.no-interval",
                    "Systems judged on fewer than {fewest} documents have no interval: {systems}.",
                    fewest=FEWEST_DOCUMENTS,
                    systems=truncated(few),
                )
            )
        )
    if few := [str(name) for name, n, worth in n_each if n >= FEWEST_DOCUMENTS and
               worth < FEW_DOCUMENTS]:  # fmt: skip
        notes.warn(
            TooFewWarning(
                message(
                    "drawing.approximate",
                    "Systems judged on fewer than {few} documents of equal weight have approximate "
                    "intervals: {systems}.",
                    few=FEW_DOCUMENTS,
                    systems=truncated(few),
                )
            )
        )
    return ReweightedMeans(
        n=len(values),
        **notes.fields,
        systems=names,
        means=means,
        plain=group_means(values, of, len(names)),
        lows=means - reach,
        highs=means + reach,
        covariance=covariance,
        counts=np.bincount(of, minlength=len(names)),
        documents=n_documents,
        effective=effective,
        confidence=confidence,
    )
