"""Every metric against every other, and the rank clusters that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, fraction, one_of, positive_int
from metaeval.measures import Measure
from metaeval.multiplicity import AdjustedPvalues, adjust_pvalues
from metaeval.panels import panel
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import IdenticalInputWarning, Notes, Result
from metaeval.scores import ScoreMatrix
from metaeval.significance import (
    ALTERNATIVES,
    metric_values,
    permutation_pvalue,
    permuted_differences,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricComparison(Result):
    """Permutation tests between all metrics; matrices are metrics x metrics.

    ``differences`` and ``pvalues`` compare the row with the column; the diagonal is nan. With
    ``alternative`` greater a small p says that the row is better. ``n`` counts cells in use.
    """

    metrics: tuple[str, ...]
    correlations: FloatArray
    differences: FloatArray
    pvalues: FloatArray
    method: str
    alternative: str
    n_resamples: int
    seed: int

    def adjusted(
        self, method: str = "holm", *, scope: str = "table", alpha: float = 0.05
    ) -> AdjustedPvalues:
        """Correct for many tests.

        ``table``: one family of all pairs of metrics, each with the smaller of its two p-values,
        the other nan. ``row``: one family per row, as when a paper asks which metrics one of
        them beats.
        """
        one_of("scope", scope, ("table", "row"))
        table = self.pvalues.copy()
        if scope == "table":
            second = (table > table.T) | ((table == table.T) & _below(len(table)))
            table[second] = np.nan
            return adjust_pvalues(table, method=method, alpha=alpha, n_resamples=self.n_resamples)
        rows = [
            adjust_pvalues(row, method=method, alpha=alpha, n_resamples=self.n_resamples)
            for row in table
        ]
        return AdjustedPvalues(
            n=sum(row.n for row in rows),
            reasons={"undefined test": sum(row.n_excluded for row in rows)},
            warnings=rows[0].warnings if rows else (),
            pvalues=np.array([row.pvalues for row in rows]),
            is_significant=np.array([row.is_significant for row in rows]),
            method=method,
            alpha=alpha,
        )

    def ranks(self, alpha: float = 0.05) -> RankClusters:
        """Return the rank clusters of the metrics (`rank_clusters`)."""
        return rank_clusters(self.correlations, self.pvalues, names=self.metrics, alpha=alpha)


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
    *,
    correlation: str = "pearson",
    grouping: str | None = None,
    rng: Rng = None,
    variant: str = "b",
    threshold: float = 25.0,
    epsilon: float | None = None,
    n_flips: int | None = None,
) -> MetricCorrelations:
    """Return the correlations that `compare_metrics` tests, for the price of the values alone.

    All metrics are compared on the cells that the humans and *every* metric have. The parameters
    are those of `perm_test`.

    Examples
    --------
    >>> human = ScoreMatrix([[1.0, 2.0, 3.0], [2.0, 4.0, 3.0]], "AB", "123")
    >>> same = correlate_metrics(human, {"itself": human}, correlation="kendall")
    >>> same.correlations.tolist()
    [1.0]
    """
    measure = Measure(correlation, grouping, variant, threshold, epsilon, n_flips)
    notes = Notes()
    scores = panel(human, metrics, notes)
    seed = resolve_seed(rng)
    return MetricCorrelations(
        correlations=metric_values(measure, scores, seed, notes),
        n=scores.n,
        reasons=notes.reasons,
        warnings=notes.warnings,
        metrics=scores.names,
        method=measure.label,
        seed=seed,
    )


def compare_metrics(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    *,
    correlation: str = "pearson",
    grouping: str | None = None,
    swap: str | None = None,
    alternative: str = "greater",
    n_resamples: int = 1000,
    rng: Rng = None,
    workers: int = 1,
    variant: str = "b",
    threshold: float = 25.0,
    epsilon: float | None = None,
    n_flips: int | None = None,
) -> MetricComparison:
    """Test the difference between every two metrics at once, with one set of permutations.

    All metrics are compared on the cells that the humans and *every* metric have. The mask of
    swaps is the same for all pairs; where no mixture of two metrics can tie, all their tests
    together are one matrix product (``docs/statistics.md``).

    Parameters
    ----------
    human, metrics
        Scores, matched by names of systems and segments.
    workers
        Threads over pairs of metrics; the result does not depend on it.

    Other parameters are those of `perm_test`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> human = ScoreMatrix(rng.normal(size=(4, 50)), "ABCD", map(str, range(50)))
    >>> noisy = {f"m{k}": human.with_values(human.values + k * rng.normal(size=(4, 50)))
    ...          for k in (1, 2, 9)}
    >>> result = compare_metrics(human, noisy, correlation="kendall", n_resamples=999, rng=1)
    >>> bool(result.pvalues[0, 2] < 0.01), result.ranks().ranks.tolist()
    (True, [1, 2, 3])
    """
    one_of("alternative", alternative, ALTERNATIVES)
    positive_int("n_resamples", n_resamples)
    positive_int("workers", workers)
    measure = Measure(correlation, grouping, variant, threshold, epsilon, n_flips)
    notes = Notes()
    scores = panel(human, metrics, notes)
    seed, used = resolve_seed(rng), swap or measure.default_swap()
    values = metric_values(measure, scores, seed, notes)
    pairs = list(combinations(range(len(values)), 2))
    deltas = permuted_differences(scores, measure, used, n_resamples, seed, pairs, workers)
    pvalues = np.full((len(values), len(values)), np.nan)
    for (first, second), row in zip(pairs, deltas, strict=True):
        pvalues[first, second] = permutation_pvalue(row, alternative, correlation)
        pvalues[second, first] = permutation_pvalue(-row, alternative, correlation)
        if np.array_equal(scores.metrics[first], scores.metrics[second], equal_nan=True):
            both = f"{scores.names[first]} and {scores.names[second]}"
            notes.warn(IdenticalInputWarning(f"{both} are identical: no difference to test."))
    differences = values[:, None] - values[None, :]
    np.fill_diagonal(differences, np.nan)
    return MetricComparison(
        n=scores.n,
        reasons=notes.reasons,
        warnings=notes.warnings,
        metrics=scores.names,
        correlations=values,
        differences=differences,
        pvalues=pvalues,
        method=f"permutation test ({measure.label}, {used})",
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
    )


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
    if table.shape != (len(values), len(values)) or len(labels) != len(values):
        raise ValueError(
            f"pvalues: expected {len(values)} x {len(values)} and as many names, "
            f"got {table.shape} and {len(labels)}"
        )
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


def _below(size: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.tri(size, k=-1, dtype=np.bool_)
