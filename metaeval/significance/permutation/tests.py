"""Permutation tests between metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from metaeval.arrays import FloatArray, IntArray, one_of, positive_int
from metaeval.correlation.coefficients import Scores
from metaeval.correlation.measure import SYSTEM_LEVEL, Measure
from metaeval.correlation.panel import Panel, panel
from metaeval.correlation.soft_pairwise import sign_flips
from metaeval.correlation.values import metric_values
from metaeval.documents import DOCUMENTS, has_enough_documents, unit_of
from metaeval.messages import Message, data_error, message, plural
from metaeval.resampling import ALTERNATIVES, Rng, falls_short, resampled_pvalue, resolve_seed
from metaeval.results import (
    ConstantInputWarning,
    IdenticalInputWarning,
    Notes,
    StatisticResult,
    UndefinedGroupWarning,
)
from metaeval.significance.permutation.correlations import OrderTest, PearsonTest
from metaeval.significance.permutation.masks import SWAPPED, SWAPS, Swaps
from metaeval.significance.permutation.pairs import (
    AccEqPairsTest,
    AccEqTest,
    KendallLikeTest,
    SystemLevelTest,
)
from metaeval.significance.permutation.soft_pairwise import SoftPairwiseTest

# Closer differences are equal up to rounding errors (single precision for SPA).
SLACK = {"soft_pairwise_accuracy": 1e-6}


@dataclass(frozen=True, kw_only=True, eq=False)
class PermutationTest(StatisticResult):
    """A permutation test; ``statistic`` = ``first`` - ``second``, the two correlations.

    ``n`` counts the cells in use, ``swap`` names the scheme. ``null`` holds the permuted
    differences. ``unit`` (``documents`` or ``segments``) always swaps as a whole; ``n_units``
    counts them.
    """

    first: float
    second: float
    swap: str
    null: FloatArray
    unit: str
    n_units: int


def perm_test(
    human: Scores,
    first: Scores,
    second: Scores,
    measure: Measure | str = "pearson",
    *,
    swap: str | None = None,
    alternative: str = "greater",
    n_resamples: int = 1000,
    rng: Rng = None,
) -> PermutationTest:
    """Permutation test of the difference between two metrics' correlations with humans.

    Both metrics are standardised over all cells, then exchange their scores at random;
    p = (#{difference* >= difference} + 1) / (n_resamples + 1) (Deutsch et al. 2021, TACL).

    Segments of one document depend on each other, so a system's outputs of a document swap
    together. Only ``inputs`` also swaps the outputs of different systems together, which depend on
    each other if documents or segments differ in difficulty.

    Parameters
    ----------
    human, first, second
        `ScoreMatrix` (matched by names), or three vectors.
    measure
        Any `Measure`, or the name of one: ``Measure("kendall", "item")``, ``"acc_eq"``.
    swap
        ``both`` (default): every system's outputs of a document separately; PERM-BOTH as
        published if documents are single segments. ``xor``: a cell swaps if its row or its
        document does but not both, as nlpstats computes PERM-BOTH. ``inputs``: whole documents.
        ``systems``: whole rows. ``pairs`` (default for acc_eq): outcomes of pairs of outputs, each
        metric with its own fixed threshold, as in the WMT metrics task; the pairs that two systems
        have in a document (or one system between two documents) swap together. Any other scheme
        calibrates anew in every permutation.
    alternative
        ``greater`` (default): first is better; ``less``; ``two-sided``.

    Warns
    -----
    IdenticalInputWarning, ConstantInputWarning
        p is 1, or nan.
    TooFewWarning
        Fewer than 20 documents: p is approximate.

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
    measure, notes = Measure.of(measure), Notes()
    scores = panel(human, {"first": first, "second": second}, notes)
    seed, used = resolve_seed(rng), swap or default_swap(measure)
    values = metric_values(measure, scores, seed, notes)
    deltas = permuted_differences(scores, measure, used, n_resamples, seed, [(0, 1)])[0]
    pvalue = permutation_pvalue(deltas, alternative, measure)
    _note(scores, deltas, notes)
    units = judged_clusters(scores, notes)
    return PermutationTest(
        n=scores.n,
        **notes.fields,
        statistic=float(values[0] - values[1]),
        method=permutation_method(measure, used, units),
        pvalue=pvalue,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        first=float(values[0]),
        second=float(values[1]),
        swap=used,
        null=deltas[1:],
        unit=unit_of(units),
        n_units=len(np.unique(units)),
    )


def judged_clusters(scores: Panel, notes: Notes) -> IntArray:
    """Return the documents of the segments in use; warn if they are few."""
    clusters: IntArray = scores.clusters[scores.valid.any(axis=0)]
    has_enough_documents(clusters, notes)
    return clusters


def permutation_method(measure: Measure, swap: str, clusters: IntArray) -> Message:
    """Return the description of a test, with the number of documents if these swap as wholes."""
    if unit_of(clusters) == DOCUMENTS:
        return message(
            "method.permutation-documents",
            "permutation test ({measure}, {swap}, {documents} documents)",
            measure=measure.described,
            swap=SWAPPED[swap],
            documents=len(np.unique(clusters)),
        )
    return message(
        "method.permutation",
        "permutation test ({measure}, {swap})",
        measure=measure.described,
        swap=SWAPPED[swap],
    )


def permuted_differences(
    scores: Panel,
    measure: Measure,
    swap: str,
    n_resamples: int,
    seed: int,
    pairs: Sequence[tuple[int, int]],
) -> FloatArray:
    """Return pairs x (1 + n_resamples): the observed difference, then the permuted ones."""
    deltas = np.full((len(pairs), n_resamples + 1), np.nan)
    filled = np.zeros(len(pairs), dtype=np.int64)
    for some, part in _permuted(scores, measure, swap, n_resamples, seed, pairs):
        start, size = filled[some.start], part.shape[1]
        deltas[some, start : start + size] = part
        filled[some] += size
    return deltas


def permuted_pvalues(
    scores: Panel,
    measure: Measure,
    swap: str,
    n_resamples: int,
    seed: int,
    pairs: Sequence[tuple[int, int]],
    alternative: str,
) -> tuple[FloatArray, FloatArray]:
    """Return p of each pair of metrics, and p of the same pair in reverse, (pairs,) each.

    The values are those of `permutation_pvalue`, but only a slice of the permuted differences is in
    memory at a time, so memory grows neither with the pairs nor with the permutations.
    """
    slack = _slack(measure)
    observed = np.full(len(pairs), np.nan)
    is_new = np.ones(len(pairs), dtype=np.bool_)
    missed = np.zeros((2, len(pairs)), dtype=np.int64)
    screen = slack, alternative == "two-sided"
    for some, part in _permuted(scores, measure, swap, n_resamples, seed, pairs, screen):
        if is_new[some.start]:
            observed[some], is_new[some], part = part[:, 0], False, part[:, 1:]
        for row, sign in enumerate((1.0, -1.0)):
            null, level = sign * part.T, sign * observed[some]
            missed[row, some] += falls_short(null, level, alternative, slack).sum(axis=0)
    found = (n_resamples - missed + 1) / (n_resamples + 1)
    return tuple(np.where(np.isnan(observed), np.nan, found))


def _permuted(
    scores: Panel,
    measure: Measure,
    swap: str,
    n_resamples: int,
    seed: int,
    pairs: Sequence[tuple[int, int]],
    screen: tuple[float, bool] | None = None,
) -> Iterator[tuple[slice, FloatArray]]:
    test, shape, clusters = permuted_test(measure, scores, swap, seed)
    if isinstance(test, OrderTest) or (isinstance(test, SoftPairwiseTest) and swap == "both"):
        test.screen = screen
    return test.permuted(pairs, Swaps(seed, n_resamples, shape, swap, clusters))


def permutation_pvalue(deltas: FloatArray, alternative: str, measure: Measure) -> float:
    """Return p of the differences of a test, the observed one first."""
    return float(resampled_pvalue(deltas[1:], deltas[0], alternative, _slack(measure)))


def _slack(measure: Measure) -> float:
    return SLACK.get(measure.correlation, 1e-10)


def _note(scores: Panel, deltas: FloatArray, notes: Notes) -> None:
    if np.isnan(deltas[0]):
        notes.warn(
            ConstantInputWarning(
                message(
                    "permutation.undefined",
                    "The correlation of a metric is undefined, so the test is undefined too.",
                )
            )
        )
        return
    undefined = int(np.isnan(deltas[1:]).sum())
    if undefined:
        notes.warn(
            UndefinedGroupWarning(
                plural(
                    "permutation.undefined-resamples",
                    "The correlation is undefined in {n} permutation, which counts as reaching the "
                    "observed difference.",
                    "The correlation is undefined in {n} permutations, which count as reaching the "
                    "observed difference.",
                    n=undefined,
                )
            )
        )
    if np.array_equal(scores.metrics[0], scores.metrics[1], equal_nan=True):
        notes.warn(
            IdenticalInputWarning(
                message(
                    "permutation.identical",
                    "The two metrics have identical scores, so there is no difference to test.",
                )
            )
        )


class PermutedTest(Protocol):
    """Interface of the permutation test of a measure."""

    def permuted(
        self, pairs: Sequence[tuple[int, int]], swaps: Swaps
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Yield some of the pairs and their differences, pairs x masks, the observed one first."""


def default_swap(measure: Measure) -> str:
    """Return ``pairs`` (of outputs) for acc_eq, as in WMT, and ``both`` for all other measures."""
    return "pairs" if measure.correlation == "acc_eq" else "both"


def permuted_test(
    measure: Measure, panel: Panel, swap: str, seed: int
) -> tuple[PermutedTest, tuple[int, int], IntArray]:
    """Return the permutation test of a measure, the shape of its masks and their clusters."""
    one_of("swap", swap, SWAPS)
    if swap == "pairs":
        if measure.correlation != "acc_eq":
            raise data_error(
                "argument.pairs-swap", "Swapping pairs tests acc-eq, not {measure}.",
                measure=measure.correlation,
            )  # fmt: skip
        pairs = AccEqPairsTest(panel, measure.grouping, measure.epsilon)
        return pairs, (1, len(pairs.clusters)), pairs.clusters
    if measure.epsilon is not None:
        raise data_error(
            "argument.threshold-swap",
            "Scores of two metrics can be swapped only with calibrated thresholds.",
        )
    shape = len(panel.systems), len(panel.segments)
    return _cellwise(measure, panel, seed), shape, panel.clusters


def _cellwise(measure: Measure, panel: Panel, seed: int) -> PermutedTest:
    name, group, n_flips = measure.correlation, measure.grouping, measure.n_flips
    if name == "soft_pairwise_accuracy":
        if n_flips is None:
            return SoftPairwiseTest(panel, None)
        flips = sign_flips(seed, n_flips, int(panel.clusters.max()) + 1)
        return SoftPairwiseTest(panel, np.take(flips, panel.clusters, axis=1))
    if group == SYSTEM_LEVEL:
        return SystemLevelTest(panel, measure)
    if name == "kendall_like":
        return KendallLikeTest(panel, group, measure.threshold)
    if name == "acc_eq":
        return AccEqTest(panel, group)
    return PearsonTest(panel, group) if name == "pearson" else OrderTest(panel, measure)
