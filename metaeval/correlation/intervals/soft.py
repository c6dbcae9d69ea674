"""Jackknife intervals of soft pairwise accuracy: each document is removed in turn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import expit, logit, ndtr, stdtrit

from metaeval.arrays import BoolArray, FloatArray, IntArray, fraction
from metaeval.correlation.intervals.clustered import CorrelationIntervals, without_intervals
from metaeval.correlation.intervals.crossed import QUESTIONS, SEGMENTS
from metaeval.correlation.panel import panel as panel_of
from metaeval.correlation.soft_pairwise import normal_pvalues, soft_pairwise_limit
from metaeval.documents import (
    DOCUMENTS,
    effective_clusters,
    has_enough_documents,
    sizes_of,
    sum_by,
    unit_of,
)
from metaeval.messages import message, plural
from metaeval.results import Notes, TooFewWarning
from metaeval.scores.matrix import ScoreMatrix

FEWEST = 20
# How many numbers (pairs of systems x documents) are in memory at a time.
NUMBERS = 4_000_000


def soft_pairwise_intervals(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], *, confidence: float = 0.95
) -> CorrelationIntervals:
    """Soft pairwise accuracy (limit of the sign flips) of each metric, with jackknife intervals.

    se(z)^2 = (n-1)/n sum (z_(k) - mean)^2 over z = logit of SPA without document k, or without
    segment k where no document has two, and expit(z +- t_{n-1} se), of what campaigns with as many
    new documents have on average: p-values and so SPA depend on their number. The jackknife's
    variance is too large rather than too small (Efron and Stein 1981). A bootstrap draws documents
    twice, which makes p-values smaller. Cells that one side lacks are excluded for all metrics.
    Differences have no intervals here.

    Warns
    -----
    TooFewWarning
        Fewer than 20 segments with two systems, or 6 documents: no interval. Fewer than 20
        documents: it is approximate.

    Examples
    --------
    >>> rng, names = np.random.default_rng(1), [str(k) for k in range(40)]
    >>> human = rng.normal(size=(3, 40))
    >>> sides = [ScoreMatrix(x, "ABC", names) for x in (human, human + rng.normal(size=(3, 40)))]
    >>> found = soft_pairwise_intervals(sides[0], {"metric": sides[1]})
    >>> [round(float(each[0]), 3) for each in (found.lows, found.values, found.highs)]
    [0.227, 0.686, 0.942]
    """
    fraction("confidence", confidence)
    notes = Notes()
    panel = panel_of(human, metrics, notes)
    values = np.array(
        [
            soft_pairwise_limit(panel.human, each, panel.valid, panel.clusters).statistic
            for each in panel.metrics
        ]
    )
    is_used = panel.valid.sum(axis=0) > 1
    n, found = int(is_used.sum()), without_intervals(values)
    clusters = panel.clusters[is_used]
    if n < FEWEST:
        notes.warn(
            TooFewWarning(
                plural(
                    "interval.few-soft-segments",
                    "Only {n} segment has outputs of two systems. An interval of soft pairwise "
                    "accuracy needs at least {fewest}.",
                    "Only {n} segments have outputs of two systems. An interval of soft pairwise "
                    "accuracy needs at least {fewest}.",
                    n=n,
                    fewest=FEWEST,
                )
            )
        )
    elif has_enough_documents(clusters, notes):
        sides = [panel.human, *panel.metrics]
        without = _without_each(np.array(sides)[:, :, is_used], panel.valid[:, is_used], clusters)
        ends = [_ends(value, row, confidence) for value, row in zip(values, without, strict=True)]
        found["lows"], found["highs"] = np.array(ends).T
    return CorrelationIntervals(
        n=int(panel.valid.sum()),
        **notes.fields,
        metrics=tuple(metrics),
        n_segments=n,
        n_systems=len(panel.valid),
        unit=unit_of(clusters),
        n_units=len(np.unique(clusters)),
        n_effective=effective_clusters(sizes_of(clusters)),
        method=(
            message(
                "method.jackknife-documents-logit",
                "jackknife over {n} documents and t, on the logit scale",
                n=len(np.unique(clusters)),
            )
            if unit_of(clusters) == DOCUMENTS
            else message(
                "method.jackknife-segments-logit",
                "jackknife over {n} segments and t, on the logit scale",
                n=len(np.unique(clusters)),
            )
        ),
        question=QUESTIONS[SEGMENTS, unit_of(clusters)],
        confidence=confidence,
        **found,
    )


def soft_chance(human: ScoreMatrix) -> float:
    """Return the expected value for a metric without information, whose p-values are uniform.

    The mean of 1 - |p - u| over u is 1/2 + p - p^2: .5 if the human p-values are all 0 or 1, up to
    .75 if they are all .5; nan if no two systems share a segment.
    """
    p = normal_pvalues(human.values[None], human.mask, human.clusters)[0]
    return float(np.nanmean(0.5 + p - p * p)) if np.isfinite(p).any() else np.nan


def _ends(value: float, without: FloatArray, confidence: float) -> tuple[float, float]:
    n = len(without)
    with np.errstate(invalid="ignore", divide="ignore"):
        z, left = logit(value), logit(without)
        se = np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    if not (np.isfinite(z) and np.isfinite(se)):
        return np.nan, np.nan
    half = stdtrit(n - 1, 0.5 + confidence / 2.0) * se
    return float(expit(z - half)), float(expit(z + half))


def _without_each(sides: FloatArray, valid: BoolArray, clusters: IntArray) -> FloatArray:
    """Return SPA of each metric without each document; the humans are the first of ``sides``.

    ``sides`` is (1 + m) x systems x segments, used where ``valid``; the result m x documents.
    """
    upper, lower = np.triu_indices(len(valid), 1)
    is_shared = valid[upper] & valid[lower]
    gaps = [sum_by(np.where(is_shared, each[upper] - each[lower], 0.0), clusters) for each in sides]
    shared = sum_by(is_shared, clusters) > 0
    step, n = max(1, NUMBERS // max(1, len(upper))), shared.shape[1]
    found = np.empty((len(sides) - 1, n))
    for start in range(0, n, step):
        part = slice(start, start + step)
        human, *others = (_pvalues(each, shared, part) for each in gaps)
        for row, pvalues in zip(found, others, strict=True):
            row[part] = 1.0 - np.nanmean(np.abs(human - pvalues), axis=0)
    return found


def _pvalues(gaps: FloatArray, shared: BoolArray, part: slice) -> FloatArray:
    """Return p of each pair without each document of a part; nan where no other is shared."""
    squares = gaps**2
    total = squares.sum(axis=1, keepdims=True)
    left = total - squares[:, part]
    is_same = left <= 1e-9 * total
    level = gaps.sum(axis=1, keepdims=True) - gaps[:, part]
    pvalues = np.where(is_same, 1.0, ndtr(-level / np.sqrt(np.where(is_same, 1.0, left))))
    return np.where(shared.sum(axis=1, keepdims=True) > shared[:, part], pvalues, np.nan)
