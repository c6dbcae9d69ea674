"""What a comparison of metrics returns, and what all ways to compare share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import metaeval
from metaeval.arrays import FloatArray
from metaeval.clustered import without_intervals

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Comparison:
    """One statistic of m metrics; nan where undefined.

    `values` with the interval `lows` to `highs` are (m,). `differences`, their intervals and the
    one-sided `pvalues` are (m, m): row minus column, small p where the row is better. `about` says
    of what the intervals are: which part of the data would be new. Of `n_segments` segments with
    scores `n_informative` tell anything of the statistic; None where it is not over segments.
    `chance` is the value of a metric that knows nothing.
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
    n_systems: int
    about: str = ""
    n_segments: int | None = None
    n_informative: int | None = None
    n_permutations: int | None = None
    chance: float = 0.0
    warnings: Sequence[str] = ()


TOO_FEW = "none: too few segments or systems for one"
INTERVALS = ("lows", "highs", "difference_lows", "difference_highs")


def interval_fields(found: metaeval.CorrelationIntervals) -> dict[str, Any]:
    """Return the fields of a Comparison that intervals fill."""
    is_there = bool(np.isfinite(found.lows).any())
    return {name: getattr(found, name) for name in INTERVALS} | {
        "interval": f"{found.method} ({found.question})" if is_there else TOO_FEW,
        "about": found.question,
        "n_systems": found.n_systems,
    }


def no_intervals(values: FloatArray, why: str) -> dict[str, Any]:
    """Return the same fields where no interval covers what it says."""
    empty: Mapping[str, FloatArray] = without_intervals(values)
    return {name: empty[name] for name in INTERVALS} | {"interval": why}


def differences_of(values: FloatArray) -> FloatArray:
    """Return all differences, row minus column; nan on the diagonal."""
    table = values[:, None] - values[None, :]
    np.fill_diagonal(table, np.nan)
    return np.asarray(table)


def notes_of(warnings: Sequence[metaeval.StatisticsWarning]) -> dict[str, None]:
    """Sentences for the page; missing cells are told once for all, elsewhere."""
    return dict.fromkeys(w.message for w in warnings if w.code != "missing_data")
