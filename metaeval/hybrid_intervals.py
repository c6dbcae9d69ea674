"""Intervals for the limit of infinitely many hybrid systems, also of corpus metrics."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, fraction
from metaeval.clustered import CorrelationIntervals, Side, t_fields, without_intervals
from metaeval.corpus import CorpusStatistics
from metaeval.corpus_limits import corpus_limit
from metaeval.correlation_intervals import QUESTIONS, SEGMENTS, is_enough
from metaeval.hybrid_limits import within
from metaeval.hybrids import drawable_cells
from metaeval.results import ApproximationWarning, ConstantInputWarning, Notes
from metaeval.scores import ScoreMatrix

# From so many segments on the interval covers what it says even where segments differ in spread.
ENOUGH = 100


def hybrid_limit_intervals(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    *,
    statistics: Mapping[str, CorpusStatistics] | None = None,
    confidence: float = 0.95,
) -> CorrelationIntervals:
    """Correlate metrics with humans over infinitely many hybrids; intervals over segments.

    r = A/sqrt(B C) with A the sum over segments of A_j = sum_s h'm'/k and B, C likewise of h'^2
    and m'^2; a segment's influence is A_j/sqrt(B C) - r (B_j/2B + C_j/2C), and the interval
    is t with N - 1 degrees of freedom on the z scale. Only the N segments of two or more drawable
    systems carry information. Unlike Zou's interval over drawn hybrids it does not narrow with
    their number.

    Parameters
    ----------
    human, metrics, statistics
        As for `hybrid_supersample`. A corpus metric counts as the line through its score at the
        mean counts (`corpus_limits`), with the jackknife over segments.

    Warns
    -----
    TooFewWarning
        Fewer than 20 segments that carry information: no interval.
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
    h = within(human.values[None], drawable)[0]
    found = [_limit(h, within(values[None], drawable)[0], drawable) for values in matrices.values()]
    found += [
        corpus_limit(h, counts[name], corpus.score, drawable) for name, corpus in statistics.items()
    ]
    values, parts = np.array([r for r, _ in found]), np.array([part for _, part in found])
    names = (*matrices, *statistics)
    if np.isnan(values).any():
        flat = ", ".join(np.array(names)[np.isnan(values)].tolist())
        notes.warn(ConstantInputWarning(f"Undefined, for want of differing systems: {flat}."))
    n = int((drawable.sum(axis=0) > 1).sum())
    size = np.full(len(values), float(n))
    is_shown = is_enough(n, 0, SEGMENTS, notes)
    if is_shown and n < ENOUGH:
        notes.warn(
            ApproximationWarning(
                f"{n} segments have two or more systems: below {ENOUGH} intervals over hybrids may "
                "be too narrow."
            )
        )
    sides = [Side(parts, size)]
    return CorrelationIntervals(
        n=int(drawable.sum()),
        reasons=notes.reasons,
        warnings=notes.warnings,
        metrics=names,
        n_segments=n,
        n_systems=int(drawable.any(axis=1).sum()),
        method=f"delta method and t over {n:,} segments",
        question=QUESTIONS[SEGMENTS],
        confidence=confidence,
        **(
            t_fields(values, sides, confidence=confidence)
            if is_shown
            else without_intervals(values)
        ),
    )


def _limit(h: FloatArray, m: FloatArray, drawable: BoolArray) -> tuple[float, FloatArray]:
    """Return r and each segment's influence on it."""
    k = np.maximum(drawable.sum(axis=0), 1)
    a, b, c = ((x * y).sum(axis=0) / k for x, y in ((h, m), (h, h), (m, m)))
    if not (b.sum() > 0.0 and c.sum() > 0.0):
        return np.nan, np.zeros(len(k))
    scale = np.sqrt(b.sum() * c.sum())
    r = float(np.clip(a.sum() / scale, -1.0, 1.0))
    return r, a / scale - r * (b / (2.0 * b.sum()) + c / (2.0 * c.sum()))
