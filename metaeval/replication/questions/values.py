"""Values of a statistic without intervals and tests, which take most of the time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.jackknife import system_intervals
from metaeval.correlation.panel import ONE_SIDE_CONSTANT, constant
from metaeval.correlation.values import correlate_metrics
from metaeval.messages import Message, plural
from metaeval.replication.questions.comparison import answerable, can_answer, notes_of, wide
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.scores.corpus import system_scores
from metaeval.scores.matrix import ScoreMatrix

# Messages for the reader, each once.
Messages = dict[Message, None]


def values_of(scored: Scored, question: Question) -> tuple[FloatArray, Messages]:
    """Return the statistic of each of m metrics, (m,), as in `answer`, and warnings.

    Undefined values are nan.
    """
    if not can_answer(scored, question):
        return np.full(len(scored.metrics), np.nan), {}
    part, notes = answerable(scored, question)
    values, warnings = _values_of(part, question)
    if part is scored:
        return values, warnings
    places = [place for place, key in enumerate(scored.metrics) if key in part.metrics]
    return wide(values, places, len(scored.metrics)), warnings | notes


def _values_of(scored: Scored, question: Question) -> tuple[FloatArray, Messages]:
    if question.statistic.key == "hybrids":
        return hybrid_values(scored), notes_of(scored.hybrids.warnings)
    if question.statistic.key == "limit":
        return scored.limits.values, notes_of(scored.limits.warnings)
    if question.statistic.key == "pdp":
        return scored.differences.values, notes_of(scored.differences.warnings)
    if question.statistic.key == "systems":
        return system_values(scored), excluded_outputs(scored)
    is_of_systems = question.statistic.is_of_systems
    human, metrics = scored.of_systems() if is_of_systems else scored.matrices()
    found = correlate_metrics(human, metrics, question.measure, rng=scored.seed)
    notes = notes_of(found.warnings)
    if ONE_SIDE_CONSTANT in notes:
        del notes[ONE_SIDE_CONSTANT]
        named = zip(found.metrics, found.correlations, strict=True)
        notes |= {constant(name): None for name, value in named if np.isnan(value)}
    return found.correlations, notes


def excluded_outputs(scored: Scored) -> Messages:
    """Return how many judged outputs scores of systems exclude; empty if none."""
    n = int(scored.system_cells.sum())
    lost = int(scored.human.mask.sum()) - n
    if not lost or scored.human_systems is not None:
        return {}
    excluded = plural(
        "systems.excluded-outputs",
        "Scores of systems are based on the {used} outputs that annotators and all metrics scored. "
        "{n} more judged output is excluded.",
        "Scores of systems are based on the {used} outputs that annotators and all metrics scored. "
        "{n} more judged outputs are excluded.",
        used=n,
        n=lost,
    )
    return {excluded: None}


def hybrid_values(scored: Scored) -> FloatArray:
    """Return Pearson's r over the drawn hybrids."""
    found = scored.hybrids
    order = [found.metrics.index(key) for key in scored.metrics]
    return np.asarray(scored.signs * found.r[order])


def system_values(scored: Scored) -> FloatArray:
    """Return Pearson's r of one score per system."""
    return system_matrix_intervals(*scored.of_systems()).values


def system_matrix_intervals(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix]
) -> CorrelationIntervals:
    """Return Pearson's r of system means over the human cells, with jackknife intervals."""
    cells = human.mask
    theirs = {name: system_scores(m.values, cells) for name, m in metrics.items()}
    return system_intervals(system_scores(human.values, cells), theirs)
