"""Soft pairwise accuracy (Thompson et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from metaeval.arrays import BoolArray, FloatArray, IntArray, positive_int
from metaeval.correlation.panel import common_documents
from metaeval.documents import DOCUMENTS, clusters_from, has_enough_documents, sum_by, unit_of
from metaeval.messages import message, plural
from metaeval.resampling import Rng, random_bits, resolve_seed, stream
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    Notes,
    StatisticResult,
    TooFewWarning,
)
from metaeval.scores.matrix import ScoreMatrix, align

# Of q in Phi(z) = (1 + tanh(z q(z^2))) / 2, least to largest power; fitted to the least largest
# error, which is 1e-7.
NORMAL = (
    *(0.79788494, 0.036333084, -3.2594808e-05, -5.530627e-05),
    *(3.9647611e-06, -1.3226483e-07, 1.7562171e-09),
)

# Why SPA is undefined: the human side, and the metric's.
CONSTANT = (
    message(
        "soft-accuracy.constant-human",
        "The human scores do not differ between systems on any segment, so SPA is undefined.",
    ),
    message(
        "soft-accuracy.constant-metric",
        "The metric's scores do not differ between systems on any segment, so SPA is undefined.",
    ),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftPairwiseAccuracy(StatisticResult):
    """SPA with the p-values behind it.

    ``human_pvalues`` and ``metric_pvalues`` are systems x systems, filled above the diagonal
    (row better than column, one-sided), nan elsewhere. ``n`` counts system pairs, ``n_units`` the
    documents or segments (``unit``) that flip.
    """

    systems: tuple[str, ...]
    human_pvalues: FloatArray
    metric_pvalues: FloatArray
    unit: str
    n_units: int


def soft_pairwise_accuracy(
    human: ScoreMatrix, metric: ScoreMatrix, *, n_resamples: int = 1000, rng: Rng = None
) -> SoftPairwiseAccuracy:
    """SPA = 1 - mean over system pairs of |p_human - p_metric|.

    p_ij is the one-sided p-value of a paired sign-flip test that system i is better than j, on
    the segments both have on both sides: (number of flipped sums >= observed + 1) / (flips + 1).
    Segments of one document flip together, because they depend on each other; WMT's published
    values flip each segment (`ScoreMatrix.by_segment`). One set of flips serves all pairs and both
    sides. A metric that gives all systems of every segment the same score has p = 1 everywhere,
    and no SPA.

    mt-metrics-eval omits the "+ 1", uses single precision and one fixed seed. Its values agree
    within Monte-Carlo error, except for such a metric, to which it gives about .6. It fails or
    misaligns segments when human scores are missing; here each pair of systems uses its common
    segments.

    Parameters
    ----------
    human, metric
        `ScoreMatrix`, matched by names.
    n_resamples
        Sign flips.

    Warns
    -----
    TooFewWarning
        Fewer than 20 documents: the p-values are approximate.
    ConstantInputWarning, TooFewWarning
        One side has equal scores for all systems, or no two systems share a segment: nan.

    Examples
    --------
    >>> human = ScoreMatrix([[5, 6, 7, 9], [1, 2, 5, 4]], ["A", "B"], "stuv")
    >>> soft_pairwise_accuracy(human, human, rng=1).statistic
    1.0
    """
    positive_int("n_resamples", n_resamples)
    notes = Notes()
    left, right = align(human, metric)
    lost = human.values.size + metric.values.size - 2 * left.values.size
    missing = int((~(left.mask & right.mask)).sum())
    notes.exclude("unmatched-cell", lost)
    notes.exclude("missing-score", missing)
    if lost or missing:
        notes.warn(
            MissingDataWarning(
                plural(
                    "soft-accuracy.unmatched-cells",
                    "Excluded {n} output that has a score on one side only.",
                    "Excluded {n} outputs that have a score on one side only.",
                    n=lost + missing,
                )
            )
        )
    seed = resolve_seed(rng)
    valid = left.mask & right.mask
    clusters = clusters_from(common_documents((left, right)), left.shape[1])
    flips = sign_flips(seed, n_resamples, int(clusters.max(initial=-1)) + 1)
    flips = np.take(flips, clusters, axis=1)
    judged = clusters[valid.any(axis=0)]
    has_enough_documents(judged, notes)
    p_human = pair_pvalues(left.values, valid, flips)
    p_metric = pair_pvalues(right.values, valid, flips)
    statistic, n = _spa(p_human, p_metric, (left.values, right.values), valid, notes)
    return SoftPairwiseAccuracy(
        n=n,
        **notes.fields,
        statistic=statistic,
        method="soft pairwise accuracy",
        n_resamples=n_resamples,
        seed=seed,
        systems=left.systems,
        human_pvalues=_square(p_human, len(left.systems)),
        metric_pvalues=_square(p_metric, len(left.systems)),
        unit=unit_of(judged),
        n_units=len(np.unique(judged)),
    )


def soft_pairwise_limit(
    human: FloatArray, metric: FloatArray, valid: BoolArray, clusters: IntArray | None = None
) -> StatisticResult:
    """Return the limit of SPA with the number of flips; systems x segments, used where valid.

    ``clusters`` is the document of each segment; without it each segment is one of its own.
    """
    notes, sides = Notes(), (human, metric)
    pvalues = normal_pvalues(np.array(sides), valid, clusters)
    statistic, n = _spa(pvalues[0], pvalues[1], sides, valid, notes)
    return StatisticResult(
        n=n,
        warnings=notes.warnings,
        statistic=statistic,
        method="soft pairwise accuracy, exact limit",
    )


def _spa(
    p_human: FloatArray,
    p_metric: FloatArray,
    sides: tuple[FloatArray, FloatArray],
    valid: BoolArray,
    notes: Notes,
) -> tuple[float, int]:
    """Return SPA, nan where undefined, and the pairs of systems behind it."""
    gaps = np.abs(p_human - p_metric)
    defined = ~np.isnan(gaps)
    n = int(defined.sum())
    if not n:
        notes.warn(
            TooFewWarning(
                message(
                    "soft-accuracy.no-shared-segment",
                    "No two systems share a scored segment, so SPA is undefined.",
                )
            )
        )
        return np.nan, 0
    for constant, values in zip(CONSTANT, sides, strict=True):
        if is_constant(values, valid):
            notes.warn(ConstantInputWarning(constant))
            return np.nan, n
    return 1.0 - float(gaps[defined].mean()), n


def is_constant(values: FloatArray, valid: BoolArray) -> bool:
    """Tell whether the valid values of every column are equal; systems x segments."""
    highest = np.where(valid, values, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(valid, values, np.inf).min(axis=0, initial=np.inf)
    return bool((highest <= lowest).all())


def sign_flips(seed: int, n_resamples: int, units: int) -> FloatArray:
    """Return +-1, flips x units; `ScoreMatrix.clusters` as columns give those of segments."""
    bits = random_bits(stream(seed, 0), n_resamples, units)
    return np.where(bits, -1.0, 1.0)


def pair_pvalues(values: FloatArray, valid: BoolArray, flips: FloatArray) -> FloatArray:
    """Return the one-sided p of each pair i < j; nan where the two share no segment.

    Parameters
    ----------
    values, valid
        systems x segments.
    flips
        +-1, flips x segments.
    """
    upper, lower = np.triu_indices(len(values), 1)
    filled = within_segments(values, valid)
    shared = valid[upper] & valid[lower]
    differences = np.where(shared, filled[upper] - filled[lower], 0.0)
    observed = differences.sum(axis=1)
    sizes = np.abs(filled).sum(axis=1)
    # Equal sums in another order differ in the last bits; a tie must count as reached.
    slack = 1e-12 * np.abs(differences).sum(axis=1) + 1e-13 * (sizes[upper] + sizes[lower])
    if has_same_segments(valid):
        # The sums of the systems give those of their differences.
        sums = flips @ filled.T
        flipped = sums[:, upper] - sums[:, lower]
    else:
        flipped = flips @ differences.T
    reached = (flipped >= observed - slack).sum(axis=0)
    pvalues = (reached + 1.0) / (len(flips) + 1.0)
    return np.where(shared.any(axis=1), pvalues, np.nan)


def within_segments(values: FloatArray, valid: BoolArray) -> FloatArray:
    """Return scores less the mean of their segment, 0 where not ``valid``.

    Only differences within a segment count; small numbers leave the least rounding.

    Parameters
    ----------
    values
        ... x systems x segments, used where ``valid`` (systems x segments).
    """
    if valid.all():
        return np.asarray(values - values.mean(axis=-2, keepdims=True))
    known = np.where(valid, values, 0.0)
    means = known.sum(axis=-2, keepdims=True) / np.maximum(valid.sum(axis=0), 1)
    return np.where(valid, known - means, 0.0)


def normal_pvalues(
    values: FloatArray, valid: BoolArray, clusters: IntArray | None = None
) -> FloatArray:
    """Return the limit of `pair_pvalues` with the number of flips, for many matrices at once.

    Under random signs sum d has mean 0 and variance sum d^2, and is close to normal from some
    dozens of segments on: p = Phi(-sum d / sqrt(sum d^2)); 1 where all d are zero. d is summed by
    document where ``clusters`` has the documents of the segments.

    Parameters
    ----------
    values
        matrices x systems x segments, used where ``valid`` (systems x segments).
    """
    values = within_segments(values, valid)
    upper, lower = np.triu_indices(len(valid), 1)
    if has_same_segments(valid):
        squares = np.einsum("...s,...s", values, values)
        sums = values if clusters is None else sum_by(values, clusters)
        level, products = sums.sum(axis=-1), np.matmul(sums, np.swapaxes(sums, 1, 2))
        own = np.diagonal(products, axis1=1, axis2=2)
        crossed = products.reshape(len(values), -1).take(upper * len(valid) + lower, axis=1)
        pvalues = gaps_to_pvalues(
            level.take(upper, axis=1) - level.take(lower, axis=1),
            own.take(upper, axis=1) + own.take(lower, axis=1) - 2.0 * crossed,
            squares.take(upper, axis=1) + squares.take(lower, axis=1),
        )
        return pvalues if valid.any() else np.full_like(pvalues, np.nan)
    shared = valid.astype(np.float64)
    if clusters is not None and unit_of(clusters) == DOCUMENTS:
        both = valid[upper] & valid[lower]
        sums = sum_by(np.where(both, values[:, upper] - values[:, lower], 0.0), clusters)
        squares = (values * values) @ shared.T
        sizes = squares[:, upper, lower] + squares[:, lower, upper]
        pvalues = gaps_to_pvalues(sums.sum(axis=-1), (sums**2).sum(axis=-1), sizes)
    else:
        products = np.matmul(values, np.swapaxes(values, 1, 2))
        pvalues = sums_to_pvalues(values @ shared.T, (values * values) @ shared.T, products)
    return np.where((shared @ shared.T)[upper, lower] > 0, pvalues, np.nan)


def has_same_segments(valid: BoolArray) -> bool:
    """Tell whether all systems have the same segments; systems x segments."""
    return bool((valid.all(axis=0) == valid.any(axis=0)).all())


def sums_to_pvalues(
    sums: NDArray[Any], squares: NDArray[Any], products: NDArray[Any]
) -> FloatArray:
    """Return matrices x pairs of systems from matrices x systems x systems.

    ``sums[a, b]`` and ``squares[a, b]`` are those of a over the segments it shares with b.
    """
    upper, lower = np.triu_indices(sums.shape[1], 1)
    both = squares[:, upper, lower] + squares[:, lower, upper]
    spread = both - 2.0 * products[:, upper, lower]
    level = sums[:, upper, lower] - sums[:, lower, upper]
    return gaps_to_pvalues(level, spread, both)


def gaps_to_pvalues(level: NDArray[Any], spread: NDArray[Any], size: NDArray[Any]) -> FloatArray:
    """Return Phi(-sum d / sqrt(sum d^2)) of pairs of systems from both sums, any shape.

    1 where sum d^2 is rounding beside ``size``, the squares of the scores behind it.
    """
    same = spread <= 1e-6 * size
    if same.any():
        spread = np.where(same, 1.0, spread)
    reached: FloatArray = ndtr(-level / np.sqrt(spread)).astype(np.float64, copy=False)
    reached[same] = 1.0
    return reached


def normal_tail(z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1 - Phi(z) to 2e-7, several times as fast as `ndtr`; |z| at most 1,000.

    Examples
    --------
    >>> normal_tail(np.float32([0.0, 1.96, -40.0])).astype(float).round(4).tolist()
    [0.5, 0.025, 1.0]
    """
    square = z * z
    q = square * np.float32(NORMAL[-1])
    for coefficient in NORMAL[-2:0:-1]:
        q += np.float32(coefficient)
        q *= square
    q += np.float32(NORMAL[0])
    q *= np.float32(2.0) * z
    with np.errstate(over="ignore"):  # An infinite odds ratio is a p of 0.
        np.exp(q, out=q)
    q += np.float32(1.0)
    np.reciprocal(q, out=q)
    return q


def _square(pvalues: FloatArray, size: int) -> FloatArray:
    table = np.full((size, size), np.nan)
    table[np.triu_indices(size, 1)] = pvalues
    return table
