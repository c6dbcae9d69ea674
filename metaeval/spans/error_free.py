"""Detection of outputs without errors, and its evaluation (WMT26, task 3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from metaeval.arrays import BoolArray, FloatArray, as_floats, of_shape, zero_or_one
from metaeval.documents import FEWEST_DOCUMENTS, clusters_from, effective_units
from metaeval.messages import message
from metaeval.results import ConstantInputWarning, Interval, Notes, Result

THRESHOLD = 85.0
FEWEST_OUTPUTS = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorFree(Result):
    """Counts over ``n`` items, precision, recall, Matthews' correlation; nan is undefined."""

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int
    precision: float
    recall: float
    mcc: float


def is_error_free(
    scores: ArrayLike, n_spans: ArrayLike, *, threshold: float = THRESHOLD
) -> BoolArray:
    """Return which of n items score at least ``threshold`` and have no span, missing ones included.

    If a score is nan, only the spans decide.
    """
    values = as_floats("scores", scores, ndim=1)
    return np.asarray(~(values < threshold) & (np.asarray(n_spans) == 0), dtype=np.bool_)


def error_free_detection(gold: ArrayLike, predicted: ArrayLike) -> ErrorFree:
    """Compare predicted with true error-free items, both n truth values.

    Warns ConstantInputWarning if all values of one side are equal: the correlation is nan. Raises
    DataError if sizes differ, and for values other than 0 and 1, nan included.
    """
    one, two = _truths("gold", gold), _truths("predicted", predicted)
    of_shape("predicted", two, one.shape)
    counts = np.bincount(one * 2 + two, minlength=4)
    return error_free_counts(
        true_positive=int(counts[3]), false_positive=int(counts[1]),
        false_negative=int(counts[2]), true_negative=int(counts[0]),
    )  # fmt: skip


def mcc_interval(
    gold: ArrayLike,
    predicted: ArrayLike,
    *,
    documents: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Interval of Matthews' correlation of n outputs, with documents as the unit.

    se^2 = (N-1)/N sum (mcc_(k) - mean)^2 over mcc without document k, and t with N - 1 degrees of
    freedom, within [-1, 1]; of unequal documents, t has their effective number less one. nan ends
    below 20 outputs or 6 documents, where mcc is undefined, and at -1 and 1, where every mcc_(k) is
    the same.

    Parameters
    ----------
    documents
        The document of each output; by default each output is its own.
    """
    one, two = _truths("gold", gold), _truths("predicted", predicted)
    clusters = clusters_from(documents, len(one))
    n = len(np.unique(clusters))
    none = Interval(np.nan, np.nan, confidence)
    if len(one) < FEWEST_OUTPUTS or n < FEWEST_DOCUMENTS:
        return none
    cells = np.zeros((n, 4))
    np.add.at(cells, (clusters, one.astype(np.int64) * 2 + two), 1.0)
    total = cells.sum(axis=0)
    value, without = _mcc(total[None])[0], _mcc(total - cells)
    if not abs(value) < 1.0 or np.isnan(without).any():
        return none
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    half = float(stdtrit(effective_units(clusters) - 1, 0.5 + confidence / 2.0) * error)
    return Interval(max(-1.0, value - half), min(1.0, value + half), confidence)


def _mcc(counts: FloatArray) -> FloatArray:
    """Return Matthews' correlation of counts: true and false negatives and positives (n, 4)."""
    tn, fp, fn, tp = counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return np.asarray(np.where(root > 0.0, (tp * tn - fp * fn) / root, np.nan))


def _truths(name: str, given: ArrayLike) -> BoolArray:
    values = np.asarray(given)
    zero_or_one(name, values)
    return values.astype(np.bool_)


def error_free_counts(
    *, true_positive: int, false_positive: int, false_negative: int, true_negative: int
) -> ErrorFree:
    """Return the measures of the four counts."""
    notes = Notes()
    tp, fp, fn, tn = true_positive, false_positive, false_negative, true_negative
    mcc = float(_mcc(np.array([[tn, fp, fn, tp]], dtype=np.float64))[0])
    if np.isnan(mcc):
        notes.warn(
            ConstantInputWarning(
                message(
                    "error-free.constant",
                    "On one side all outputs are error-free, or none is, so Matthews’ correlation "
                    "is undefined.",
                )
            )
        )
    return ErrorFree(
        n=tp + fp + fn + tn, true_positive=tp, false_positive=fp, false_negative=fn,
        true_negative=tn, precision=tp / (tp + fp) if tp + fp else float("nan"),
        recall=tp / (tp + fn) if tp + fn else float("nan"),
        mcc=mcc, **notes.fields,
    )  # fmt: skip
