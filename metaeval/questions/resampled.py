"""Statistics over cells: bootstrap and permutations of systems x segments, and hybrids' limit."""

from __future__ import annotations

from typing import Any

import numpy as np

import metaeval
from metaeval.questions.base import (
    CONFIDENCE,
    FEW_SYSTEMS,
    N_RESAMPLES,
    Comparison,
    by_standard_error,
    difference_intervals,
    notes_of,
    samples_of,
)
from metaeval.questions.scored import Scored
from metaeval.questions.statistics import Question
from metaeval.questions.values import limit_values, values_of

N_PERMUTATIONS, N_PERMUTATIONS_SLOW = 4_000, 1_000
# At .05 Bonferroni finds nothing with fewer than 20 permutations a pair of metrics.
PERMUTATIONS_A_PAIR = 25
# Above so many outputs resampling takes the smaller numbers.
MANY_CELLS, N_RESAMPLES_SLOW = 3_000, 200
# Mixtures of two metrics may tie, and then a permutation test of an order statistic compares all
# pairs of a group: with more members than this it takes hours.
WIDE_GROUP = 1_500


def compare_resampled(scored: Scored, question: Question) -> Comparison:
    """Bootstrap and PERM-BOTH over cells (Deutsch et al. 2021)."""
    human, metrics = scored.matrices()
    options = question.options()
    is_wide = _is_wide(scored, question)
    is_slow = scored.n > MANY_CELLS
    n = N_RESAMPLES_SLOW if is_slow else N_RESAMPLES
    resample = "both" if len(scored.human.systems) >= FEW_SYSTEMS else "inputs"
    samples, lows, highs, notes = samples_of(
        human, metrics, n_resamples=n, rng=scored.seed, resample=resample, **options
    )
    what = "systems and segments" if resample == "both" else "segments"
    told: dict[str, Any] = {
        "lows": lows,
        "highs": highs,
        "n": scored.n,
        "interval": f"percentile bootstrap over {what}, {n:,} samples",
    }
    if is_wide:
        values, _ = values_of(scored, question)
        notes[
            f"With {scored.n:,} outputs a permutation test of {question.label} would take hours: "
            "differences are tested by the standard error of their bootstrap."
        ] = None
        return by_standard_error(values, samples, told, notes)
    tested = metaeval.compare_metrics(
        human,
        metrics,
        n_resamples=_permutations(len(metrics), question, is_slow=is_slow),
        rng=scored.seed,
        **options,
    )
    notes |= notes_of(tested.warnings)
    return Comparison(
        values=tested.correlations,
        differences=tested.differences,
        pvalues=tested.pvalues,
        test=f"one-sided {tested.method}, {tested.n_resamples:,} permutations",
        n_permutations=tested.n_resamples,
        warnings=list(notes),
        **difference_intervals(samples),
        **told,
    )


def _permutations(n_metrics: int, question: Question, *, is_slow: bool) -> int:
    """How many permutations: enough for Bonferroni over all pairs where they are cheap."""
    if is_slow:
        is_dear = question.statistic.correlation == "acc_eq"
        return N_PERMUTATIONS_SLOW if is_dear else N_PERMUTATIONS
    n_pairs = n_metrics * (n_metrics - 1) // 2
    return max(N_PERMUTATIONS, PERMUTATIONS_A_PAIR * n_pairs)


def _is_wide(scored: Scored, question: Question) -> bool:
    """Whether a group of an order statistic has too many members for permutations."""
    if question.statistic.correlation not in ("kendall", "spearman"):
        return False
    members = {"none": scored.n, "system": len(scored.human.segments)}
    return members.get(question.grouping, 0) > WIDE_GROUP


def compare_limits(scored: Scored) -> Comparison:
    """The limit of infinitely many hybrids, with segments drawn with replacement.

    A corpus metric has no such limit: nan.
    """
    human, metrics = scored.matrices()
    values, size = limit_values(scored), human.shape[1]
    where = [index for index, key in enumerate(scored.metrics) if key not in scored.counts]
    plain = {scored.names[index]: metrics[scored.names[index]] for index in where}
    samples = np.full((len(metrics), N_RESAMPLES), np.nan)
    draws = np.random.default_rng(scored.seed).integers(size, size=(N_RESAMPLES, size))
    counts = np.array([np.bincount(draw, minlength=size) for draw in draws], dtype=np.float64)
    if plain:
        samples[where] = metaeval.hybrid_limits(human, plain, counts).T
    tail = (1.0 - CONFIDENCE) / 2.0
    lows, highs = np.quantile(samples, [tail, 1.0 - tail], axis=1)
    told = {
        "lows": lows,
        "highs": highs,
        "n": scored.n,
        "interval": f"percentile bootstrap over segments, {N_RESAMPLES:,} samples",
    }
    return by_standard_error(values, samples, told, {})
