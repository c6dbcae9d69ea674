"""Correlations over (hybrid) systems that share the humans: Williams' test, Zou's interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import metaeval
from metaeval.arrays import FloatArray
from metaeval.questions.base import (
    CONFIDENCE,
    FEW_SYSTEMS,
    N_RESAMPLES,
    Comparison,
    difference_intervals,
    differences_of,
    notes_of,
    samples_of,
)
from metaeval.questions.resampled import N_PERMUTATIONS
from metaeval.questions.scored import Scored
from metaeval.questions.statistics import WILLIAMS, ZOU, Question
from metaeval.questions.values import hybrid_values, system_values


def compare_hybrids(scored: Scored, question: Question) -> Comparison:
    """Pearson's r over hybrids with Fisher's interval, and Zou or Williams with n = hybrids."""
    found, signs = scored.hybrids, scored.signs
    order = [found.metrics.index(key) for key in scored.metrics]
    between = signs[:, None] * signs * found.between[np.ix_(order, order)]
    intervals = [
        metaeval.pearson(found.human_scores, sign * found.metric_scores[index]).interval
        for sign, index in zip(signs, order, strict=True)
    ]
    ends = np.array([interval[:2] if interval else (np.nan, np.nan) for interval in intervals])
    return _dependent(
        hybrid_values(scored),
        ends,
        between,
        found.n_hybrids,
        question,
        n=scored.n,
        interval=f"Fisher, n = {found.n_hybrids:,} hybrids",
        warnings=list(notes_of(found.warnings)),
    )


def compare_systems(scored: Scored, question: Question) -> Comparison:
    """Statistics of one score a system: corpus scores where a metric has them."""
    human, metrics = scored.of_systems()
    options = question.options()
    samples, lows, highs, notes = samples_of(
        human, metrics, n_resamples=N_RESAMPLES, rng=scored.seed, resample="systems", **options
    )
    interval = f"percentile bootstrap over systems, {N_RESAMPLES:,} samples"
    n = int((~np.isnan(human.values)).sum())
    if n < FEW_SYSTEMS:
        notes[f"{n} systems: a correlation over so few says next to nothing."] = None
    if question.test == WILLIAMS:
        rows = np.array([metric.values[:, 0] for metric in metrics.values()])
        ours = human.values[:, 0]
        return _dependent(
            system_values(scored),
            np.array([lows, highs]).T,
            _between(rows, ours),
            n,
            question,
            n=n,
            interval=interval,
            warnings=list(notes),
            intervals=difference_intervals(samples),
        )
    tested = metaeval.compare_metrics(
        human, metrics, n_resamples=N_PERMUTATIONS, rng=scored.seed, **options
    )
    return Comparison(
        values=tested.correlations,
        lows=lows,
        highs=highs,
        differences=tested.differences,
        pvalues=tested.pvalues,
        n=n,
        interval=interval,
        test=f"one-sided {tested.method}, {tested.n_resamples:,} permutations",
        n_permutations=tested.n_resamples,
        warnings=list(notes | notes_of(tested.warnings)),
        **difference_intervals(samples),
    )


def _between(rows: FloatArray, ours: FloatArray) -> FloatArray:
    """Pearson's r between metrics over the systems that the humans scored."""
    known = ~np.isnan(ours) & ~np.isnan(rows).any(axis=0)
    centred = rows[:, known] - rows[:, known].mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = centred / norms[:, None]
    return np.asarray(np.clip(unit @ unit.T, -1.0, 1.0))


def _dependent(
    values: FloatArray,
    ends: FloatArray,
    between: FloatArray,
    size: int,
    question: Question,
    *,
    n: int,
    interval: str,
    warnings: Sequence[str],
    intervals: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare correlations that share the humans, each over `size` observations."""
    m = len(values)
    pvalues, lows, highs = (np.full((m, m), np.nan) for _ in range(3))
    for i in range(m):
        for j in range(m):
            rs = (values[i], values[j], between[i, j])
            if i == j or np.isnan(rs).any():
                continue
            lows[i, j], highs[i, j] = _zou_ends(*rs, size)
            pvalues[i, j] = (
                _williams(*rs, size) if question.test == WILLIAMS else zou_pvalue(*rs, size)
            )
    names = {WILLIAMS: "one-sided Williams' test", ZOU: "one-sided p by inverting Zou's interval"}
    found: dict[str, Any] = {"difference_lows": lows, "difference_highs": highs} | dict(
        intervals or {}
    )
    return Comparison(
        values=values,
        lows=ends[:, 0],
        highs=ends[:, 1],
        differences=differences_of(values),
        pvalues=pvalues,
        n=n,
        interval=interval,
        test=f"{names[question.test]}, n = {size:,}",
        warnings=warnings,
        **found,
    )


def _williams(r12: float, r13: float, r23: float, n: int) -> float:
    if n <= 3:
        return float("nan")
    pvalue = metaeval.williams_test(r12, r13, r23, n).pvalue
    return float("nan") if pvalue is None else pvalue


def _zou_ends(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    interval = metaeval.zou_interval(r12, r13, r23, n, confidence=CONFIDENCE).interval
    return interval[:2] if interval else (float("nan"), float("nan"))


def zou_pvalue(r12: float, r13: float, r23: float, n: int) -> float:
    """The one-sided p at which Zou's interval of r12 - r13 begins at 0, by bisection."""
    if r12 < r13:
        return 1.0 - zou_pvalue(r13, r12, r23, n)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        interval = metaeval.zou_interval(r12, r13, r23, n, confidence=middle).interval
        if interval is None or np.isnan(interval.low):
            return float("nan")
        low, high = (middle, high) if interval.low > 0.0 else (low, middle)
    return (1.0 - low) / 2.0
