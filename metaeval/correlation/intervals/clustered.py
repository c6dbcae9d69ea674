"""t intervals of correlations and of their differences from what each cluster adds to the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from metaeval.arrays import FloatArray, differences_of
from metaeval.messages import Message
from metaeval.results import Result

# A difference this small is rounding: metrics that rank alike are equal.
SAME = 1e-12
Z, PLAIN = "z", "plain"
VALUES = ("values", "lows", "highs", "pvalues")
DIFFERENCES = ("differences", "difference_lows", "difference_highs", "difference_pvalues")


@dataclass(frozen=True, eq=False)
class Side:
    """What each cluster of one kind adds to the errors of m values.

    ``parts`` is m x clusters, ``counts`` (m,) how many clusters carry information: of unequal
    documents the effective number.
    """

    parts: FloatArray
    counts: FloatArray

    @property
    def effective(self) -> FloatArray:
        """How many clusters of equal weight vary as much, (m,): (sum e^2)^2 / sum e^4."""
        squares = self.parts**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(squares.sum(axis=1) ** 2 / (squares**2).sum(axis=1))

    def at(self, places: Sequence[int]) -> Side:
        """Return the errors of some values."""
        return Side(self.parts[places], self.counts[places])

    def widened(self, places: Sequence[int], size: int) -> Side:
        """Return the errors of more values, nan where there were none."""
        parts = np.full((size, self.parts.shape[1]), np.nan)
        counts = np.full(size, np.nan)
        parts[places], counts[places] = self.parts, self.counts
        return Side(parts, counts)

    def minus(self, row: int) -> Side:
        """Return the errors of value ``row`` less every value."""
        counts = np.minimum(self.counts[row], self.counts)
        return Side(self.parts[row] - self.parts, counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrelationIntervals(Result):
    """Correlations of m metrics with humans, their intervals and those of all differences.

    Attributes
    ----------
    values, lows, highs, pvalues
        (m,); p is two-sided against zero. nan if there is no interval; a warning gives the reason.
    differences, difference_lows, difference_highs, difference_pvalues
        (m, m): row minus column; the one-sided p is small where the row is better.
    n
        Cells, or systems where each has one score.
    n_segments, n_systems
        Segments and systems that carry information.
    unit, n_units
        What is independent, ``documents``, ``segments`` or ``systems``, and how many carry
        information.
    n_effective
        The effective number of units, (sum n)^2 / sum n^2: below ``n_units`` where documents
        differ in size.
    method, question
        How the interval is computed, and which part of the data it takes to be new.
    sides
        What documents, or other clusters, add to the errors of the values; empty if there is no
        interval, and over systems.
    """

    metrics: tuple[str, ...]
    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    pvalues: FloatArray
    differences: FloatArray
    difference_lows: FloatArray
    difference_highs: FloatArray
    difference_pvalues: FloatArray
    n_segments: int
    n_systems: int
    unit: str
    n_units: int
    n_effective: float
    method: Message
    question: Message
    confidence: float
    sides: Sequence[Side] = ()

    def ordered(self, names: Sequence[str]) -> CorrelationIntervals:
        """Return the same with the metrics in another order."""
        order = [self.metrics.index(name) for name in names]
        rows = {name: getattr(self, name)[order] for name in VALUES}
        tables = {name: getattr(self, name)[np.ix_(order, order)] for name in DIFFERENCES}
        sides = [side.at(order) for side in self.sides]
        return replace(self, metrics=tuple(names), sides=sides, **rows, **tables)


def spread(sides: Sequence[Side], *, is_cautious: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return standard errors and degrees of freedom: the sum over sides, by Satterthwaite.

    With ``is_cautious`` a side has as many degrees of freedom as it has effective clusters.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        variances = np.array(
            [(s.parts**2).sum(axis=1) * s.counts / (s.counts - 1.0) for s in sides]
        )
        freedom = np.array(
            [np.fmax(s.effective - 1.0, 1.0) if is_cautious else s.counts - 1.0 for s in sides]
        )
        total = variances.sum(axis=0)
        df = total**2 / (variances**2 / freedom).sum(axis=0)
    return np.sqrt(total), np.where(np.isfinite(df), df, freedom.min(axis=0))


def t_fields(
    values: FloatArray,
    sides: Sequence[Side],
    *,
    confidence: float,
    scale: str = Z,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> dict[str, Any]:
    """Return values, intervals and p-values as fields of `CorrelationIntervals`.

    On the ``z`` scale an interval is tanh(atanh r +- q se/(1-r^2)), on the ``plain`` one r +- q se
    within ``bounds``; differences are on the plain scale.
    """
    se, df = spread(sides)
    quantile = stdtrit(df, 0.5 + confidence / 2.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        if scale == Z:
            centre = np.arctanh(np.where(np.abs(values) < 1.0, values, np.nan))
            width = se / (1.0 - values**2)
            lows, highs = (np.tanh(centre + sign * quantile * width) for sign in (-1.0, 1.0))
        else:
            centre, width = values, se
            lows, highs = (np.clip(values + s * quantile * se, *bounds) for s in (-1.0, 1.0))
        pvalues = np.where(width > SAME, 2.0 * stdtr(df, -np.abs(centre / width)), np.nan)
    known = {"values": values, "lows": lows, "highs": highs, "pvalues": pvalues, "sides": sides}
    return known | difference_fields(values, sides, confidence)


def difference_fields(
    values: FloatArray, sides: Sequence[Side], confidence: float
) -> dict[str, Any]:
    """Return all differences with t intervals and one-sided p, row minus column."""
    m = len(values)
    tables = {name: np.full((m, m), np.nan) for name in DIFFERENCES}
    for row in range(m):
        gaps = values[row] - values
        gaps[np.abs(gaps) <= SAME] = 0.0
        se, df = spread([side.minus(row) for side in sides])
        half = stdtrit(df, 0.5 + confidence / 2.0) * se
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(se > SAME, gaps / se, np.where(gaps == 0.0, 0.0, np.nan))
        found = (gaps, gaps - half, gaps + half, stdtr(df, -t))
        for table, column in zip(tables.values(), found, strict=True):
            table[row] = column
            table[row, row] = np.nan
    return tables


def cautious_pvalues(values: FloatArray, sides: Sequence[Side]) -> tuple[FloatArray, FloatArray]:
    """Return one-sided p of m values above 0, (m,), and of all differences, row minus column.

    The degrees of freedom are the effective clusters less one (Carter, Schnepel and Steigerwald
    2017): a few clusters with heavy errors make t look more certain than it is.
    """
    around = [replace(s, parts=np.vstack([s.parts, np.zeros_like(s.parts[:1])]),
                      counts=np.append(s.counts, np.inf)) for s in sides]  # fmt: skip
    every = np.append(values, 0.0)
    rows = []
    for row, value in enumerate(every):
        se, df = spread([side.minus(row) for side in around], is_cautious=True)
        gaps = np.where(np.abs(value - every) <= SAME, 0.0, value - every)
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(se > SAME, gaps / se, np.where(gaps == 0.0, 0.0, np.nan))
        rows.append(np.where(np.arange(len(every)) == row, np.nan, stdtr(df, -t)))
    table = np.array(rows)
    return table[:-1, -1], table[:-1, :-1]


def without_intervals(values: FloatArray) -> dict[str, Any]:
    """Return the same fields where there is too little for an interval: values and differences."""
    m = len(values)
    rows = {name: np.full(m, np.nan) for name in VALUES[1:]}
    tables = {name: np.full((m, m), np.nan) for name in DIFFERENCES[1:]}
    return {"values": values, "differences": differences_of(values)} | rows | tables
