"""What a comparison of metrics returns, and what all ways to compare share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

import metaeval
from metaeval.arrays import FloatArray

CONFIDENCE = 0.95
# numpy computes outside Python's lock; each thread holds a block of samples of all cells.
THREADS = min(4, os.cpu_count() or 1)
N_RESAMPLES = 1_000
# With fewer systems, samples of systems are mostly copies of one or two.
FEW_SYSTEMS = 5


@dataclass(frozen=True, eq=False)
class Comparison:
    """One statistic of m metrics; nan where undefined.

    `values` with the interval `lows` to `highs` are (m,). `differences`, their intervals and the
    one-sided `pvalues` are (m, m): row minus column, small p where the row is better.
    """

    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    differences: FloatArray
    difference_lows: FloatArray
    difference_highs: FloatArray
    pvalues: FloatArray
    n: int
    interval: str
    test: str
    n_permutations: int | None = None
    warnings: Sequence[str] = ()


def samples_of(
    human: metaeval.ScoreMatrix,
    metrics: Mapping[str, metaeval.ScoreMatrix],
    *,
    n_resamples: int,
    **options: Any,
) -> tuple[FloatArray, FloatArray, FloatArray, dict[str, None]]:
    """Return (m, n_resamples) bootstrap samples, the same draws for all, and (m,) interval ends.

    The samples are nan for a metric whose correlation some sample leaves undefined.
    """
    of_metric = partial(
        metaeval.boot_interval, human, n_resamples=n_resamples, confidence=CONFIDENCE, **options
    )
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(of_metric, metrics.values()))
    samples = np.full((len(found), n_resamples), np.nan)
    for row, result in zip(samples, found, strict=True):
        if len(result.samples) == n_resamples:
            row[:] = result.samples
    ends = np.array([result.interval[:2] if result.interval else (np.nan,) * 2 for result in found])
    notes: dict[str, None] = {}
    for result in found:
        notes |= notes_of(result.warnings)
    lost = int(np.isnan(samples).any(axis=1).sum())
    if lost:
        notes[
            f"{lost} metrics are undefined in some bootstrap samples: their differences have no "
            "interval."
        ] = None
    return samples, ends[:, 0], ends[:, 1], notes


def difference_intervals(samples: FloatArray) -> dict[str, Any]:
    """Return the ends of percentile intervals of all differences, as fields of a Comparison."""
    tail = (1.0 - CONFIDENCE) / 2.0
    ends = np.full((2, len(samples), len(samples)), np.nan)
    for row, mine in enumerate(samples):
        gaps = mine - samples
        known = ~np.isnan(gaps).any(axis=1)
        known[row] = False
        if known.any():
            ends[:, row, known] = np.quantile(gaps[known], [tail, 1.0 - tail], axis=1)
    return {"difference_lows": ends[0], "difference_highs": ends[1]}


def by_standard_error(
    values: FloatArray, samples: FloatArray, told: dict[str, Any], notes: dict[str, None]
) -> Comparison:
    """Test differences by z = difference / sd of the bootstrapped differences, one-sided."""
    differences = differences_of(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.array([(mine - samples).std(axis=1, ddof=1) for mine in samples])
        z = np.where(errors > 0.0, differences / errors, np.where(differences == 0.0, 0.0, np.nan))
    return Comparison(
        values=values,
        differences=differences,
        pvalues=np.where(np.isnan(differences), np.nan, ndtr(-z)),
        test="one-sided z test with the bootstrap's standard error of the difference",
        warnings=list(notes),
        **difference_intervals(samples),
        **told,
    )


def differences_of(values: FloatArray) -> FloatArray:
    table = values[:, None] - values[None, :]
    np.fill_diagonal(table, np.nan)
    return np.asarray(table)


def notes_of(warnings: Sequence[metaeval.StatisticsWarning]) -> dict[str, None]:
    """Sentences for the page; missing cells are told once for all, elsewhere."""
    return dict.fromkeys(w.message for w in warnings if w.code != "missing_data")
