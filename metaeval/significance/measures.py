"""The correlations that the resampling tests know by name, on plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from metaeval.arrays import FloatArray, one_of
from metaeval.rowwise import row_kendall, row_pearson, row_spearman
from metaeval.soft_pairwise import pair_pvalues, sign_flips
from metaeval.ties import pair_table

Function: TypeAlias = Callable[[FloatArray, FloatArray], float]
RowFunction: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
GROUPINGS = ("none", "item", "system")
LEVELS = ("segment", "system")
ROWS: dict[str, RowFunction] = {
    "pearson": row_pearson,
    "spearman": row_spearman,
    "kendall": row_kendall,
    "kendall_b": row_kendall,
    "kendall_c": partial(row_kendall, variant="c"),
}
OTHERS = (
    "kendall_like",
    "acc_eq",
    "pairwise_accuracy",
    "soft_pairwise_accuracy",
    "hybrid",
)
NAMES = (*ROWS, *OTHERS)


@dataclass(frozen=True)
class Measure:
    """A correlation of metric and human scores.

    ``function`` maps two systems x segments arrays (nan at the same cells) to a number, nan
    where undefined, without warnings. ``rows`` is set for the correlations that are a mean over
    groups or, at the system level, one correlation of the systems' means.
    """

    name: str
    grouping: str
    level: str
    function: Function
    rows: RowFunction | None = None
    threshold: float = 0.0

    @property
    def label(self) -> str:
        """Name, level and grouping in words."""
        if self.rows is None:
            return self.name
        return (
            f"{self.name}, system level"
            if self.level == "system"
            else (f"{self.name}, grouping {self.grouping}")
        )


def resolve_measure(
    correlation: str | Function,
    *,
    grouping: str = "none",
    level: str = "segment",
    threshold: float = 25.0,
    flips: int = 1000,
) -> Measure:
    """Return the measure behind a name, or behind a function of two arrays.

    ``threshold`` concerns ``kendall_like``; ``flips`` is the number of sign flips of
    ``soft_pairwise_accuracy``, whose flips are fixed so that it is a function of the scores.
    """
    if callable(correlation):
        return Measure("custom", grouping, level, correlation)
    one_of("correlation", correlation, NAMES)
    one_of("grouping", grouping, GROUPINGS)
    one_of("level", level, LEVELS)
    if correlation in ROWS:
        rows = ROWS[correlation]
        function = (
            partial(_system_level, rows) if level == "system" else partial(_grouped, rows, grouping)
        )
        return Measure(correlation, grouping, level, function, rows)
    special: dict[str, Function] = {
        "kendall_like": partial(_kendall_like, threshold),
        "acc_eq": _acc_eq,
        "pairwise_accuracy": _pairwise_accuracy,
        "soft_pairwise_accuracy": partial(_spa, flips),
        "hybrid": _hybrid_limit,
    }
    level = "segment" if correlation in ("kendall_like", "acc_eq") else "system"
    return Measure(correlation, "item", level, special[correlation], threshold=threshold)


def grouped(values: FloatArray, grouping: str) -> FloatArray:
    """Return ... x groups x members from ... x systems x segments."""
    if grouping == "none":
        return values.reshape(*values.shape[:-2], 1, -1)
    return np.swapaxes(values, -1, -2) if grouping == "item" else values


def nan_mean(values: FloatArray, *, axis: int = -1) -> FloatArray:
    """Mean without nans along an axis, nan where there is nothing else; no warning."""
    known = ~np.isnan(values)
    counts = known.sum(axis=axis)
    result = np.full(counts.shape, np.nan)
    np.divide(np.where(known, values, 0.0).sum(axis=axis), counts, out=result, where=counts > 0)
    return result


def _grouped(rows: RowFunction, grouping: str, x: FloatArray, z: FloatArray) -> float:
    return float(nan_mean(rows(grouped(x, grouping), grouped(z, grouping))))


def _system_level(rows: RowFunction, x: FloatArray, z: FloatArray) -> float:
    return float(rows(nan_mean(x)[None, :], nan_mean(z)[None, :])[0])


def _kendall_like(threshold: float, x: FloatArray, z: FloatArray) -> float:
    table = pair_table(z, x)
    counted = (np.abs(table.human) >= threshold) & (table.human != 0.0)
    if not counted.any():
        return np.nan
    concordant = np.sign(table.human[counted]) == np.sign(table.metric[counted])
    return float(2.0 * concordant.mean() - 1.0)


def _acc_eq(x: FloatArray, z: FloatArray) -> float:
    table = pair_table(z, x)
    return table.calibrate()[0] if table.n_groups else np.nan


def _pairwise_accuracy(x: FloatArray, z: FloatArray) -> float:
    left, right = nan_mean(x), nan_mean(z)
    known = ~np.isnan(left)
    left, right = left[known], right[known]
    upper, lower = np.triu_indices(len(left), 1)
    if not len(upper):
        return np.nan
    # Means of equal rows can differ in the last bits after standardising: those are ties.
    gaps = left[upper] - left[lower]
    gaps = np.where(np.abs(gaps) < 1e-12 * np.abs(left).max(), 0.0, gaps)
    return float((np.sign(gaps) == np.sign(right[upper] - right[lower])).mean())


def _spa(flips: int, x: FloatArray, z: FloatArray) -> float:
    signs = sign_flips(0, flips, x.shape[1])
    valid = ~np.isnan(x)
    gaps = np.abs(pair_pvalues(x, valid, signs) - pair_pvalues(z, valid, signs))
    return 1.0 - float(nan_mean(gaps))


def _hybrid_limit(x: FloatArray, z: FloatArray) -> float:
    """The limit of hybrid super-sampling for metrics that average over segments."""
    valid = ~np.isnan(x)
    counts = np.maximum(valid.sum(axis=0), 1)
    left, right = _within(x, valid, counts), _within(z, valid, counts)
    spread = (left * left / counts).sum() * (right * right / counts).sum()
    return float((left * right / counts).sum() / np.sqrt(spread)) if spread > 1e-24 else np.nan


def _within(values: FloatArray, valid: np.ndarray, counts: np.ndarray) -> FloatArray:
    present = np.where(valid, values, 0.0)
    return np.where(valid, present - present.sum(axis=0) / counts, 0.0)
