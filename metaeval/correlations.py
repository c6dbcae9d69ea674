"""Correlation of two score vectors or of two systems x segments matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_pair, one_of
from metaeval.correlation_intervals import pooled_interval
from metaeval.fisher import fisher_interval, independent_pvalue
from metaeval.jackknife import METHODS, Rows, interval_over_systems, rows_of
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    Notes,
    StatisticResult,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.rowwise import row_kendall, row_pearson, row_spearman
from metaeval.scores import ScoreMatrix, align
from metaeval.system_scores import system_scores

Scores: TypeAlias = ScoreMatrix | ArrayLike
GROUPINGS = ("none", "item", "system")


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
        95 % interval and two-sided p against zero; None unless ungrouped. Of vectors Fisher's; of
        matrices, whose outputs of one segment hang together, `correlation_intervals`' for the
        same systems on new segments; over systems the jackknife's.
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
    DependentDataWarning
        Fewer than 20 segments of several systems: no interval and no p.

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
    label = f"Kendall's tau-{variant}"
    return _correlate(x, y, "kendall", label, grouping, rows, variant=variant)


def correlation_alone(
    x: Scores, y: Scores, method: str, *, variant: str = "b", grouping: str = "none"
) -> Correlation:
    """The same as `pearson`, `spearman` or `kendall`, without interval and p: a part of the time.

    Examples
    --------
    >>> correlation_alone([1, 2, 2, 3], [1, 2, 3, 3], "kendall").interval is None
    True
    """
    label = f"{_LABELS[method]}-{variant}" if method == "kendall" else _LABELS[method]
    rows = rows_of(method, variant)
    return _correlate(x, y, method, label, grouping, rows, has_interval=False)


def system_correlation(
    human: Scores,
    metric: Scores,
    *,
    method: str = "pearson",
    variant: str = "b",
    cells: str = "common",
) -> Correlation:
    """Correlate system scores: one number per system on each side.

    The interval is the jackknife's over systems with t, from 6 systems (`jackknife_interval`).

    Parameters
    ----------
    human, metric
        Vectors of system scores, or `ScoreMatrix`, matched by name.
    method
        ``pearson``, ``spearman`` or ``kendall`` (with ``variant``).
    cells
        Of matrices, ``common``: both sides are averaged over the segments that both have of a
        system, as everywhere in this package; ``own``: each side over the segments *it* has, as
        mt-metrics-eval does.

    Warns
    -----
    MissingDataWarning
        Cells of one side alone were left out.
    TooFewWarning
        Fewer than six systems: no interval. Any two systems correlate at +-1.

    Examples
    --------
    >>> human = ScoreMatrix([[1, 2], [3, 4], [5, 5]], ["A", "B", "C"], ["s1", "s2"])
    >>> metric = ScoreMatrix([[0, 1], [1, 1], [4, 4]], ["A", "B", "C"], ["s1", "s2"])
    >>> round(system_correlation(human, metric).statistic, 4)
    0.89
    """
    one_of("method", method, METHODS)
    one_of("cells", cells, ("common", "own"))
    notes = Notes()
    if isinstance(human, ScoreMatrix) and isinstance(metric, ScoreMatrix):
        x, y = system_sides(human, metric, cells, notes)
    else:
        x, y = _vectors(human, metric)
    return _correlate(
        x, y, method, f"system-level {_LABELS[method]}", "none", rows_of(method, variant), notes
    )


def system_sides(
    human: ScoreMatrix, metric: ScoreMatrix, cells: str, notes: Notes
) -> tuple[FloatArray, FloatArray]:
    """Return both sides' scores of the systems that both have; says what is left out."""
    names = [name for name in human.systems if name in metric.systems]
    strangers = len(human.systems) + len(metric.systems) - 2 * len(names)
    _note(notes, "system on one side only", strangers)
    ours, theirs = human.subset(systems=names), metric.subset(systems=names)
    if cells == "own":
        return ours.system_means(), theirs.system_means()
    n = int(ours.mask.sum()) + int(theirs.mask.sum())
    ours, theirs = align(ours, theirs)
    both = ours.mask & theirs.mask
    _note(notes, "score of a cell that the other side lacks", n - 2 * int(both.sum()))
    return system_scores(ours.values, both), system_scores(theirs.values, both)


def _correlate(
    x: Scores,
    y: Scores,
    method: str,
    label: str,
    grouping: str,
    rows: Rows,
    notes: Notes | None = None,
    variant: str = "b",
    has_interval: bool = True,
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
    plain = grouping == "none" and has_interval
    if not plain:
        interval, pvalue = None, None
    elif is_system_level:
        interval, pvalue = interval_over_systems(left[0], right[0], rows, notes)
    elif isinstance(x, ScoreMatrix) and isinstance(y, ScoreMatrix) and min(len(x.systems), n) > 1:
        interval, pvalue = pooled_interval(x, y, method, variant, notes)
    else:
        interval = fisher_interval(statistic, n, method)
        pvalue = independent_pvalue(statistic, left, right, method)
    return Correlation(
        n=n,
        reasons=notes.reasons,
        warnings=notes.warnings,
        statistic=statistic,
        method=label,
        interval=interval,
        pvalue=pvalue,
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


def _note(notes: Notes, reason: str, count: int) -> None:
    notes.exclude(reason, count)
    if count:
        notes.warn(MissingDataWarning(f"{count} left out: {reason}."))


_LABELS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau"}
