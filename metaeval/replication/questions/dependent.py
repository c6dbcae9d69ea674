"""Correlations over (hybrid) systems that share the humans: Williams' test, Zou's interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray, differences_of
from metaeval.correlation.coefficients import pearson
from metaeval.correlation.intervals.concordance import FEWEST, accuracy_interval
from metaeval.correlation.intervals.jackknife import QUESTION
from metaeval.correlation.rows import pearson_table
from metaeval.correlation.values import correlate_metrics
from metaeval.messages import message
from metaeval.replication.questions.cells import N_PERMUTATIONS, permutation_test
from metaeval.replication.questions.comparison import (
    CONFIDENCE,
    Comparison,
    described,
    few_systems,
    interval_fields,
    no_intervals,
    notes_of,
)
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import JACKKNIFE, WILLIAMS, Question
from metaeval.replication.questions.values import (
    excluded_outputs,
    hybrid_values,
    system_matrix_intervals,
)
from metaeval.scores.matrix import ScoreMatrix
from metaeval.significance.comparison import compare_metrics
from metaeval.significance.dependent import williams_pvalues, zou_ends, zou_pvalues

CONSTANT = message(
    "no-interval.constant",
    "all systems have the same human score, or the same score by every metric",
)
HEAVY_TAILS = message(
    "test.heavy-tails",
    "Williams’ test assumes normally distributed system scores. With heavy tails over 10 to 20 "
    "systems, it finds a difference between two equally good metrics in {low:percent} to "
    "{high:percent} of one-sided tests at .05.",
    low=0.09,
    high=0.14,
)
JACKKNIFE_TEST = message(
    "test.jackknife", "one-sided t test of the difference, by the jackknife over systems"
)


def compare_hybrids(scored: Scored, question: Question) -> Comparison:
    """Compare Pearson's r over drawn hybrids: Fisher's interval, Zou's or Williams' test.

    All three count the hybrids as observations.
    """
    found, signs = scored.hybrids, scored.signs
    order = [found.metrics.index(key) for key in scored.metrics]
    between = signs[:, None] * signs * found.between[np.ix_(order, order)]
    intervals = [
        pearson(found.human_scores, sign * found.metric_scores[index]).interval
        for sign, index in zip(signs, order, strict=True)
    ]
    ends = np.array([interval[:2] if interval else (np.nan, np.nan) for interval in intervals])
    fields: dict[str, Any] = {
        "lows": ends[:, 0],
        "highs": ends[:, 1],
        "interval": message(
            "method.fisher-hybrids", "Fisher, n = {hybrids} hybrids", hybrids=found.n_hybrids
        ),
        "n_systems": len(found.systems),
        "n_segments": found.n,
        "n_informative": found.n_informative,
        "unit": "hybrids",
        "n_units": found.n_hybrids,
        "n_effective": float(found.n_hybrids),
    }
    draws = message(
        "hybrids.not-observations",
        "{hybrids} hybrid systems are not {hybrids} observations: this interval narrows as more "
        "are drawn, not with more data. On 4 systems × 100 segments, tests find a difference "
        "between two equally good metrics {share:percent} of the time.",
        hybrids=found.n_hybrids,
        share=0.8,
    )
    notes = {draws: None} | notes_of(found.warnings)
    values = hybrid_values(scored)
    tested = _tests(values, between, found.n_hybrids, question)
    return Comparison(values=values, n=scored.n, warnings=list(notes), **tested, **fields)


def compare_systems(scored: Scored, question: Question) -> Comparison:
    """Compare statistics of one score per system: corpus scores if a metric has them."""
    human, metrics = scored.of_systems()
    notes = excluded_outputs(scored)
    is_r = question.statistic.correlation == "pearson"
    if is_r:
        found = system_matrix_intervals(human, metrics)
        values, fields = found.values, interval_fields(found)
        notes |= notes_of(found.warnings)
        fields |= {"differences": found.differences, "pvalues": found.difference_pvalues}
    else:
        values = correlate_metrics(human, metrics, question.measure).correlations
        fields = _accuracy_ends(human.values[:, 0], metrics, values) | {"chance": 0.5}
    n = int((~np.isnan(human.values)).sum())
    fields |= {"n": n, "n_systems": n, "n_segments": scored.n_segments}
    fields |= {"unit": "systems", "n_units": n, "n_effective": float(n)}
    if question.test == JACKKNIFE:
        fields["test"] = JACKKNIFE_TEST
    elif question.test == WILLIAMS:
        rows = np.array([metric.values[:, 0] for metric in metrics.values()])
        tested = _tests(values, _between(rows, human.values[:, 0]), n, question)
        # The intervals remain the jackknife's: Zou's 95% interval covers 84% with heavy tails.
        fields |= {name: tested[name] for name in ("pvalues", "test")}
        notes[HEAVY_TAILS] = None
    else:
        permuted = compare_metrics(
            human, metrics, question.measure, n_resamples=N_PERMUTATIONS, rng=scored.seed
        )
        notes |= notes_of(permuted.warnings)
        fields |= {
            "differences": differences_of(values),
            "pvalues": permuted.pvalues,
            "test": permutation_test(permuted.method, permuted.n_resamples),
            "n_permutations": permuted.n_resamples,
        }
    return Comparison(values=values, warnings=list(notes), **fields)


def _accuracy_ends(
    ours: FloatArray, metrics: Mapping[str, ScoreMatrix], values: FloatArray
) -> dict[str, Any]:
    """Return intervals of pairwise accuracy over systems; differences have only p-values."""
    ends = [
        accuracy_interval(ours, each.values[:, 0], confidence=CONFIDENCE)
        for each in metrics.values()
    ]
    lows, highs = np.array([each[:2] for each in ends]).T
    if not np.isfinite(lows).any():
        n = int(np.isfinite(ours).sum())
        why = few_systems(n) if n < FEWEST else CONSTANT
        return no_intervals(values) | {"interval": None, "no_interval": why}
    method = message("method.score-or-jackknife", "score interval, or the jackknife’s if wider")
    return no_intervals(values) | {
        "interval": described(method, QUESTION),
        "lows": lows,
        "highs": highs,
        "about": QUESTION,
    }


def _between(rows: FloatArray, ours: FloatArray) -> FloatArray:
    """Pearson's r between metrics over the systems that the humans scored."""
    return pearson_table(rows[:, ~np.isnan(ours) & ~np.isnan(rows).any(axis=0)])


def _tests(
    values: FloatArray, between: FloatArray, size: int, question: Question
) -> dict[str, Any]:
    """Compare correlations that share the humans, each over `size` observations."""
    m = len(values)
    pvalues, lows, highs = (np.full((m, m), np.nan) for _ in range(3))
    is_defined = ~np.isnan(values[:, None] + values + between) & ~np.eye(m, dtype=np.bool_)
    i, j = np.nonzero(is_defined)
    rs = values[i], values[j], between[i, j]
    lows[i, j], highs[i, j] = zou_ends(*rs, size, confidence=CONFIDENCE)
    if question.test == WILLIAMS:
        pvalues[i, j] = williams_pvalues(*rs, size)
        test = message("test.williams", "one-sided Williams’ test, n = {size}", size=size)
    else:
        pvalues[i, j] = zou_pvalues(*rs, size)
        test = message("test.zou", "one-sided p by inverting Zou’s interval, n = {size}", size=size)
    return {
        "differences": differences_of(values),
        "difference_lows": lows,
        "difference_highs": highs,
        "pvalues": pvalues,
        "test": test,
    }
