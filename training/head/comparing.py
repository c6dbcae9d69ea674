"""How predictions agree with human scores on outputs that took no part, with intervals."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from metaeval import ScoreMatrix
from metaeval.correlation.intervals import correlation_intervals
from training.head.judged import Judged

Array = NDArray[np.float64]
CORRELATIONS = ("pearson", "kendall")
Estimate = dict[str, float | None]


def compare(rows: Sequence[Judged], values: Mapping[str, Array]) -> dict[str, dict[str, Estimate]]:
    """Return by correlation and name the agreement of (rows,) values, with 95 % intervals over
    source segments; of two also what the first gains over the second."""
    human = _matrix(rows, np.array([each.score for each in rows]))
    metrics = {name: _matrix(rows, each) for name, each in values.items()}
    return {name: estimates(human, metrics, name) for name in CORRELATIONS}


def estimates(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], correlation: str
) -> dict[str, Estimate]:
    """Return correlations and their difference; no ends where there are too few source texts."""
    found = correlation_intervals(human, dict(metrics), correlation)
    told = {
        name: _estimate(found.values[place], found.lows[place], found.highs[place])
        for place, name in enumerate(metrics)
    }
    if len(metrics) == 2:
        gain = (found.differences, found.difference_lows, found.difference_highs)
        told["gain"] = _estimate(*(part[0, 1] for part in gain))
    return told


def _matrix(rows: Sequence[Judged], values: Array) -> ScoreMatrix:
    """Systems × segments, nan where an output is not judged."""
    row = {name: n for n, name in enumerate(dict.fromkeys(each.system for each in rows))}
    column = {key: n for n, key in enumerate(dict.fromkeys(str(each.segment) for each in rows))}
    grid = np.full((len(row), len(column)), np.nan)
    for each, value in zip(rows, values, strict=True):
        grid[row[each.system], column[str(each.segment)]] = value
    return ScoreMatrix(grid, list(row), list(column))


def _estimate(value: float, low: float, high: float) -> Estimate:
    ends = {"low": float(low), "high": float(high)} if np.isfinite([low, high]).all() else {}
    return {"value": float(value) if np.isfinite(value) else None, **ends}
