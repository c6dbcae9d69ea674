"""Annotators' severity and reliability by a mixed model with crossed random effects."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, factorize, mean, one_length
from metaeval.messages import message
from metaeval.results import ConstantInputWarning, Notes, Result, TooFewWarning
from metaeval.rounding import collapse_constant, largest

ITERATIONS = 2000
TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True, eq=False)
class Severity(Result):
    """Mixed model score = mean + item + annotator + noise; arrays follow ``annotators``.

    ``severity`` is the annotator's predicted effect (negative: severe), shrunk towards zero;
    ``noise`` its residual standard deviation. ``reliability`` is the share of an average item's
    variance that is not noise, item / (item + annotator + residual / judgments per item).
    """

    annotators: tuple[Any, ...]
    severity: FloatArray
    noise: FloatArray
    counts: IntArray
    mean: float
    item_variance: float
    annotator_variance: float
    residual_variance: float
    reliability: float
    iterations: int
    method: str = "crossed random effects (EM for REML)"


def annotator_severity(
    scores: ArrayLike, annotators: Iterable[Hashable], items: Iterable[Hashable]
) -> Severity:
    """Estimate annotators' severity, separated from the difficulty of the items they rated.

    Crossed random effects y = mu + u_item + v_annotator + e, variances by restricted maximum
    likelihood (EM on Henderson's mixed-model equations, Searle et al. 1992). The plain mean of an
    annotator confounds severity with easy items; this model does not, if items are shared.

    Parameters
    ----------
    scores, annotators, items
        One entry per judgment.

    Warns
    -----
    TooFewWarning
        Fewer than two annotators or items, or no item that two annotators share. Or no scores: all
        but the counts is nan.
    ConstantInputWarning
        All scores are equal: all but the counts and their mean is nan.

    Examples
    --------
    >>> result = annotator_severity([1, 2, 3, 3, 4, 5], "AAABBB", [1, 2, 3, 1, 2, 3])
    >>> result.severity.round(1).tolist(), result.annotators
    ([-1.0, 1.0], ('A', 'B'))
    """
    values = as_floats("scores", scores, ndim=1)
    labels, who = factorize(annotators)
    item_labels, what = factorize(items)
    one_length(scores=values, annotators=who, items=what)
    notes = Notes()
    known = ~np.isnan(values)
    notes.exclude("missing-score", int((~known).sum()))
    y, who, what = collapse_constant(values[known], largest(values)), who[known], what[known]
    counts = np.bincount(who, minlength=len(labels)).astype(np.int64)
    is_varied = _varies(y, notes)
    model = (
        _fit(y, what, who, len(item_labels), len(labels))
        if is_varied
        else _unfitted(y, len(labels))
    )
    pairs = np.unique(np.column_stack([what, who]), axis=0)
    shared = len(np.unique(what)) < len(pairs)
    if is_varied and (len(labels) < 2 or len(item_labels) < 2 or not shared):
        notes.warn(
            TooFewWarning(
                message(
                    "severity.too-few",
                    "Severity is unreliable: it needs at least two annotators who rated the same "
                    "items.",
                )
            )
        )
    per_item = len(y) / max(len(np.unique(what)), 1)
    spread = (model.annotator + model.residual) / max(per_item, 1.0)
    return Severity(
        n=len(y),
        **notes.fields,
        annotators=labels,
        severity=model.annotator_effects,
        noise=_noise(model, who, counts),
        counts=counts,
        mean=model.mean,
        item_variance=model.item,
        annotator_variance=model.annotator,
        residual_variance=model.residual,
        reliability=model.item / (model.item + spread),
        iterations=model.iterations,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    mean: float
    annotator_effects: FloatArray
    item: float
    annotator: float
    residual: float
    residuals: FloatArray
    iterations: int


def _noise(model: _Fit, who: IntArray, counts: IntArray) -> FloatArray:
    squares = np.bincount(who, weights=model.residuals**2, minlength=len(counts))
    found = np.sqrt(squares / np.maximum(counts, 1))
    return np.where(np.isnan(model.residual), np.nan, found)


def _varies(y: FloatArray, notes: Notes) -> bool:
    if not len(y):
        notes.warn(
            TooFewWarning(
                message("severity.no-scores", "There are no scores, so severity is undefined.")
            )
        )
    elif np.ptp(y) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message("severity.constant", "All scores are equal, so severity is undefined.")
            )
        )
    return len(y) > 0 and bool(np.ptp(y) > 0.0)


def _unfitted(y: FloatArray, size: int) -> _Fit:
    """Return the fit for scores that do not differ: their mean, and nan for all else."""
    return _Fit(
        mean=mean(y),
        annotator_effects=np.full(size, np.nan),
        item=np.nan,
        annotator=np.nan,
        residual=np.nan,
        residuals=np.full(len(y), np.nan),
        iterations=0,
    )


def _fit(y: FloatArray, items: IntArray, annotators: IntArray, n_items: int, size: int) -> _Fit:
    """EM for REML; the item effects are eliminated, since their block is diagonal."""
    n, centre, scale = len(y), float(y.mean()), float(y.std())
    # Without scaling, sums of squares of scores far from 0 lose digits, and small variances fall
    # below the lower bound of 1e-10.
    y = (y - centre) / scale
    incidence = np.zeros((n_items, size + 1))
    np.add.at(incidence, (items, annotators + 1), 1.0)
    per_item = incidence[:, 1:].sum(axis=1)
    incidence[:, 0] = per_item
    counts = np.bincount(annotators, minlength=size).astype(np.float64)
    base = np.zeros((size + 1, size + 1))
    base[0, 0], base[0, 1:], base[1:, 0] = n, counts, counts
    base[np.arange(1, size + 1), np.arange(1, size + 1)] = counts
    right = np.concatenate([[y.sum()], np.bincount(annotators, weights=y, minlength=size)])
    item_sums = np.bincount(items, weights=y, minlength=n_items)
    parts = np.full(3, 1.0 / 3.0)
    step = 0
    while step < ITERATIONS:
        step += 1
        diagonal = per_item + parts[2] / parts[0]
        scaled = incidence / diagonal[:, None]
        ridge = np.diag(np.append(0.0, np.full(size, parts[2] / parts[1])))
        inverse = np.linalg.pinv(base + ridge - incidence.T @ scaled, hermitian=True)
        solution = inverse @ (right - scaled.T @ item_sums)
        effects = (item_sums - incidence @ solution) / diagonal
        trace = (1.0 / diagonal).sum() + float(((scaled @ inverse) * scaled).sum())
        fitted = solution[0] + solution[1:][annotators] + effects[items]
        after = np.array(
            [
                (effects @ effects + parts[2] * trace) / n_items,
                (solution[1:] @ solution[1:] + parts[2] * np.trace(inverse[1:, 1:])) / size,
                float(y @ (y - fitted)) / max(n - 1, 1),
            ]
        )
        after = np.maximum(after, 1e-10)
        moved = float(np.abs(after - parts).max())
        parts = after
        if moved < TOLERANCE:
            break
    return _Fit(
        mean=centre + scale * float(solution[0]),
        annotator_effects=scale * solution[1:],
        item=scale**2 * float(parts[0]),
        annotator=scale**2 * float(parts[1]),
        residual=scale**2 * float(parts[2]),
        residuals=scale * (y - fitted),
        iterations=step,
    )
