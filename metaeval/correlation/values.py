"""The value of any measure, of one metric or of many on the same cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.coefficients import correlate, system_correlation
from metaeval.correlation.measure import SYSTEM_LEVEL, Measure
from metaeval.correlation.pairwise import acc_eq, kendall_like, pairwise_accuracy
from metaeval.correlation.panel import Panel, panel
from metaeval.correlation.soft_pairwise import soft_pairwise_accuracy, soft_pairwise_limit
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import Notes, Result, StatisticResult
from metaeval.scores.matrix import ScoreMatrix


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricCorrelations(Result):
    """Each metric's correlation, without any test; ``n`` counts cells in use."""

    metrics: tuple[str, ...]
    correlations: FloatArray
    method: str
    seed: int


def correlate_metrics(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    measure: Measure | str = "pearson",
    *,
    rng: Rng = None,
) -> MetricCorrelations:
    """Return the correlations that `compare_metrics` tests, for the price of the values alone.

    All metrics are compared on the cells that the humans and *every* metric have.

    Examples
    --------
    >>> human = ScoreMatrix([[1.0, 2.0, 3.0], [2.0, 4.0, 3.0]], "AB", "123")
    >>> same = correlate_metrics(human, {"itself": human}, "kendall")
    >>> same.correlations.tolist()
    [1.0]
    """
    measure, notes = Measure.of(measure), Notes()
    scores = panel(human, metrics, notes)
    seed = resolve_seed(rng)
    return MetricCorrelations(
        correlations=metric_values(measure, scores, seed, notes),
        n=scores.n,
        **notes.fields,
        metrics=scores.names,
        method=measure.label,
        seed=seed,
    )


def metric_values(measure: Measure, scores: Panel, seed: int, notes: Notes) -> FloatArray:
    """Return each metric's correlation; warnings of the parts are kept once."""
    results = [value_of(measure, scores, index, seed) for index in range(len(scores.names))]
    for result in results:
        notes.absorb(result)
    return np.array([result.statistic for result in results])


def value_of(measure: Measure, panel: Panel, index: int, seed: int = 0) -> StatisticResult:
    """Return the statistic of one metric, by the public function."""
    human, metric = panel.human_matrix, panel.matrix(index)
    name = measure.correlation
    if name == "kendall_like":
        return kendall_like(human, metric, threshold=measure.threshold, grouping=measure.grouping)
    if name == "acc_eq":
        return acc_eq(human, metric, grouping=measure.grouping, epsilon=measure.epsilon)
    if name == "pairwise_accuracy":
        return pairwise_accuracy(human, metric)
    if name == "soft_pairwise_accuracy":
        if measure.n_flips is None:
            return soft_pairwise_limit(
                panel.human, panel.metrics[index], panel.valid, panel.clusters
            )
        return soft_pairwise_accuracy(human, metric, n_resamples=measure.n_flips, rng=seed)
    if measure.grouping == SYSTEM_LEVEL:
        return system_correlation(human, metric, measure)
    return correlate(human, metric, measure, has_interval=False)
