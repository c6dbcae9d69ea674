"""Standard scores per annotator, and means of scores per system and segment."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    as_mask,
    factorize,
    group_means,
    mean_along,
    one_length,
    one_of,
    ratio,
)
from metaeval.documents import documents_of
from metaeval.messages import message, truncated
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    Notes,
    Result,
    SingleJudgmentWarning,
    TooFewWarning,
)
from metaeval.scores.matrix import ScoreMatrix


@dataclass(frozen=True, kw_only=True, eq=False)
class ZScores(Result):
    """Standard scores.

    Attributes
    ----------
    z
        One per judgment, aligned with the input; nan where the score is missing or the
        annotator has no spread.
    annotators, means, sds, counts
        Per annotator, sorted by label: mean and standard deviation of the judgments in the pool,
        and how many those are.
    ddof
        1 for the sample, 0 for the population standard deviation.
    n
        Judgments that have a z-score.
    """

    z: FloatArray
    annotators: tuple[Any, ...]
    means: FloatArray
    sds: FloatArray
    counts: IntArray
    ddof: int


def z_scores(
    scores: ArrayLike,
    annotators: Iterable[Hashable],
    *,
    ddof: int = 1,
    pool: ArrayLike | None = None,
    constant: str = "nan",
) -> ZScores:
    """Standardise each annotator's scores: z = (x - mean_a) / sd_a.

    Parameters
    ----------
    scores
        One raw score per judgment; nan is missing.
    annotators
        The annotator of each judgment. For a z per annotator *and* task pass (annotator, task).
    ddof
        1 (default; Graham et al. 2017, WMT, Appraise) or 0 (MLQE; scipy's default).
    pool
        Boolean, one per judgment: which enter the mean and the standard deviation. None means
        all, control items included, as in Graham's scripts and WMT21. Judgments outside the
        pool still get a z-score.
    constant
        z-scores of an annotator whose scores are all equal: ``"nan"`` (default: later means
        exclude them, as Graham's scripts do) or ``"zero"`` (as in Appraise). Either way a
        ConstantInputWarning names the annotator.

    Returns
    -------
    ZScores

    Warns
    -----
    ConstantInputWarning, SingleJudgmentWarning, TooFewWarning
        An annotator's pool has equal scores only, one judgment, or none.

    Examples
    --------
    >>> result = z_scores([10, 20, 30, 50, 70], ["A", "A", "A", "B", "B"])
    >>> result.z.round(3).tolist()
    [-1.0, 0.0, 1.0, -0.707, 0.707]
    >>> result.annotators, result.means.tolist()
    (('A', 'B'), [20.0, 60.0])
    """
    values = as_floats("scores", scores, ndim=1)
    labels, codes = factorize(annotators)
    one_length(scores=values, annotators=codes)
    one_of("ddof", str(ddof), ("0", "1"))
    one_of("constant", constant, ("nan", "zero"))
    notes = Notes()
    present = ~np.isnan(values)
    notes.exclude("missing-score", int((~present).sum()))
    pooled = as_mask("pool", pool, values.shape) & present
    every = pooled.all()
    group, x = (codes, values) if every else (codes[pooled], values[pooled])
    counts, means, sds = _moments(x, group, len(labels), ddof)
    flat = _constant(x, group, means, sds) & (counts > 1)
    _warn(notes, labels, counts, flat)
    # A standard deviation of nan makes all z of an annotator nan.
    divisors = np.where((counts > 1) & ~flat, sds, np.nan)
    z = (values - means[codes]) / divisors[codes]
    if constant == "zero":
        z[present & flat[codes]] = 0.0
    notes.exclude("constant-annotator", int((present & np.isnan(z)).sum()))
    return ZScores(
        n=int((~np.isnan(z)).sum()),
        **notes.fields,
        z=z,
        annotators=labels,
        means=means,
        sds=sds,
        counts=counts,
        ddof=ddof,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanScores(Result):
    """Judgments averaged per system and segment.

    ``matrix`` holds the means, ``counts`` (systems x segments) the judgments behind each;
    ``system_scores`` is the mean of a system's segment means, ``judgment_means`` the mean of all
    its judgments, which weighs segments by their redundancy. ``n`` counts judgments.
    """

    matrix: ScoreMatrix
    counts: IntArray
    system_scores: FloatArray
    judgment_means: FloatArray


def mean_scores(
    scores: ArrayLike,
    systems: Iterable[Hashable],
    segments: Iterable[Hashable],
    *,
    documents: Iterable[Hashable] | None = None,
) -> MeanScores:
    """Average judgments (long form) per system and segment.

    The segment score is the plain mean over the judgments present, the system score the mean of
    its segment scores (Barrault et al. 2021, findings of WMT21, section 3).

    Parameters
    ----------
    scores
        One number per judgment, raw or z; nan judgments are excluded and counted.
    systems, segments
        The labels of each judgment; rows and columns come out sorted.
    documents
        The document of each judgment's segment, which the matrix then has.

    Raises
    ------
    DataError
        If lengths differ, or a segment has judgments with two documents.

    Examples
    --------
    >>> result = mean_scores([10, 20, 60], ["A", "A", "A"], ["s1", "s1", "s2"])
    >>> result.matrix.values.tolist(), result.system_scores.tolist()
    ([[15.0, 60.0]], [37.5])
    """
    values = as_floats("scores", scores, ndim=1)
    row_names, rows = factorize(systems)
    column_names, columns = factorize(segments)
    one_length(scores=values, systems=rows, segments=columns)
    of = None
    if documents is not None:
        of = map(str, documents_of(documents, columns, column_names).tolist())
    notes = Notes()
    present = ~np.isnan(values)
    notes.exclude("missing-score", int((~present).sum()))
    shape = (len(row_names), len(column_names))
    cells = (rows * shape[1] + columns)[present]
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cells, weights=values[present], minlength=counts.size).reshape(shape)
    matrix = ratio(sums, counts)
    judgment_means = ratio(sums.sum(axis=1), counts.sum(axis=1))
    if np.isnan(judgment_means).any():
        empty = [str(row_names[i]) for i in np.flatnonzero(np.isnan(judgment_means))]
        notes.warn(
            MissingDataWarning(
                message(
                    "scores.systems-without-judgments",
                    "These systems have no judgments: {systems}.",
                    systems=truncated(empty),
                )
            )
        )
    return MeanScores(
        n=int(present.sum()),
        **notes.fields,
        matrix=ScoreMatrix(matrix, map(str, row_names), map(str, column_names), of),
        counts=counts.astype(np.int64),
        system_scores=mean_along(matrix, axis=1),
        judgment_means=judgment_means,
    )


def _moments(
    x: FloatArray, group: IntArray, size: int, ddof: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Count, mean and standard deviation per annotator; two passes, so no cancellation."""
    counts = np.bincount(group, minlength=size).astype(np.int64)
    means = group_means(x, group, size)
    squares = np.bincount(group, weights=(x - means[group]) ** 2, minlength=size)
    return counts, means, np.sqrt(ratio(squares, counts - ddof))


def _constant(x: FloatArray, group: IntArray, means: FloatArray, sds: FloatArray) -> BoolArray:
    """Return True for annotators whose pooled scores are all equal, by exact comparison.

    Only annotators whose standard deviation may be a rounding error are compared.
    """
    found = sds <= 1e-6 * np.abs(means)
    suspects = found[group]
    x, group = x[suspects], group[suspects]
    first = np.full(len(found), np.nan)
    first[group[::-1]] = x[::-1]
    differing = np.bincount(group, weights=x != first[group], minlength=len(found))
    return np.asarray(found & (differing == 0))


def _warn(notes: Notes, labels: tuple[Any, ...], counts: IntArray, flat: BoolArray) -> None:
    for index in np.flatnonzero(counts == 0):
        notes.warn(
            TooFewWarning(
                message(
                    "z-scores.no-judgments",
                    "z-scores are undefined for {annotator}: no judgments that count.",
                    annotator=str(labels[index]),
                )
            )
        )
    for index in np.flatnonzero(counts == 1):
        notes.warn(
            SingleJudgmentWarning(
                message(
                    "z-scores.one-judgment",
                    "z-scores are undefined for {annotator}: only one judgment that counts.",
                    annotator=str(labels[index]),
                )
            )
        )
    for index in np.flatnonzero(flat):
        notes.warn(
            ConstantInputWarning(
                message(
                    "z-scores.constant",
                    "{annotator} gave the same score in all {judgments} judgments, so their "
                    "z-scores are undefined.",
                    annotator=str(labels[index]),
                    judgments=int(counts[index]),
                )
            )
        )
