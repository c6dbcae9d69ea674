"""Every metric against every other, and the rank clusters that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import (
    FloatArray,
    IntArray,
    as_floats,
    differences_of,
    fraction,
    of_shape,
    one_length,
    one_of,
    positive_int,
)
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import panel
from metaeval.correlation.values import metric_values
from metaeval.documents import unit_of
from metaeval.messages import Message, message
from metaeval.resampling import ALTERNATIVES, Rng, resolve_seed
from metaeval.results import IdenticalInputWarning, Notes, Result
from metaeval.scores.matrix import ScoreMatrix
from metaeval.significance.corrections import AdjustedPvalues, adjust_table
from metaeval.significance.permutation.tests import (
    default_swap,
    judged_clusters,
    permutation_method,
    permuted_pvalues,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricComparison(Result):
    """Permutation tests between all metrics; matrices are metrics x metrics.

    ``differences`` and ``pvalues`` compare the row with the column; the diagonal is nan. With
    ``alternative`` greater a small p means that the row is better. ``n`` counts cells in use.
    ``unit`` (``documents`` or ``segments``) is always swapped as a whole; ``n_units`` counts them.
    """

    metrics: tuple[str, ...]
    correlations: FloatArray
    differences: FloatArray
    pvalues: FloatArray
    method: Message
    alternative: str
    n_resamples: int
    seed: int
    unit: str
    n_units: int

    def adjusted(
        self, method: str = "holm", *, scope: str = "table", alpha: float = 0.05
    ) -> AdjustedPvalues:
        """Correct for many tests (`adjust_table`)."""
        return adjust_table(
            self.pvalues, method=method, scope=scope, alpha=alpha, n_resamples=self.n_resamples
        )

    def ranks(self, alpha: float = 0.05) -> RankClusters:
        """Return the rank clusters of the metrics (`rank_clusters`)."""
        return rank_clusters(self.correlations, self.pvalues, names=self.metrics, alpha=alpha)


def compare_metrics(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    measure: Measure | str = "pearson",
    *,
    swap: str | None = None,
    alternative: str = "greater",
    n_resamples: int = 1000,
    rng: Rng = None,
) -> MetricComparison:
    """Test the difference between every two metrics at once, with one set of permutations.

    All metrics are compared on the cells that the humans and *every* metric have. The mask of
    swaps is the same for all pairs. If no mixture of two metrics can tie, all their tests together
    are one matrix product (``docs/statistics.md``). Permutations are counted one slice at a time,
    so hundreds of metrics need no more memory than a few.

    Parameters
    ----------
    human, metrics
        Scores, matched by names of systems and segments.

    Other parameters are those of `perm_test`, and so are the units that swap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> human = ScoreMatrix(rng.normal(size=(4, 50)), "ABCD", map(str, range(50)))
    >>> noisy = {f"m{k}": human.with_values(human.values + k * rng.normal(size=(4, 50)))
    ...          for k in (1, 2, 9)}
    >>> result = compare_metrics(human, noisy, "kendall", n_resamples=999, rng=1)
    >>> bool(result.pvalues[0, 2] < 0.01), result.ranks().ranks.tolist()
    (True, [1, 2, 3])
    """
    one_of("alternative", alternative, ALTERNATIVES)
    positive_int("n_resamples", n_resamples)
    measure, notes = Measure.of(measure), Notes()
    scores = panel(human, metrics, notes)
    seed, used = resolve_seed(rng), swap or default_swap(measure)
    values = metric_values(measure, scores, seed, notes)
    pairs = list(combinations(range(len(values)), 2))
    pvalues = np.full((len(values), len(values)), np.nan)
    if pairs:
        first, second = np.array(pairs).T
        pvalues[first, second], pvalues[second, first] = permuted_pvalues(
            scores, measure, used, n_resamples, seed, pairs, alternative
        )
    for a, b in _identical(scores.metrics):
        notes.warn(
            IdenticalInputWarning(
                message(
                    "comparison.identical",
                    "{first} and {second} have identical scores, so there is no difference to "
                    "test.",
                    first=scores.names[a],
                    second=scores.names[b],
                )
            )
        )
    units = judged_clusters(scores, notes)
    return MetricComparison(
        n=scores.n,
        **notes.fields,
        metrics=scores.names,
        correlations=values,
        differences=differences_of(values),
        pvalues=pvalues,
        method=permutation_method(measure, used, units),
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        unit=unit_of(units),
        n_units=len(np.unique(units)),
    )


def _identical(metrics: FloatArray) -> list[tuple[int, int]]:
    """Return the pairs of metrics that have the same scores."""
    same: dict[bytes, list[int]] = {}
    for index, metric in enumerate(metrics):
        same.setdefault((metric + 0.0).tobytes(), []).append(index)
    return sorted(pair for group in same.values() for pair in combinations(group, 2))


@dataclass(frozen=True, kw_only=True, eq=False)
class RankClusters(Result):
    """Ranks of metrics or systems, in the order of the input; equal ranks form a cluster."""

    names: tuple[str, ...]
    ranks: IntArray
    order: tuple[str, ...]
    alpha: float


def rank_clusters(
    statistics: ArrayLike,
    pvalues: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
) -> RankClusters:
    """Rank metrics as in the WMT metrics task.

    In order of decreasing statistic (ties by name), a metric starts a new rank if some metric of
    the *current* cluster beats it with p <= alpha (Freitag et al. 2022). Earlier clusters are not
    consulted, so a metric can share a rank with one that a third separates from it. No
    correction for many tests is made; pass adjusted p-values for one.

    Parameters
    ----------
    statistics
        One per metric, higher is better; nan ranks last.
    pvalues
        metrics x metrics: small where the row is better than the column.

    Examples
    --------
    >>> p = [[1, 0.2, 0.01], [0.9, 1, 0.2], [0.99, 0.9, 1]]
    >>> rank_clusters([0.9, 0.8, 0.7], p).ranks.tolist()
    [1, 1, 2]
    """
    fraction("alpha", alpha)
    values = as_floats("statistics", statistics, ndim=1)
    table = as_floats("pvalues", pvalues, ndim=2)
    labels = tuple(names) if names is not None else tuple(str(k) for k in range(len(values)))
    of_shape("pvalues", table, (len(values), len(values)))
    one_length(statistics=values, names=labels)
    order = sorted(range(len(values)), key=lambda k: (-_last(float(values[k])), labels[k]))
    ranks = np.zeros(len(values), dtype=np.int64)
    rank, cluster = 1, list[int]()
    for position in order:
        if any(table[better, position] <= alpha for better in cluster):
            rank, cluster = rank + 1, []
        cluster.append(position)
        ranks[position] = rank
    return RankClusters(
        n=len(values),
        names=labels,
        ranks=ranks,
        order=tuple(labels[k] for k in order),
        alpha=alpha,
    )


def _last(value: float) -> float:
    return -np.inf if np.isnan(value) else value
