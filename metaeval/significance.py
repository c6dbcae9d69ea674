"""Permutation tests between metrics."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, one_of, positive_int
from metaeval.correlations import Scores
from metaeval.measures import Measure
from metaeval.panels import Panel, panel
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import (
    ConstantInputWarning,
    IdenticalInputWarning,
    Notes,
    StatisticResult,
    UndefinedGroupWarning,
)
from metaeval.swaps import Swaps

ALTERNATIVES = ("greater", "less", "two-sided")
# Differences closer than this are equal: only rounding (single precision for SPA) parts them.
SLACK = {"soft_pairwise_accuracy": 1e-6}


@dataclass(frozen=True, kw_only=True, eq=False)
class PermutationTest(StatisticResult):
    """A permutation test; ``statistic`` = ``first`` - ``second``, the two correlations.

    ``n`` counts the cells in use, ``swap`` names the scheme. ``null`` holds the permuted
    differences.
    """

    first: float
    second: float
    swap: str
    null: FloatArray


def perm_test(
    human: Scores,
    first: Scores,
    second: Scores,
    *,
    correlation: str = "pearson",
    grouping: str | None = None,
    swap: str | None = None,
    alternative: str = "greater",
    n_resamples: int = 1000,
    rng: Rng = None,
    variant: str = "b",
    threshold: float = 25.0,
    epsilon: float | None = None,
    n_flips: int | None = None,
) -> PermutationTest:
    """Permutation test of the difference between two metrics' correlations with humans.

    Both metrics are standardised over all cells, then exchange their scores at random;
    p = (#{difference* >= difference} + 1) / (n_resamples + 1) (Deutsch et al. 2021, TACL).

    Parameters
    ----------
    human, first, second
        `ScoreMatrix` (matched by names), or three vectors.
    correlation, grouping, variant, threshold, epsilon, n_flips
        As for `Measure`: ``pearson``, ``spearman``, ``kendall``, ``kendall_like``, ``acc_eq``,
        ``pairwise_accuracy``, ``soft_pairwise_accuracy``; grouping ``none``, ``item``, ``system``
        or ``system-level``.
    swap
        ``both`` (default): every cell on its own, PERM-BOTH as published. ``xor``: a cell swaps
        if its row or its column does but not both, as nlpstats computes PERM-BOTH. ``inputs``,
        ``systems``: whole columns, whole rows. ``pairs`` (default for acc_eq): outcomes of pairs
        of outputs, each metric with its own fixed threshold, as in the WMT metrics task; any
        other scheme calibrates anew in every permutation.
    alternative
        ``greater`` (default): first is better; ``less``; ``two-sided``.

    Warns
    -----
    IdenticalInputWarning, ConstantInputWarning
        p is 1, or nan.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=200)
    >>> good, poor = human + rng.normal(size=200), human + 3 * rng.normal(size=200)
    >>> result = perm_test(human, good, poor, n_resamples=999, rng=1)
    >>> round(result.statistic, 3), result.pvalue
    (0.302, 0.001)
    """
    one_of("alternative", alternative, ALTERNATIVES)
    positive_int("n_resamples", n_resamples)
    measure = Measure(correlation, grouping, variant, threshold, epsilon, n_flips)
    notes = Notes()
    scores = panel(human, {"first": first, "second": second}, notes)
    seed, used = resolve_seed(rng), swap or measure.default_swap()
    values = metric_values(measure, scores, seed, notes)
    deltas = permuted_differences(scores, measure, used, n_resamples, seed, [(0, 1)])[0]
    pvalue = permutation_pvalue(deltas, alternative, correlation)
    _note(scores, deltas, notes)
    return PermutationTest(
        n=scores.n,
        reasons=notes.reasons,
        warnings=notes.warnings,
        statistic=float(values[0] - values[1]),
        method=f"permutation test ({measure.label}, {used})",
        pvalue=pvalue,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        first=float(values[0]),
        second=float(values[1]),
        swap=used,
        null=deltas[1:],
    )


def metric_values(measure: Measure, scores: Panel, seed: int, notes: Notes) -> FloatArray:
    """Return each metric's correlation; warnings of the parts are kept once."""
    results = [measure.value(scores, index, seed) for index in range(len(scores.names))]
    for result in results:
        notes.absorb(result)
    return np.array([result.statistic for result in results])


def permuted_differences(
    scores: Panel,
    measure: Measure,
    swap: str,
    n_resamples: int,
    seed: int,
    pairs: list[tuple[int, int]],
    workers: int = 1,
) -> FloatArray:
    """Return pairs x (1 + n_resamples): the observed difference, then the permuted ones."""
    test, shape = measure.test(scores, swap, seed)
    with ThreadPoolExecutor(workers) as pool:
        run = map if workers == 1 else pool.map
        forms = list(run(lambda pair: test.linear(*pair), pairs))
        linear = [index for index, form in enumerate(forms) if form is not None]
        others = [index for index, form in enumerate(forms) if form is None]
        matrix = np.array([np.ravel(forms[index]) for index in linear]).T  # type: ignore[arg-type]
        deltas = np.full((len(pairs), n_resamples + 1), np.nan)
        start = 0
        for masks in Swaps(seed, n_resamples, shape, swap).chunks():
            chunk, stop = test.chunk(masks), start + len(masks)
            if linear:
                deltas[linear, start:stop] = (chunk.flat @ matrix).T
            parts = run(lambda index, c=chunk: test.differences(*pairs[index], c), others)  # type: ignore[misc]
            for index, part in zip(others, parts, strict=True):
                deltas[index, start:stop] = part
            start = stop
    return deltas


def permutation_pvalue(deltas: FloatArray, alternative: str, correlation: str) -> float:
    """Return (k + 1) / (n + 1); an undefined permutation counts as reaching the difference."""
    observed, null = deltas[0], deltas[1:]
    if np.isnan(observed):
        return np.nan
    slack = SLACK.get(correlation, 1e-10)
    if alternative == "two-sided":
        missed = np.abs(null) < abs(observed) - slack
    else:
        sign = 1.0 if alternative == "greater" else -1.0
        missed = sign * null < sign * observed - slack
    return float((len(null) - int(missed.sum()) + 1) / (len(null) + 1))


def _note(scores: Panel, deltas: FloatArray, notes: Notes) -> None:
    if np.isnan(deltas[0]):
        notes.warn(ConstantInputWarning("A correlation is undefined: so is the test."))
        return
    undefined = int(np.isnan(deltas[1:]).sum())
    if undefined:
        notes.warn(
            UndefinedGroupWarning(
                f"{undefined} permutations have an undefined correlation; they count as "
                "reaching the observed difference."
            )
        )
    if np.array_equal(scores.metrics[0], scores.metrics[1], equal_nan=True):
        notes.warn(IdenticalInputWarning("The two metrics are identical: no difference to test."))
