"""Tests between two metrics that are equally good."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.metaeval.covered import worlds
from benchmarks.metaeval.covered.case import (
    REJECTS,
    Case,
    Size,
    count_of,
    pair_of,
    rejects,
    seed_of,
)
from benchmarks.metaeval.covered.correlations import rounded, system_scores
from metaeval.correlation import Measure
from metaeval.correlation.intervals import system_intervals
from metaeval.significance import perm_test, williams_test

N_RESAMPLES = 199


def permutation(
    correlation: str, grouping: str | None, swap: str | None, rng: np.random.Generator, size: Size
) -> float:
    """Same systems for `inputs` and `both`; other systems on these segments for `systems`."""
    is_new = swap == "systems"
    values = worlds.scores(rng, *pair_of(size), n=2, is_fixed=not is_new, is_same_text=is_new)
    human, metrics = worlds.matrices(rounded(values, correlation))
    measure = Measure(correlation, grouping)
    result = perm_test(
        human, *metrics.values(), measure, swap=swap, n_resamples=N_RESAMPLES, rng=seed_of(rng)
    )
    return rejects(result.pvalue)


def williams(data: str, rng: np.random.Generator, size: Size) -> float:
    values = system_scores(rng, data, count_of(size), n=2)
    r = np.corrcoef(values)
    return rejects(williams_test(r[0, 1], r[0, 2], r[1, 2], values.shape[1]).pvalue)


def jackknife(data: str, rng: np.random.Generator, size: Size) -> float:
    human, first, second = system_scores(rng, data, count_of(size), n=2)
    found = system_intervals(human, {"m0": first, "m1": second})
    return rejects(float(found.difference_pvalues[0, 1]))


def constant(rng: np.random.Generator, size: Size) -> float:
    """Against a metric that gives all outputs one score: nothing to test."""
    human, metrics = worlds.matrices(rounded(worlds.scores(rng, *pair_of(size)), "acc_eq"))
    flat = human.with_values(np.ones(human.shape))
    result = perm_test(human, metrics["m0"], flat, "acc_eq", n_resamples=99, rng=seed_of(rng))
    return rejects(result.pvalue)


SMALL, LARGER = ((4, 20), (5, 100)), ((4, 20), (5, 50), (12, 50))
CAREFUL = "too careful where the systems stay the same"
EQUAL = "two equally good metrics"
CELLS = "swaps outputs as if those of a segment were independent: not the default of a page"
CASES = (
    *(
        Case(f"permutation, {name}, swap {swap}", EQUAL,
             partial(permutation, name, "none", swap), LARGER, REJECTS, 0.5, note)
        for name in ("pearson", "kendall")
        for swap, note in (("both", CELLS), ("inputs", ""))
    ),
    Case("permutation, pearson, swap systems", EQUAL + "; new systems, these segments",
         partial(permutation, "pearson", "none", "systems"), ((6, 50), (12, 50)), REJECTS, 0.5),
    Case("permutation, kendall by item", EQUAL, partial(permutation, "kendall", "item", "both"),
         LARGER, REJECTS, 0.5, CAREFUL),
    Case("permutation, acc-eq, pairs", EQUAL, partial(permutation, "acc_eq", None, "pairs"),
         SMALL, REJECTS, 0.5),
    Case("permutation, SPA", EQUAL,
         partial(permutation, "soft_pairwise_accuracy", None, "both"), LARGER, REJECTS, 0.5,
         CAREFUL),
    Case("permutation, pairwise accuracy", EQUAL,
         partial(permutation, "pairwise_accuracy", None, "both"), LARGER, REJECTS, 0.5,
         "few values are possible: too careful"),
    Case("permutation, r of system means", EQUAL,
         partial(permutation, "pearson", "system-level", "both"), LARGER, REJECTS, 0.5, CAREFUL),
    Case("permutation, acc-eq", "against a constant metric", constant, ((5, 50),), REJECTS, 0.1),
    Case("Williams over systems", EQUAL, partial(williams, "normal"), (4, 6, 10, 20), REJECTS,
         note="four systems: too careful"),
    Case("Williams over systems", EQUAL + "; t₃ tails", partial(williams, "t3"), (4, 6, 10, 20),
         REJECTS, note="it assumes normal scores: not the default of a page"),
    Case("jackknife over systems", EQUAL, partial(jackknife, "normal"), (4, 6, 10, 20), REJECTS),
    Case("jackknife over systems", EQUAL + "; t₃ tails", partial(jackknife, "t3"),
         (4, 6, 10, 20), REJECTS),
)  # fmt: skip
