"""Correlation of two score vectors or of two systems x segments matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, as_pair, mean, one_of
from metaeval.correlation.intervals.crossed import pooled_interval
from metaeval.correlation.intervals.independent import fisher_interval, independent_pvalue
from metaeval.correlation.intervals.jackknife import interval_over_systems
from metaeval.correlation.measure import FEWEST_SYSTEMS, GROUPINGS, SYSTEM_LEVEL, Measure
from metaeval.correlation.panel import ONE_SIDE_CONSTANT, common_documents
from metaeval.correlation.rows import kendall_test
from metaeval.documents import DOCUMENTS, clusters_from, unit_of
from metaeval.messages import data_error, message, plural
from metaeval.results import (
    ConstantInputWarning,
    Interval,
    Notes,
    StatisticResult,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.rounding import largest
from metaeval.scores.corpus import system_scores
from metaeval.scores.matrix import ScoreMatrix, align

Scores: TypeAlias = ScoreMatrix | ArrayLike


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
        95% interval and two-sided p-value of the null hypothesis 0; None if grouped. For vectors
        Fisher's; for
        matrices, whose outputs of one segment or document depend on each other,
        `correlation_intervals`' for the same systems on new documents; over systems the
        jackknife's.
    unit, n_units
        What the interval takes to be independent (``documents``, ``segments``, ``systems`` or
        ``pairs`` of two vectors), and how many there are.
    """

    grouping: str
    groups: tuple[str, ...]
    group_values: FloatArray
    unit: str = "pairs"
    n_units: int = 0


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
        Groups or cells were excluded.
    DependentDataWarning
        Fewer than 20 segments of several systems: no interval and no p.
    TooFewWarning
        Fewer than 6 documents: no interval and no p; fewer than 20: they are approximate.

    Examples
    --------
    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 5]).statistic, 4)
    0.8315
    """
    return correlate(x, y, Measure("pearson", grouping))


def spearman(x: Scores, y: Scores, *, grouping: str = "none") -> Correlation:
    """Spearman's rho: Pearson's r of the average ranks. Parameters as for `pearson`.

    Examples
    --------
    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 5]).statistic, 4)
    0.8
    """
    return correlate(x, y, Measure("spearman", grouping))


def kendall(x: Scores, y: Scores, *, variant: str = "b", grouping: str = "none") -> Correlation:
    """Kendall's tau-b (default) or tau-c (Stuart). Other parameters as for `pearson`.

    tau-b = (C - D) / sqrt((C+D+T_x)(C+D+T_y)); tau-c = 2 (C - D) / (n^2 (m-1)/m) with m the
    smaller number of distinct values. Either is nan where a side is constant.

    Examples
    --------
    >>> round(kendall([1, 2, 2, 3], [1, 2, 3, 3]).statistic, 4)
    0.8
    """
    return correlate(x, y, Measure("kendall", grouping, variant))


def correlate(
    x: Scores, y: Scores, measure: Measure | str, *, has_interval: bool = True
) -> Correlation:
    """The same by a measure; without interval and p it takes a part of the time.

    Examples
    --------
    >>> correlate([1, 2, 2, 3], [1, 2, 3, 3], "kendall", has_interval=False).interval is None
    True
    """
    measure, notes = Measure.plain(measure), Notes()
    one_of("grouping", measure.grouping, GROUPINGS)
    left, right, groups = _grouped(x, y, measure.grouping, notes)
    pvalue, values = np.nan, None
    if measure.correlation == "kendall" and measure.grouping == "none":
        tau, pvalue = kendall_test(left[0], right[0], measure.variant)
        values = np.array([tau])
    found = _found(left, right, groups, measure, notes, values)
    if measure.grouping != "none" or not has_interval:
        return replace(found, warnings=notes.warnings)
    if isinstance(x, ScoreMatrix) and isinstance(y, ScoreMatrix) and found.n > 1:
        x, y = align(x, y)
        if (
            x.shape[0] > 1
            or unit_of(clusters_from(common_documents((x, y)), x.shape[1])) == DOCUMENTS
        ):
            pooled = pooled_interval(x, y, measure, notes)
            return replace(found, alternative="two-sided", warnings=notes.warnings, **pooled)
    interval = fisher_interval(found.statistic, found.n, measure.correlation)
    if measure.correlation != "kendall":
        pvalue = independent_pvalue(found.statistic, found.n)
    return _tested(found, interval, pvalue, notes)


def system_correlation(
    human: Scores, metric: Scores, measure: Measure | str = "pearson", *, cells: str = "common"
) -> Correlation:
    """Correlate system scores: one number per system on each side.

    The interval is the jackknife's over systems with t, from 6 systems (`jackknife_interval`).

    Parameters
    ----------
    human, metric
        Vectors of system scores, or `ScoreMatrix`, matched by name. Scores that are the
        same but for rounding (beyond some 12 digits of the largest) are equal.
    measure
        ``pearson``, ``spearman``, ``kendall``, or a `Measure` of one of them.
    cells
        Of matrices, ``common``: both sides are averaged over the segments that both have of a
        system, as everywhere in this package; ``own``: each side over the segments *it* has, as
        mt-metrics-eval does.

    Warns
    -----
    MissingDataWarning
        Cells that only one side has were excluded.
    TooFewWarning
        Fewer than six systems: no interval. Fewer than three: no correlation, because any two
        correlate at +-1.

    Examples
    --------
    >>> human = ScoreMatrix([[1, 2], [3, 4], [5, 5]], ["A", "B", "C"], ["s1", "s2"])
    >>> metric = ScoreMatrix([[0, 1], [1, 1], [4, 4]], ["A", "B", "C"], ["s1", "s2"])
    >>> round(system_correlation(human, metric).statistic, 4)
    0.89
    """
    measure, notes = Measure.plain(measure), Notes()
    one_of("cells", cells, ("common", "own"))
    if isinstance(human, ScoreMatrix) and isinstance(metric, ScoreMatrix):
        x, y = system_sides(human, metric, cells, measure, notes)
    else:
        x, y = map(measure.round_to_ties, _vectors(human, metric))
    found = _found(x[None], y[None], ("all",), replace(measure, grouping=SYSTEM_LEVEL), notes)
    return _tested(found, *interval_over_systems(x, y, measure, notes), notes)


def system_sides(
    human: ScoreMatrix, metric: ScoreMatrix, cells: str, measure: Measure, notes: Notes
) -> tuple[FloatArray, FloatArray]:
    """Return rounded scores of the systems that both sides have; exclude and count the others."""
    names = [name for name in human.systems if name in metric.systems]
    strangers = len(human.systems) + len(metric.systems) - 2 * len(names)
    notes.exclude_missing(
        plural(
            "correlation.unmatched-systems",
            "Excluded {n} system that only one side has.",
            "Excluded {n} systems that only one side has.",
            n=strangers,
        )
    )
    ours, theirs = human.subset(systems=names), metric.subset(systems=names)
    if cells == "own":
        return _means(ours, ours.mask, measure), _means(theirs, theirs.mask, measure)
    n = int(ours.mask.sum()) + int(theirs.mask.sum())
    ours, theirs = align(ours, theirs)
    both = ours.mask & theirs.mask
    notes.exclude_missing(
        plural(
            "correlation.unmatched-scores",
            "Excluded {n} score of an output that the other side does not score.",
            "Excluded {n} scores of outputs that the other side does not score.",
            n=n - 2 * int(both.sum()),
        )
    )
    return _means(ours, both, measure), _means(theirs, both, measure)


def _means(scores: ScoreMatrix, cells: BoolArray, measure: Measure) -> FloatArray:
    size = largest(scores.values[cells])
    return measure.round_to_ties(system_scores(scores.values, cells), size)


def _found(
    left: FloatArray,
    right: FloatArray,
    groups: tuple[str, ...],
    measure: Measure,
    notes: Notes,
    values: FloatArray | None = None,
) -> Correlation:
    """Return the value of groups x members without interval and p, from those of groups."""
    valid = ~(np.isnan(left) | np.isnan(right))
    neither = int((np.isnan(left) & np.isnan(right)).sum())
    notes.exclude("missing-on-both-sides", neither)
    notes.exclude_missing(
        plural(
            "correlation.missing-on-one-side",
            "Excluded {n} score pair with a missing score on one side.",
            "Excluded {n} score pairs with a missing score on one side.",
            n=int((~valid).sum()) - neither,
        )
    )
    is_of_systems = measure.grouping == SYSTEM_LEVEL
    if values is None:
        values = (measure.over_systems if is_of_systems else measure.rows)(left, right)
    grouping = "none" if is_of_systems else measure.grouping
    return Correlation(
        n=int(valid.sum()),
        statistic=_summarise(valid, values, measure.grouping, notes),
        reasons=notes.reasons,
        method=f"{SYSTEM_LEVEL} {measure.name}" if is_of_systems else measure.name,
        grouping=grouping,
        groups=groups,
        group_values=values,
        unit="systems" if is_of_systems else "pairs",
        n_units=int(valid.sum()),
    )


def _tested(found: Correlation, interval: Interval, pvalue: float, notes: Notes) -> Correlation:
    return replace(
        found,
        interval=interval,
        pvalue=pvalue,
        alternative="two-sided",
        warnings=notes.warnings,
    )


def _grouped(
    x: Scores, y: Scores, grouping: str, notes: Notes
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return groups x members arrays and the groups' names."""
    if isinstance(x, ScoreMatrix) and isinstance(y, ScoreMatrix):
        left, right = align(x, y)
        lost = x.values.size + y.values.size - 2 * left.values.size
        notes.exclude_missing(
            plural(
                "correlation.unmatched-cells",
                "Excluded {n} output whose system or segment only one side has.",
                "Excluded {n} outputs whose system or segment only one side has.",
                n=lost,
            )
        )
        if grouping == "item":
            return left.values.T, right.values.T, left.segments
        if grouping == "system":
            return left.values, right.values, left.systems
        return left.values.reshape(1, -1), right.values.reshape(1, -1), ("all",)
    first, second = _vectors(x, y)
    if grouping != "none":
        raise data_error(
            "argument.no-grid", "Grouping “{grouping}” needs score matrices, not vectors.",
            grouping=grouping,
        )  # fmt: skip
    return first[None, :], second[None, :], ("all",)


def _vectors(x: Scores, y: Scores) -> tuple[FloatArray, FloatArray]:
    if isinstance(x, ScoreMatrix) or isinstance(y, ScoreMatrix):
        raise data_error(
            "argument.grids", "{names}: give vectors or score matrices, not both.",
            names=["x", "y"],
        )  # fmt: skip
    return as_pair("x", x, "y", y)


def _summarise(valid: BoolArray, values: FloatArray, grouping: str, notes: Notes) -> float:
    if grouping not in ("none", SYSTEM_LEVEL):
        judged = valid.any(axis=1)
        undefined = int((judged & np.isnan(values)).sum())
        if undefined:
            notes.warn(
                UndefinedGroupWarning(
                    message(
                        "correlation.undefined-systems",
                        "The mean excludes {n} of {all} systems, which have a single score or "
                        "equal scores on one side.",
                        n=undefined,
                        all=int(judged.sum()),
                    )
                    if grouping == "system"
                    else message(
                        "correlation.undefined-segments",
                        "The mean excludes {n} of {all} segments, which have a single score or "
                        "equal scores on one side.",
                        n=undefined,
                        all=int(judged.sum()),
                    )
                )
            )
    if np.isnan(values).all():
        n = int(valid.sum())
        if n < FEWEST_SYSTEMS and grouping == SYSTEM_LEVEL:
            return np.nan  # `interval_over_systems` warns of it.
        if n < 2:
            notes.warn(
                TooFewWarning(
                    plural(
                        "correlation.few-pairs",
                        "There is only {n} complete score pair. A correlation needs at least two.",
                        "There are {n} complete score pairs. A correlation needs at least two.",
                        n=n,
                    )
                )
            )
        else:
            notes.warn(ConstantInputWarning(ONE_SIDE_CONSTANT))
    return mean(values)
