"""Correlation of two score vectors or of two systems x segments matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_pair, one_of
from metaeval.results import (
    ConstantInputWarning,
    Interval,
    MissingDataWarning,
    Notes,
    StatisticResult,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.rowwise import row_kendall, row_pearson, row_spearman
from metaeval.scores import ScoreMatrix, align

Scores: TypeAlias = ScoreMatrix | ArrayLike
GROUPINGS = ("none", "item", "system")
METHODS = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, kw_only=True, eq=False)
class Correlation(StatisticResult):
    """A correlation.

    Attributes
    ----------
    n
        Cells (pairs of scores) used; for `system_correlation`, systems.
    grouping
        ``none``: all cells as one vector; ``item``: one correlation per segment over its
        systems, then the mean; ``system``: one per system over its segments, then the mean.
    group_values, groups
        The correlation of each group (nan where undefined) and its name.
    interval, pvalue
        Fisher's 95 % interval and the two-sided p against zero; None unless ungrouped.
    """

    grouping: str
    groups: tuple[str, ...]
    group_values: FloatArray


def pearson(x: Scores, y: Scores, *, grouping: str = "none") -> Correlation:
    """Pearson's r of two vectors or of two score matrices.

    Parameters
    ----------
    x, y
        Vectors of one length, or two `ScoreMatrix` (aligned by name, their common systems and
        segments). Pairs with a nan are dropped and counted.
    grouping
        ``none``, ``item`` or ``system``; the last two need matrices.

    Warns
    -----
    ConstantInputWarning, TooFewWarning
        The statistic is nan.
    UndefinedGroupWarning, MissingDataWarning
        Groups or cells were left out.

    Examples
    --------
    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 5]).statistic, 4)
    0.8315
    """
    return _correlate(x, y, "pearson", "Pearson's r", grouping, row_pearson)


def spearman(x: Scores, y: Scores, *, grouping: str = "none") -> Correlation:
    """Spearman's rho: Pearson's r of the average ranks. Parameters as for `pearson`.

    Examples
    --------
    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 5]).statistic, 4)
    0.8
    """
    return _correlate(x, y, "spearman", "Spearman's rho", grouping, row_spearman)


def kendall(x: Scores, y: Scores, *, variant: str = "b", grouping: str = "none") -> Correlation:
    """Kendall's tau-b (default) or tau-c (Stuart). Other parameters as for `pearson`.

    tau-b = (C - D) / sqrt((C+D+T_x)(C+D+T_y)); tau-c = 2 (C - D) / (n^2 (m-1)/m) with m the
    smaller number of distinct values. Either is nan where a side is constant.

    Examples
    --------
    >>> round(kendall([1, 2, 2, 3], [1, 2, 3, 3]).statistic, 4)
    0.8
    """
    one_of("variant", variant, ("b", "c"))
    rows = partial(row_kendall, variant=variant)
    return _correlate(x, y, "kendall", f"Kendall's tau-{variant}", grouping, rows)


def system_correlation(
    human: Scores, metric: Scores, *, method: str = "pearson", variant: str = "b"
) -> Correlation:
    """Correlate system scores: one number per system on each side.

    Parameters
    ----------
    human, metric
        Vectors of system scores, or `ScoreMatrix`: then each side is averaged over the segments
        *it* has (nan-mean, as mt-metrics-eval does), and systems are matched by name.
    method
        ``pearson``, ``spearman`` or ``kendall`` (with ``variant``).

    Warns
    -----
    TooFewWarning
        Fewer than three systems: any two systems correlate at +-1.

    Examples
    --------
    >>> human = ScoreMatrix([[1, 2], [3, 4], [5, 5]], ["A", "B", "C"], ["s1", "s2"])
    >>> metric = ScoreMatrix([[0, 1], [1, 1], [4, 4]], ["A", "B", "C"], ["s1", "s2"])
    >>> round(system_correlation(human, metric).statistic, 4)
    0.89
    """
    one_of("method", method, METHODS)
    notes = Notes()
    if isinstance(human, ScoreMatrix) and isinstance(metric, ScoreMatrix):
        names = [name for name in human.systems if name in metric.systems]
        strangers = len(human.systems) + len(metric.systems) - 2 * len(names)
        _note(notes, "system on one side only", strangers)
        x = human.subset(systems=names).system_means()
        y = metric.subset(systems=names).system_means()
    else:
        x, y = _vectors(human, metric)
    result = _correlate(
        x, y, method, f"system-level {_LABELS[method]}", "none", _rows(method, variant), notes
    )
    return result


def _correlate(
    x: Scores,
    y: Scores,
    method: str,
    label: str,
    grouping: str,
    rows: Callable[[FloatArray, FloatArray], FloatArray],
    notes: Notes | None = None,
) -> Correlation:
    one_of("grouping", grouping, GROUPINGS)
    is_system_level = notes is not None
    notes = notes or Notes()
    left, right, groups = _grouped(x, y, grouping, notes)
    valid = ~(np.isnan(left) | np.isnan(right))
    neither = int((np.isnan(left) & np.isnan(right)).sum())
    notes.exclude("score missing on both sides", neither)
    _note(notes, "score missing on one side", int((~valid).sum()) - neither)
    values = rows(left, right)
    statistic = _summarise(left, right, values, grouping, notes)
    n = int(valid.sum())
    if is_system_level and n < 3:
        notes.warn(TooFewWarning(f"{n} systems: a correlation over fewer than three says nothing."))
    plain = grouping == "none"
    return Correlation(
        n=n,
        reasons=notes.reasons,
        warnings=notes.warnings,
        statistic=statistic,
        method=label,
        interval=_fisher_interval(statistic, n, method) if plain else None,
        pvalue=_pvalue(statistic, left, right, method) if plain else None,
        alternative="two-sided" if plain else None,
        grouping=grouping,
        groups=groups,
        group_values=values,
    )


def _grouped(
    x: Scores, y: Scores, grouping: str, notes: Notes
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return groups x members arrays and the groups' names."""
    if isinstance(x, ScoreMatrix) and isinstance(y, ScoreMatrix):
        left, right = align(x, y)
        lost = x.values.size + y.values.size - 2 * left.values.size
        _note(notes, "cell of a system or segment on one side only", lost)
        if grouping == "item":
            return left.values.T, right.values.T, left.segments
        if grouping == "system":
            return left.values, right.values, left.systems
        return left.values.reshape(1, -1), right.values.reshape(1, -1), ("all",)
    first, second = _vectors(x, y)
    if grouping != "none":
        raise ValueError(f"grouping: {grouping!r} needs two ScoreMatrix, got vectors")
    return first[None, :], second[None, :], ("all",)


def _vectors(x: Scores, y: Scores) -> tuple[FloatArray, FloatArray]:
    if isinstance(x, ScoreMatrix) or isinstance(y, ScoreMatrix):
        raise ValueError("x and y: give two vectors or two ScoreMatrix, not one of each")
    return as_pair("x", x, "y", y)


def _summarise(
    left: FloatArray, right: FloatArray, values: FloatArray, grouping: str, notes: Notes
) -> float:
    defined = ~np.isnan(values)
    if grouping != "none":
        judged = (~(np.isnan(left) | np.isnan(right))).any(axis=1)
        undefined = int((judged & ~defined).sum())
        if undefined:
            notes.warn(
                UndefinedGroupWarning(
                    f"{undefined} of {int(judged.sum())} groups ({grouping}) have one score or a "
                    "constant side; the mean leaves them out."
                )
            )
    if defined.any():
        return float(values[defined].mean())
    n = int((~(np.isnan(left) | np.isnan(right))).sum())
    if n < 2:
        notes.warn(TooFewWarning(f"{n} complete pairs: a correlation needs two."))
    else:
        notes.warn(ConstantInputWarning("One side is constant: the correlation is undefined."))
    return np.nan


def _fisher_interval(r: float, n: int, method: str) -> Interval:
    """Fisher's z interval; standard errors of Bonett and Wright (2000)."""
    spare = n - (4 if method == "kendall" else 3)
    if not abs(r) < 1.0 or spare <= 0:
        return Interval(np.nan, np.nan, 0.95)
    variance = {"pearson": 1.0, "spearman": 1.0 + r * r / 2.0, "kendall": 0.437}[method] / spare
    half = 1.959963984540054 * np.sqrt(variance)
    return Interval(
        float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half)), 0.95
    )


def _pvalue(r: float, left: FloatArray, right: FloatArray, method: str) -> float:
    """Two-sided p against zero: t for r and rho, the tie-corrected normal for tau."""
    from scipy.special import stdtr

    valid = ~(np.isnan(left) | np.isnan(right))
    n = int(valid.sum())
    if np.isnan(r) or n < 3:
        return np.nan
    if method == "kendall":
        from scipy.stats import kendalltau

        return float(kendalltau(left[valid], right[valid]).pvalue)
    if abs(r) == 1.0:
        return 0.0
    return float(2.0 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1.0 - r * r))))


def _rows(method: str, variant: str) -> Callable[[FloatArray, FloatArray], FloatArray]:
    one_of("variant", variant, ("b", "c"))
    if method == "kendall":
        return partial(row_kendall, variant=variant)
    return row_pearson if method == "pearson" else row_spearman


def _note(notes: Notes, reason: str, count: int) -> None:
    notes.exclude(reason, count)
    if count:
        notes.warn(MissingDataWarning(f"{count} left out: {reason}."))


_LABELS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau"}
