"""The limit of infinitely many hybrid systems, for many choices of segments at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, as_floats
from metaeval.scores import ScoreMatrix, align


def hybrid_limits(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], weights: ArrayLike | None = None
) -> FloatArray:
    """Return what `hybrid_supersample`'s r tends to, samples x metrics, without any draw.

    r = sum w h'm'/k / sqrt(sum w h'^2/k . sum w m'^2/k) over the cells that the humans and every
    metric have; ' removes a segment's mean over its k systems, w is the weight of the segment.

    Parameters
    ----------
    human, metrics
        Matched by names; segment metrics only; `hybrid_limit_intervals` takes corpus metrics too.
    weights
        samples x segments, in the order of the segments common to all: how often each counts.
        Counts of a bootstrap sample, or 0 and 1 for a fold. Default: one sample, every segment
        once.

    Returns
    -------
    array
        nan where the humans or a metric do not differ between the systems of any segment.

    Examples
    --------
    >>> human = ScoreMatrix([[60, 70, 90], [20, 75, 50]], ["A", "B"], ["s1", "s2", "s3"])
    >>> metric = human.with_values([[0.6, 0.6, 0.8], [0.3, 0.5, 0.7]])
    >>> hybrid_limits(human, {"m": metric}).round(3).tolist()
    [[0.823]]
    """
    if not metrics:
        raise ValueError("metrics: give at least one metric")
    first, *others = align(human, *metrics.values())
    stack = np.array([matrix.values for matrix in (first, *others)])
    drawable = ~np.isnan(stack).any(axis=0)
    counts = np.maximum(drawable.sum(axis=0), 1)
    away = within(stack, drawable)
    products = (away[0] * away / counts).sum(axis=1)
    squares = (away**2 / counts).sum(axis=1)
    w = np.ones((1, len(counts))) if weights is None else as_floats("weights", weights, ndim=2)
    if w.shape[1] != len(counts):
        raise ValueError(f"weights: expected {len(counts)} segments, got {w.shape[1]}")
    shared, spread = w @ products.T, w @ squares.T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = shared[:, 1:] / np.sqrt(spread[:, :1] * spread[:, 1:])
    return np.asarray(np.clip(np.where(np.isfinite(r), r, np.nan), -1.0, 1.0))


def within(stack: FloatArray, drawable: BoolArray) -> FloatArray:
    """Return differences from each segment's mean over drawable systems, zero elsewhere.

    `stack` is ... x systems x segments.
    """
    counts = np.maximum(drawable.sum(axis=0), 1)
    present = np.where(drawable, stack, 0.0)
    means = (present.sum(axis=1) / counts)[:, None]
    # Equal values leave rounding behind; their differences are zero.
    constant = np.ptp(np.where(drawable, stack, means), axis=1)[:, None] == 0.0
    return np.where(drawable & ~constant, present - means, 0.0)
