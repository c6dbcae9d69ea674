"""Limit of r over hybrid systems as their number grows, with intervals over documents.

A segment metric's limit has a closed form. A corpus metric's limit is that of a linear
approximation of its score at the segments' mean counts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, fraction, one_length
from metaeval.correlation.hybrids.cells import clusters_on, drawable_cells, within
from metaeval.correlation.intervals.clustered import (
    CorrelationIntervals,
    Side,
    t_fields,
    without_intervals,
)
from metaeval.correlation.intervals.crossed import QUESTIONS, SEGMENTS, is_enough
from metaeval.documents import (
    DOCUMENTS,
    effective_clusters,
    effective_units,
    sizes_of,
    sum_by,
    unit_of,
)
from metaeval.messages import data_error, message, truncated
from metaeval.results import ApproximationWarning, ConstantInputWarning, Notes
from metaeval.scores.corpus import CorpusStatistics, ScoreFunction
from metaeval.scores.matrix import ScoreMatrix, align

# From this number of segments the interval has its nominal coverage even if spreads differ.
ENOUGH = 100
# Relative step of the numerical slope: small beside the counts' spread, large beside rounding.
STEP = 1e-4


def hybrid_limits(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], weights: ArrayLike | None = None
) -> FloatArray:
    """Return the limit of `hybrid_supersample`'s r, samples x metrics, without drawing.

    r = sum w h'm'/k / sqrt(sum w h'^2/k . sum w m'^2/k) over the cells that the humans and every
    metric have; ' removes a segment's mean over its k systems, w is the weight of the segment.

    Parameters
    ----------
    human, metrics
        Matched by names; segment metrics only; `hybrid_limit_intervals` takes corpus metrics too.
    weights
        samples x segments, in the order of the segments common to all: how often each counts.
        Counts of a bootstrap sample, or 0 and 1 for a fold. Default: one sample, every segment
        once.

    Returns
    -------
    array
        nan where the humans or a metric do not differ between the systems of any segment.

    Examples
    --------
    >>> human = ScoreMatrix([[60, 70, 90], [20, 75, 50]], ["A", "B"], ["s1", "s2", "s3"])
    >>> metric = human.with_values([[0.6, 0.6, 0.8], [0.3, 0.5, 0.7]])
    >>> hybrid_limits(human, {"m": metric}).round(3).tolist()
    [[0.823]]
    """
    if not metrics:
        raise data_error("argument.no-metric", "Give at least one metric.")
    first, *others = align(human, *metrics.values())
    stack = np.array([matrix.values for matrix in (first, *others)])
    drawable = ~np.isnan(stack).any(axis=0)
    counts = np.maximum(drawable.sum(axis=0), 1)
    away = within(stack, drawable)
    products = (away[0] * away / counts).sum(axis=1)
    squares = (away**2 / counts).sum(axis=1)
    w = np.ones((1, len(counts))) if weights is None else as_floats("weights", weights, ndim=2)
    one_length(weights=w.T, segments=counts)
    shared, spread = w @ products.T, w @ squares.T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = shared[:, 1:] / np.sqrt(spread[:, :1] * spread[:, 1:])
    return np.asarray(np.clip(np.where(np.isfinite(r), r, np.nan), -1.0, 1.0))


def hybrid_limit_intervals(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    *,
    statistics: Mapping[str, CorpusStatistics] | None = None,
    confidence: float = 0.95,
) -> CorrelationIntervals:
    """Correlate metrics with humans over infinitely many hybrids; intervals over documents.

    r = A/sqrt(B C) with A the sum over segments of A_j = sum_s h'm'/k and B, C likewise of h'^2
    and m'^2; a segment's influence is A_j/sqrt(B C) - r (B_j/2B + C_j/2C). Influences are summed
    by document, and the interval is t with N - 1 degrees of freedom on the z scale, for N
    documents (of unequal ones their effective number), or segments where no document has two.
    Only segments of two or more drawable systems carry information. Unlike Zou's interval over
    drawn hybrids it does not narrow with their number.

    Parameters
    ----------
    human, metrics, statistics
        As for `hybrid_supersample`. A corpus metric counts as the line through its score at the
        mean counts (`corpus_limit`), with the jackknife over documents.

    Warns
    -----
    TooFewWarning
        Fewer than 20 segments that carry information, or 6 documents: no interval. Fewer than 20
        documents: it is approximate.
    ApproximationWarning
        Fewer than 100: the interval may be too narrow where segments differ in spread.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> human = ScoreMatrix(rng.normal(size=(4, 150)), "ABCD", map(str, range(150)))
    >>> metric = human.with_values(human.values + rng.normal(size=(4, 150)))
    >>> found = hybrid_limit_intervals(human, {"m": metric})
    >>> [round(float(part[0]), 2) for part in (found.values, found.lows, found.highs)]
    [0.74, 0.69, 0.78]
    """
    fraction("confidence", confidence)
    notes, statistics = Notes(), statistics or {}
    matrices, counts, drawable = drawable_cells(human, metrics, statistics, notes)
    clusters = clusters_on(human, (*metrics.values(), *statistics.values()))
    values, parts = limits_of(human.values, matrices, counts, statistics, drawable, clusters)
    names = (*matrices, *statistics)
    if np.isnan(values).any():
        notes.warn(
            ConstantInputWarning(
                message(
                    "hybrids.constant",
                    "The correlation is undefined for {metrics}: systems do not differ on any "
                    "segment.",
                    metrics=truncated(np.array(names)[np.isnan(values)].tolist()),
                )
            )
        )
    return over_documents(
        names, values, parts, clusters[drawable.sum(axis=0) > 1], notes,
        n=int(drawable.sum()), n_systems=int(drawable.any(axis=1).sum()), confidence=confidence,
    )  # fmt: skip


def over_documents(
    names: tuple[str, ...],
    values: FloatArray,
    parts: FloatArray,
    informative: IntArray,
    notes: Notes,
    *,
    n: int,
    n_systems: int,
    confidence: float,
) -> CorrelationIntervals:
    """Return r of m metrics with t intervals from documents' influences, m x documents.

    ``informative`` is the document of each segment that has outputs of two or more systems.
    """
    n_segments, n_units = len(informative), len(np.unique(informative))
    size = np.full(len(values), effective_units(informative))
    is_shown = is_enough(informative, 0, SEGMENTS, notes)
    if is_shown and n_segments < ENOUGH:
        notes.warn(
            ApproximationWarning(
                message(
                    "hybrids.narrow",
                    "{n} segments have outputs of two or more systems. With fewer than {enough}, "
                    "intervals over hybrid systems may be too narrow.",
                    n=n_segments,
                    enough=ENOUGH,
                )
            )
        )
    sides = [Side(parts, size)]
    return CorrelationIntervals(
        n=n,
        **notes.fields,
        metrics=names,
        n_segments=n_segments,
        n_systems=n_systems,
        unit=unit_of(informative),
        n_units=n_units,
        n_effective=effective_clusters(sizes_of(informative)),
        method=(
            message("method.delta-documents", "delta method and t over {n} documents", n=n_units)
            if unit_of(informative) == DOCUMENTS
            else message("method.delta-segments", "delta method and t over {n} segments", n=n_units)
        ),
        question=QUESTIONS[SEGMENTS, unit_of(informative)],
        confidence=confidence,
        **(
            t_fields(values, sides, confidence=confidence)
            if is_shown
            else without_intervals(values)
        ),
    )


def limits_of(
    human: FloatArray,
    matrices: Mapping[str, FloatArray],
    counts: Mapping[str, FloatArray],
    statistics: Mapping[str, CorpusStatistics],
    drawable: BoolArray,
    clusters: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return r of every metric over infinitely many hybrids, and documents' influence on it.

    (m,) and m x documents; what `drawable_cells` returned, segment metrics before corpus metrics.
    Without ``clusters`` each segment is a document of its own.
    """
    clusters = np.arange(human.shape[1]) if clusters is None else clusters
    h = within(human[None], drawable)[0]
    weights = 1.0 / np.maximum(drawable.sum(axis=0), 1)
    found = [weighted_limit(h, within(m[None], drawable)[0], weights) for m in matrices.values()]
    found = [(r, sum_by(part, clusters)) for r, part in found]
    found += [
        corpus_limit(h, counts[name], corpus.score, drawable, clusters)
        for name, corpus in statistics.items()
    ]
    return np.array([r for r, _ in found]), np.array([part for _, part in found])


def weighted_limit(h: FloatArray, m: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return r of scores less their segments' means, and each segment's influence on it.

    ``h`` and ``m`` are systems x segments, 0 where missing; ``weights`` multiply the sums of the
    segments.
    """
    a, b, c = ((x * y).sum(axis=0) * weights for x, y in ((h, m), (h, h), (m, m)))
    if not (b.sum() > 0.0 and c.sum() > 0.0):
        return np.nan, np.zeros(len(a))
    scale = np.sqrt(b.sum() * c.sum())
    r = float(np.clip(a.sum() / scale, -1.0, 1.0))
    return r, a / scale - r * (b / (2.0 * b.sum()) + c / (2.0 * c.sum()))


def corpus_limit(
    h: FloatArray,
    counts: FloatArray,
    score: ScoreFunction,
    drawable: BoolArray,
    clusters: IntArray | None = None,
) -> tuple[float, FloatArray]:
    """Return r over infinitely many hybrids and each document's influence on it.

    A hybrid's counts lie close to the sum of the segments' mean counts, so its score is nearly
    linear in them, with slope g: the score of a cell is g . counts. Its r then has the closed form
    of a segment metric. The influence is the jackknife's, which takes a new slope each time.

    Parameters
    ----------
    h
        systems x segments, human differences from each segment's mean; zero where not drawable.
    counts
        systems x segments x k.
    clusters
        The document of each segment; by default each is one of its own.
    """
    clusters = np.arange(h.shape[1]) if clusters is None else clusters
    k = np.maximum(drawable.sum(axis=0), 1)
    kept = np.where(drawable[:, :, None], counts, 0.0)
    means = kept.sum(axis=0) / k[:, None]
    away = np.where(drawable[:, :, None], counts - means, 0.0)
    shared = np.einsum("sj,sjk->jk", h, away) / k[:, None]
    spread = np.einsum("sjk,sjl->jkl", away, away) / k[:, None, None]
    own = (h * h).sum(axis=0) / k
    total, every = means.sum(axis=0), (shared.sum(axis=0), spread.sum(axis=0), own.sum())
    whole = _r(slopes(score, total[None]), every[0][None], every[1][None], every[2][None])[0]
    means, shared, spread = (sum_by(x.T, clusters).T for x in (means, shared, spread))
    own = sum_by(own, clusters)
    informative = np.flatnonzero(sum_by(drawable.sum(axis=0) > 1, clusters))
    influence = np.zeros(len(own))
    n = len(informative)
    if np.isnan(whole) or n < 2:
        return float(whole), influence
    without = _r(
        slopes(score, total - means[informative]),
        every[0] - shared[informative],
        every[1] - spread[informative],
        every[2] - own[informative],
    )
    influence[informative] = (n - 1) / n * (without.mean() - without)
    return float(whole), influence


def slopes(score: ScoreFunction, sums: FloatArray) -> FloatArray:
    """Return the gradient of a score at summed counts (rows x k), by central differences."""
    steps = STEP * np.maximum(np.abs(sums), 1.0)
    columns = []
    for place in range(sums.shape[1]):
        moved = np.zeros(sums.shape)
        moved[:, place] = steps[:, place]
        columns.append((score(sums + moved) - score(sums - moved)) / (2.0 * steps[:, place]))
    return np.stack(columns, axis=1)


def _r(g: FloatArray, shared: FloatArray, spread: FloatArray, own: FloatArray) -> FloatArray:
    above = np.einsum("rk,rk->r", g, shared)
    below = own * np.einsum("rk,rkl,rl->r", g, spread, g)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = above / np.sqrt(np.where(below > 0.0, below, np.nan))
    return np.asarray(np.clip(r, -1.0, 1.0))
