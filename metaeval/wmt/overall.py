"""The ranking over all tasks of a year: weighted averages, and the test of their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.wmt.running import SLACK, TaskResult, ranks_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """Metrics that all tasks have, by decreasing average, ties by name.

    Attributes
    ----------
    averages
        Weighted means of the tasks' values; correlations count as (value + 1) / 2.
    ranks
        Significance clusters of the averages; 1, 2, … in order without tests, 0 where the average
        is nan.
    mean_ranks
        Weighted means of the tasks' ranks; nan where the average is.
    pvalues
        metrics x metrics: above the diagonal, p that the row's average is larger.
    partial
        Metrics that some task lacks.
    """

    metrics: tuple[str, ...]
    averages: FloatArray
    ranks: IntArray
    mean_ranks: FloatArray
    pvalues: FloatArray
    partial: tuple[str, ...]


def rank_overall(results: Sequence[TaskResult]) -> Ranking:
    """Rank metrics by their weighted average over tasks, with mt-metrics-eval's test.

    For two metrics, the draws of each task, times its weight, are added over tasks; those of a
    test that stopped early are repeated up to the longest. p is the share of sums that reach the
    difference of the averages. The draws of tasks count as independent, although tasks of one
    language pair share their segments.
    """
    every = dict.fromkeys(name for result in results for name in result.metrics)
    shared = [name for name in every if all(name in result.places for result in results)]
    weights = [result.task.weight for result in results]
    averages = {
        name: sum(w * each.rescaled(name) for w, each in zip(weights, results, strict=True))
        for name in shared
    }
    names = tuple(sorted(shared, key=lambda name: (-np.nan_to_num(averages[name], nan=-1), name)))
    values = np.array([averages[name] for name in names])
    pvalues = np.full((len(names), len(names)), np.nan)
    has_tests = all(result.draws for result in results)
    for i, j in combinations(range(len(names)), 2) if has_tests else ():
        parts = [w * each.null(names[i], names[j])
                 for w, each in zip(weights, results, strict=True)]  # fmt: skip
        longest = max(map(len, parts))
        null = sum(np.resize(part, longest) for part in parts)
        pvalues[i, j] = float((null >= values[i] - values[j] - SLACK).mean())
    tested = np.where(np.isnan(pvalues), 1.0 if has_tests else 0.0, pvalues)
    mean_ranks = [
        np.nan
        if np.isnan(averages[name])
        else sum(
            w * each.ranks[each.places[name]] for w, each in zip(weights, results, strict=True)
        )
        for name in names
    ]
    return Ranking(
        metrics=names,
        averages=values,
        ranks=ranks_of(values, tested, names),
        mean_ranks=np.array(mean_ranks, dtype=np.float64),
        pvalues=pvalues,
        partial=tuple(name for name in every if name not in shared),
    )
