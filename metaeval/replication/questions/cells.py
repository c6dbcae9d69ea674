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
from metaeval.messages import Message, message
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
# With fewer than 40 permutations per pair of metrics, Bonferroni finds nothing at .05.
PERMUTATIONS_PER_PAIR = 41
# The product of permutations and pairs of metrics is at most this, which takes half a minute.
MOST_DIFFERENCES = 2**28
# Above this number of outputs resampling uses the smaller numbers.
MANY_CELLS = 3_000
# The same for pairs of outputs.
MANY_PAIRS = 500_000
# Mixtures of two metrics may tie, and then a permutation test of an order statistic compares all
# pairs of a group: with more members than this it takes hours.
WIDE_GROUP = 3_000
# By unit of the test.
LIMIT_TEST = {
    SEGMENTS: message("test.t-segments", "one-sided t test of the difference over segments"),
    DOCUMENTS: message("test.t-documents", "one-sided t test of the difference over documents"),
}
CLUSTERED_TEST = {
    SEGMENTS: message(
        "test.t-clustered-by-segment", "one-sided t test of the difference, clustered by segment"
    ),
    DOCUMENTS: message(
        "test.t-clustered-by-document", "one-sided t test of the difference, clustered by document"
    ),
}
# Measured by `benchmarks.metaeval.significance`: false positives, the lowest and the highest share.
CELLS_SWAP = {
    SEGMENTS: message(
        "test.swaps-outputs",
        "PERM-BOTH swaps every output separately, as if outputs of one segment were independent. "
        "If segments differ in difficulty, it finds a difference between two equally good metrics "
        "in {low:percent} to {high:percent} of one-sided tests at .05.",
        low=0.12,
        high=0.17,
    ),
    DOCUMENTS: message(
        "test.swaps-documents",
        "PERM-BOTH swaps each system’s outputs of a document separately, as if systems were "
        "independent of each other. If documents differ in difficulty, it finds a difference "
        "between two equally good metrics in {low:percent} to {high:percent} of one-sided tests at "
        ".05.",
        low=0.08,
        high=0.18,
    ),
}


def compare_cells(scored: Scored, question: Question) -> Comparison:
    """Return intervals over documents, and the requested test: t, or PERM-BOTH over cells."""
    values, notes = values_of(scored, question)
    if question.statistic.correlation == "soft_pairwise_accuracy":
        fields, pvalues = _soft_intervals(scored, notes), None
    else:
        found = _intervals(scored, question)
        fields, pvalues = interval_fields(found), found.difference_pvalues
        fields["n_informative"] = found.n_segments or None
        notes |= notes_of(found.warnings)
    fields |= {
        "values": values,
        "differences": differences_of(values),
        "n": scored.n,
        "n_segments": scored.n_segments,
        "chance": _chance(scored, question),
    }
    fields.setdefault("n_systems", scored.n_systems)
    if question.test == CLUSTERED and pvalues is not None:
        fields |= {"pvalues": pvalues, "test": CLUSTERED_TEST[fields["unit"]]}
    elif _is_wide(scored, question) and pvalues is not None:
        wide = message(
            "test.too-wide",
            "With {outputs} outputs, a permutation test of {statistic} would take hours. "
            "Differences are tested by t instead, clustered like the intervals.",
            outputs=scored.n,
            statistic=question.label,
        )
        notes[wide] = None
        fields |= {"pvalues": pvalues, "test": CLUSTERED_TEST[fields["unit"]]}
    else:
        fields |= _permuted(scored, question, notes)
    # A difference without a value has neither an interval nor a test.
    fields["pvalues"] = np.where(np.isnan(fields["differences"]), np.nan, fields["pvalues"])
    return Comparison(warnings=list(notes), **fields)


def _intervals(scored: Scored, question: Question) -> CorrelationIntervals:
    human, metrics = scored.matrices()
    if question.measure.grouping == SYSTEM_LEVEL:
        return system_matrix_intervals(human, metrics)
    return correlation_intervals(human, metrics, question.measure, confidence=CONFIDENCE)


def _soft_intervals(scored: Scored, notes: dict[Message, None]) -> dict[str, Any]:
    """Return intervals of soft pairwise accuracy; differences have only p-values."""
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


def _permuted(scored: Scored, question: Question, notes: dict[Message, None]) -> dict[str, Any]:
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
        "test": permutation_test(tested.method, tested.n_resamples),
        "n_permutations": tested.n_resamples,
    }


def permutation_test(method: Message, n_permutations: int) -> Message:
    """Return the description of a one-sided permutation test."""
    return message(
        "test.permutation",
        "one-sided {method}, {permutations} permutations",
        method=method,
        permutations=n_permutations,
    )


def _permutations(scored: Scored, question: Question) -> int:
    """Return the number of permutations: enough for Bonferroni over all pairs if it is cheap."""
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
    return max(fewest, min(PERMUTATIONS_PER_PAIR * pairs, most))


def _is_wide(scored: Scored, question: Question) -> bool:
    """Return whether a group of an order statistic has too many members for permutations."""
    if question.statistic.correlation not in ("kendall", "spearman"):
        return False
    members = {"none": scored.n, "system": len(scored.human.segments)}
    return members.get(question.grouping, 0) > WIDE_GROUP


def compare_linear(scored: Scored, found: CorrelationIntervals) -> Comparison:
    """Compare limits of hybrids, or correlations of differences, by t over documents."""
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
