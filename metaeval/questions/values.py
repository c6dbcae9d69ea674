"""The statistic of every metric alone: a small part of what its intervals and tests cost."""

from __future__ import annotations

import numpy as np

import metaeval
from metaeval.arrays import FloatArray
from metaeval.questions.base import notes_of
from metaeval.questions.scored import Scored
from metaeval.questions.statistics import WILLIAMS, Question

Notes = dict[str, None]


def values_of(scored: Scored, question: Question) -> tuple[FloatArray, Notes]:
    """Return the statistic of each of m metrics, (m,), as `answer` has it, and what to know.

    nan where it is undefined.
    """
    if not scored.metrics or not scored.n:
        return np.full(len(scored.metrics), np.nan), {}
    if question.statistic.key == "hybrids":
        return hybrid_values(scored), notes_of(scored.hybrids.warnings)
    if question.statistic.key == "limit":
        return limit_values(scored), {}
    if question.test == WILLIAMS:
        return system_values(scored), {}
    is_of_systems = question.statistic.is_of_systems
    human, metrics = scored.of_systems() if is_of_systems else scored.matrices()
    found = metaeval.correlate_metrics(human, metrics, rng=scored.seed, **question.options())
    return found.correlations, notes_of(found.warnings)


def hybrid_values(scored: Scored) -> FloatArray:
    """Pearson's r over the drawn hybrids."""
    found = scored.hybrids
    order = [found.metrics.index(key) for key in scored.metrics]
    return np.asarray(scored.signs * found.r[order])


def limit_values(scored: Scored) -> FloatArray:
    """What r over hybrids tends to; nan for a corpus metric, which has no such limit."""
    human, metrics = scored.matrices()
    plain = [index for index, key in enumerate(scored.metrics) if key not in scored.counts]
    values = np.full(len(metrics), np.nan)
    if plain:
        chosen = {scored.names[index]: metrics[scored.names[index]] for index in plain}
        values[plain] = metaeval.hybrid_limits(human, chosen)[0]
    return values


def system_values(scored: Scored) -> FloatArray:
    """Pearson's r of one score a system."""
    human, metrics = scored.of_systems()
    ours = human.values[:, 0]
    rows = (metric.values[:, 0] for metric in metrics.values())
    return np.array([metaeval.system_correlation(ours, row).statistic for row in rows])
