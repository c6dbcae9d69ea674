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
from metaeval.replication.questions.cells import N_PERMUTATIONS
from metaeval.replication.questions.comparison import (
    CONFIDENCE,
    Comparison,
    few_systems,
    interval_fields,
    no_interval,
    no_intervals,
    notes_of,
)
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import JACKKNIFE, WILLIAMS, ZOU, Question
from metaeval.replication.questions.values import hybrid_values, left_out, system_matrix_intervals
from metaeval.scores.matrix import ScoreMatrix
from metaeval.significance.comparison import compare_metrics
from metaeval.significance.dependent import williams_pvalues, zou_ends, zou_pvalues

DRAWS = (
    "{n:,} hybrids are not {n:,} observations: this interval narrows with the number drawn, not "
    "with data; two equally good metrics on 4 systems × 100 segments are declared different 80 % "
    "of the time."
)

CONSTANT = "the humans or every metric give all systems one score"
HEAVY_TAILS = (
    "Williams’ test takes the systems’ scores for normal: with heavy tails over 10 to 20 systems "
    "it calls two equally good metrics different in 9 to 14 of 100 one-sided tests at .05."
)
JACKKNIFE_TEST = "one-sided t test of the difference, by the jackknife over systems"


def compare_hybrids(scored: Scored, question: Question) -> Comparison:
    """Pearson's r over hybrids with Fisher's interval, and Zou or Williams with n = hybrids."""
    found, signs = scored.hybrids, scored.signs
    order = [found.metrics.index(key) for key in scored.metrics]
    between = signs[:, None] * signs * found.between[np.ix_(order, order)]
    intervals = [
        pearson(found.human_scores, sign * found.metric_scores[index]).interval
        for sign, index in zip(signs, order, strict=True)
    ]
    ends = np.array([interval[:2] if interval else (np.nan, np.nan) for interval in intervals])
    told: dict[str, Any] = {
        "lows": ends[:, 0],
        "highs": ends[:, 1],
        "interval": f"Fisher, n = {found.n_hybrids:,} hybrids",
        "n_systems": len(found.systems),
        "n_segments": found.n,
        "n_informative": found.n_informative,
        "unit": "hybrids",
        "n_units": found.n_hybrids,
        "n_effective": float(found.n_hybrids),
    }
    notes = {DRAWS.format(n=found.n_hybrids): None} | notes_of(found.warnings)
    values = hybrid_values(scored)
    tested = _tests(values, between, found.n_hybrids, question)
    return Comparison(values=values, n=scored.n, warnings=list(notes), **tested, **told)


def compare_systems(scored: Scored, question: Question) -> Comparison:
    """Statistics of one score a system: corpus scores where a metric has them."""
    human, metrics = scored.of_systems()
    notes = left_out(scored)
    is_r = question.statistic.correlation == "pearson"
    if is_r:
        found = system_matrix_intervals(human, metrics)
        values, told = found.values, interval_fields(found)
        notes |= notes_of(found.warnings)
        told |= {"differences": found.differences, "pvalues": found.difference_pvalues}
    else:
        values = correlate_metrics(human, metrics, question.measure).correlations
        told = _accuracy_ends(human.values[:, 0], metrics, values) | {"chance": 0.5}
    n = int((~np.isnan(human.values)).sum())
    told |= {"n": n, "n_systems": n, "n_segments": scored.n_segments}
    told |= {"unit": "systems", "n_units": n, "n_effective": float(n)}
    if question.test == JACKKNIFE:
        told["test"] = JACKKNIFE_TEST
    elif question.test == WILLIAMS:
        rows = np.array([metric.values[:, 0] for metric in metrics.values()])
        tested = _tests(values, _between(rows, human.values[:, 0]), n, question)
        # The jackknife's intervals stay: Zou's cover 84 % with heavy tails.
        told |= {name: tested[name] for name in ("pvalues", "test")}
        notes[HEAVY_TAILS] = None
    else:
        permuted = compare_metrics(
            human, metrics, question.measure, n_resamples=N_PERMUTATIONS, rng=scored.seed
        )
        notes |= notes_of(permuted.warnings)
        told |= {
            "differences": differences_of(values),
            "pvalues": permuted.pvalues,
            "test": f"one-sided {permuted.method}, {permuted.n_resamples:,} permutations",
            "n_permutations": permuted.n_resamples,
        }
    return Comparison(values=values, warnings=list(notes), **told)


def _accuracy_ends(
    ours: FloatArray, metrics: Mapping[str, ScoreMatrix], values: FloatArray
) -> dict[str, Any]:
    """Intervals of pairwise accuracy over systems; differences have p-values alone."""
    ends = [
        accuracy_interval(ours, each.values[:, 0], confidence=CONFIDENCE)
        for each in metrics.values()
    ]
    lows, highs = np.array([each[:2] for each in ends]).T
    if not np.isfinite(lows).any():
        n = int(np.isfinite(ours).sum())
        return no_intervals(values, no_interval(few_systems(n) if n < FEWEST else CONSTANT))
    told = no_intervals(values, f"score interval, jackknifed where wider ({QUESTION})")
    return told | {"lows": lows, "highs": highs, "about": QUESTION}


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
    is_williams = question.test == WILLIAMS
    pvalues[i, j] = williams_pvalues(*rs, size) if is_williams else zou_pvalues(*rs, size)
    names = {
        WILLIAMS: "one-sided Williams' test, n = {n}",
        ZOU: "one-sided p by inverting Zou's interval, n = {n}",
    }
    return {
        "differences": differences_of(values),
        "difference_lows": lows,
        "difference_highs": highs,
        "pvalues": pvalues,
        "test": names[question.test].format(n=f"{size:,}"),
    }
