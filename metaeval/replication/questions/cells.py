"""Statistics over cells: t over documents, permutations of systems x segments, hybrids' limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from metaeval.arrays import differences_of
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.crossed import correlation_intervals
from metaeval.correlation.intervals.soft import soft_chance, soft_pairwise_intervals
from metaeval.correlation.measure import SYSTEM_LEVEL
from metaeval.correlation.panel import grouped
from metaeval.correlation.ties import uninformed_accuracy
from metaeval.documents import DOCUMENTS, SEGMENTS
from metaeval.replication.questions.comparison import (
    CONFIDENCE,
    Comparison,
    interval_fields,
    notes_of,
)
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import CLUSTERED, Question
from metaeval.replication.questions.values import system_matrix_intervals, values_of
from metaeval.significance.comparison import compare_metrics

N_PERMUTATIONS, N_PERMUTATIONS_SLOW = 4_000, 1_000
# At .05 Bonferroni finds nothing with fewer than 40 permutations a pair of metrics.
PERMUTATIONS_A_PAIR = 41
# But all pairs of metrics and their permutations are together no more than these, half a minute.
MOST_DIFFERENCES = 2**28
# Above so many outputs resampling takes the smaller numbers.
MANY_CELLS = 3_000
# The same of pairs of outputs.
MANY_PAIRS = 500_000
# Mixtures of two metrics may tie, and then a permutation test of an order statistic compares all
# pairs of a group: with more members than this it takes hours.
WIDE_GROUP = 3_000
# By unit of the test.
LIMIT_TEST = {
    SEGMENTS: "one-sided t test of the difference over segments",
    DOCUMENTS: "one-sided t test of the difference over documents",
}
CLUSTERED_TEST = {
    SEGMENTS: "one-sided t test of the difference, clustered by segment",
    DOCUMENTS: "one-sided t test of the difference, clustered by document",
}
CELLS_SWAP = {
    SEGMENTS: (
        "PERM-BOTH swaps every output on its own, as if those of one segment were independent: "
        "where segments differ in difficulty it calls two equally good metrics different in 12 to "
        "17 of 100 one-sided tests at .05."
    ),
    DOCUMENTS: (
        "PERM-BOTH swaps each system’s outputs of a document on their own, as if the systems were "
        "independent of each other: where documents differ in difficulty it calls two equally "
        "good metrics different in 8 to 18 of 100 one-sided tests at .05."
    ),
}


def compare_cells(scored: Scored, question: Question) -> Comparison:
    """Intervals over documents, and the test that is asked for: t, or PERM-BOTH over cells."""
    values, notes = values_of(scored, question)
    if question.statistic.correlation == "soft_pairwise_accuracy":
        told, pvalues = _soft_intervals(scored, notes), None
    else:
        found = _intervals(scored, question)
        told, pvalues = interval_fields(found), found.difference_pvalues
        told["n_informative"] = found.n_segments or None
        notes |= notes_of(found.warnings)
    told |= {
        "values": values,
        "differences": differences_of(values),
        "n": scored.n,
        "n_segments": scored.n_segments,
        "chance": _chance(scored, question),
    }
    told.setdefault("n_systems", scored.n_systems)
    if question.test == CLUSTERED and pvalues is not None:
        told |= {"pvalues": pvalues, "test": CLUSTERED_TEST[told["unit"]]}
    elif _is_wide(scored, question) and pvalues is not None:
        notes[
            f"With {scored.n:,} outputs a permutation test of {question.label} would take hours: "
            "differences are tested by t, clustered like the intervals."
        ] = None
        told |= {"pvalues": pvalues, "test": CLUSTERED_TEST[told["unit"]]}
    else:
        told |= _permuted(scored, question, notes)
    # What has no value has neither an interval nor a test.
    told["pvalues"] = np.where(np.isnan(told["differences"]), np.nan, told["pvalues"])
    return Comparison(warnings=list(notes), **told)


def _intervals(scored: Scored, question: Question) -> CorrelationIntervals:
    human, metrics = scored.matrices()
    if question.measure.grouping == SYSTEM_LEVEL:
        return system_matrix_intervals(human, metrics)
    return correlation_intervals(human, metrics, question.measure, confidence=CONFIDENCE)


def _soft_intervals(scored: Scored, notes: dict[str, None]) -> dict[str, Any]:
    """Intervals of soft pairwise accuracy; differences have p-values alone, none against zero."""
    found = soft_pairwise_intervals(*scored.matrices(), confidence=CONFIDENCE)
    notes |= notes_of(found.warnings)
    return interval_fields(found) | {"zero_pvalues": None, "n_informative": found.n_segments}


def _chance(scored: Scored, question: Question) -> float:
    if question.statistic.correlation == "soft_pairwise_accuracy":
        return soft_chance(scored.matrices()[0])
    if question.statistic.correlation != "acc_eq":
        return 0.0
    human = scored.matrices()[0]
    return uninformed_accuracy(grouped(human.values, human.mask, question.grouping))


def _permuted(scored: Scored, question: Question, notes: dict[str, None]) -> dict[str, Any]:
    human, metrics = scored.matrices()
    tested = compare_metrics(
        human,
        metrics,
        question.measure,
        n_resamples=_permutations(scored, question),
        rng=scored.seed,
    )
    notes |= notes_of(tested.warnings)
    if CLUSTERED in question.statistic.tests and question.statistic.correlation != "acc_eq":
        notes[CELLS_SWAP[tested.unit]] = None
    return {
        "pvalues": tested.pvalues,
        "test": f"one-sided {tested.method}, {tested.n_resamples:,} permutations",
        "n_permutations": tested.n_resamples,
    }


def _permutations(scored: Scored, question: Question) -> int:
    """How many permutations: enough for Bonferroni over all pairs where they are cheap."""
    n_metrics, n_systems = len(scored.metrics), scored.n_systems
    pairs, system_pairs = (n * (n - 1) // 2 for n in (n_metrics, n_systems))
    correlation = question.statistic.correlation
    if correlation == "acc_eq" and system_pairs * scored.n_segments > MANY_PAIRS:
        return N_PERMUTATIONS_SLOW
    if scored.n > MANY_CELLS:
        return N_PERMUTATIONS
    is_soft = correlation == "soft_pairwise_accuracy"
    most = MOST_DIFFERENCES // max(pairs * (system_pairs if is_soft else 1), 1)
    fewest = N_PERMUTATIONS_SLOW if is_soft and most < N_PERMUTATIONS else N_PERMUTATIONS
    return max(fewest, min(PERMUTATIONS_A_PAIR * pairs, most))


def _is_wide(scored: Scored, question: Question) -> bool:
    """Whether a group of an order statistic has too many members for permutations."""
    if question.statistic.correlation not in ("kendall", "spearman"):
        return False
    members = {"none": scored.n, "system": len(scored.human.segments)}
    return members.get(question.grouping, 0) > WIDE_GROUP


def compare_limits(scored: Scored) -> Comparison:
    """The limit of infinitely many hybrids, by the delta method over documents."""
    found = scored.limits
    return Comparison(
        values=found.values,
        differences=found.differences,
        pvalues=found.difference_pvalues,
        n=scored.n,
        n_segments=scored.n_segments,
        n_informative=found.n_segments,
        test=LIMIT_TEST[found.unit],
        warnings=list(notes_of(found.warnings)),
        **interval_fields(found),
    )
