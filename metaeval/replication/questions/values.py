"""The statistic of every metric alone: a small part of what its intervals and tests cost."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.jackknife import system_intervals
from metaeval.correlation.values import correlate_metrics
from metaeval.replication.questions.comparison import answerable, can_answer, notes_of, wide
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.scores.corpus import system_scores
from metaeval.scores.matrix import ScoreMatrix

# Sentences for the reader, each once.
Said = dict[str, None]


def values_of(scored: Scored, question: Question) -> tuple[FloatArray, Said]:
    """Return the statistic of each of m metrics, (m,), as `answer` has it, and what to know.

    nan where it is undefined.
    """
    if not can_answer(scored, question):
        return np.full(len(scored.metrics), np.nan), {}
    part, notes = answerable(scored, question)
    values, told = _values_of(part, question)
    if part is scored:
        return values, told
    places = [place for place, key in enumerate(scored.metrics) if key in part.metrics]
    return wide(values, places, len(scored.metrics)), told | notes


def _values_of(scored: Scored, question: Question) -> tuple[FloatArray, Said]:
    if question.statistic.key == "hybrids":
        return hybrid_values(scored), notes_of(scored.hybrids.warnings)
    if question.statistic.key == "limit":
        return scored.limits.values, notes_of(scored.limits.warnings)
    if question.statistic.key == "systems":
        return system_values(scored), left_out(scored)
    is_of_systems = question.statistic.is_of_systems
    human, metrics = scored.of_systems() if is_of_systems else scored.matrices()
    found = correlate_metrics(human, metrics, question.measure, rng=scored.seed)
    return found.correlations, notes_of(found.warnings)


def left_out(scored: Scored) -> Said:
    """Say on how many outputs scores of systems rest, where that is not all that were judged."""
    n = int(scored.system_cells.sum())
    lost = int(scored.human.mask.sum()) - n
    if not lost or scored.human_systems is not None:
        return {}
    return {
        f"Scores of systems rest on the {n:,} outputs that the humans and all metrics "
        f"scored, on both sides; {lost:,} more were judged.": None
    }


def hybrid_values(scored: Scored) -> FloatArray:
    """Pearson's r over the drawn hybrids."""
    found = scored.hybrids
    order = [found.metrics.index(key) for key in scored.metrics]
    return np.asarray(scored.signs * found.r[order])


def system_values(scored: Scored) -> FloatArray:
    """Pearson's r of one score a system."""
    return system_matrix_intervals(*scored.of_systems()).values


def system_matrix_intervals(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix]
) -> CorrelationIntervals:
    """Pearson's r of system means, of matrices on the same cells; the jackknife's intervals."""
    cells = human.mask
    theirs = {name: system_scores(m.values, cells) for name, m in metrics.items()}
    return system_intervals(system_scores(human.values, cells), theirs)
