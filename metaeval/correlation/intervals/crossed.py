"""Intervals of correlations over systems x segments, clustered by document or by segment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray, fraction, mean, one_of
from metaeval.correlation.intervals.clustered import (
    PLAIN,
    CorrelationIntervals,
    Side,
    Z,
    t_fields,
    without_intervals,
)
from metaeval.correlation.intervals.influence import accuracy_influence, influence_of
from metaeval.correlation.measure import COEFFICIENTS, GROUPINGS, OF_PAIRS, Measure
from metaeval.correlation.panel import Panel, common_documents, constant, grouped, panel
from metaeval.correlation.ties import MAX_POOLED_CELLS, pair_table
from metaeval.documents import (
    DOCUMENTS,
    effective_clusters,
    effective_units,
    has_enough_documents,
    sizes_of,
    sum_by,
    unit_of,
)
from metaeval.messages import Message, data_error, message, plural
from metaeval.results import (
    ConstantInputWarning,
    DependentDataWarning,
    Interval,
    Notes,
    TooFewWarning,
)
from metaeval.scores.matrix import ScoreMatrix

FEWEST_SEGMENTS, FEWEST_SYSTEMS = 20, 5
# For the mean of each system's r: with 20 segments its 95% interval covers 91% of the time.
FEWEST_BY_SYSTEM = 30
SEGMENTS, SYSTEMS = "segments", "systems"
# What the interval takes to be new, by target and by unit.
QUESTIONS = {
    (SEGMENTS, SEGMENTS): message("interval.new-segments", "same systems, new segments"),
    (SEGMENTS, DOCUMENTS): message("interval.new-documents", "same systems, new documents"),
    (SYSTEMS, SEGMENTS): message(
        "interval.new-systems-and-segments", "new systems and new segments"
    ),
    (SYSTEMS, DOCUMENTS): message(
        "interval.new-systems-and-documents", "new systems and new documents"
    ),
}


def correlation_intervals(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    measure: Measure | str = "pearson",
    *,
    target: str = SEGMENTS,
    confidence: float = 0.95,
) -> CorrelationIntervals:
    """Correlate metrics with humans over cells; intervals clustered by document.

    Outputs of one segment share its difficulty and segments of one document its style and topic,
    so cells are not independent and Fisher's interval is too narrow. Each cell's influence on the
    correlation is summed by document, V = N/(N-1) sum_d (sum_{j in d} sum_s I_sj)^2 / n^2, t with
    N - 1 degrees of freedom, on the z scale (Cameron and Miller 2015). N is the number of
    documents, of unequal ones the effective number (sum n)^2 / sum n^2 (Carter, Schnepel and
    Steigerwald 2017). By item the deviations of the segments' own values are summed alike. Where
    no document has two segments N counts segments; `ScoreMatrix.by_segment` asks for that.

    Parameters
    ----------
    human, metrics
        Matched by names, on the cells that the humans and every metric have.
    measure
        ``pearson``, ``spearman``, ``kendall`` or ``acc_eq``, by ``none``, ``item`` or ``system``,
        or ``kendall_like`` by ``item``. A calibrated threshold of acc_eq is taken as given.
    target
        ``segments``: the same systems on new documents, or segments. ``systems``: new systems too,
        V_sys + V_doc with Satterthwaite's degrees of freedom (grouping ``none`` only).

    Warns
    -----
    TooFewWarning
        Fewer than 20 segments (30 by system), 6 documents, or 5 systems where those are new: no
        interval. Fewer than 20 documents, or as few of equal size: it is approximate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(3, 40)) + rng.normal(size=40)
    >>> human = ScoreMatrix(scores, "ABC", map(str, range(40)))
    >>> metric = human.with_values(scores + rng.normal(size=(3, 40)))
    >>> found = correlation_intervals(human, {"m": metric})
    >>> [round(float(part[0]), 2) for part in (found.values, found.lows, found.highs)]
    [0.75, 0.63, 0.84]
    """
    measure = Measure.of(measure)
    correlation, grouping = measure.correlation, measure.grouping
    one_of("measure", correlation, (*COEFFICIENTS, *OF_PAIRS))
    one_of("grouping", grouping, ("item",) if correlation == "kendall_like" else GROUPINGS)
    one_of("target", target, (SEGMENTS, SYSTEMS))
    fraction("confidence", confidence)
    if target == SYSTEMS and (grouping != "none" or correlation == "acc_eq"):
        raise data_error(
            "argument.new-systems",
            "Only ungrouped correlations have an interval for new systems; acc-eq has none.",
        )
    notes = Notes()
    scores = panel(human, metrics, notes)
    if correlation == "acc_eq" and grouping == "none" and scores.n > MAX_POOLED_CELLS:
        raise data_error(
            "data.too-many-cells",
            "Without groups, at most {limit} outputs can be compared; there are {n}. Group "
            "by item.",
            limit=MAX_POOLED_CELLS,
            n=scores.n,
        )
    errors = _Errors(scores, measure)
    clusters, n_systems = errors.clusters(), errors.n_systems
    values = errors.values
    for name, value, metric in zip(scores.names, values, scores.metrics, strict=True):
        # Without a pair beyond its threshold, daRR τ is undefined for any metric.
        is_constant = correlation != "kendall_like" or not np.ptp(metric[scores.valid])
        if np.isnan(value) and is_constant:
            notes.warn(ConstantInputWarning(constant(name)))
    fewest = FEWEST_BY_SYSTEM if grouping == "system" else FEWEST_SEGMENTS
    if is_enough(clusters, n_systems, target, notes, fewest):
        scale = PLAIN if grouping == "item" or correlation == "acc_eq" else Z
        bounds = (0.0, 1.0) if correlation == "acc_eq" else (-1.0, 1.0)
        sides = errors.sides(target)
        found = t_fields(values, sides, confidence=confidence, scale=scale, bounds=bounds)
    else:
        found = without_intervals(values)
    if correlation == "acc_eq":
        found["pvalues"] = np.full(len(values), np.nan)
    return CorrelationIntervals(
        n=scores.n,
        **notes.fields,
        metrics=scores.names,
        n_segments=len(clusters),
        n_systems=n_systems,
        unit=unit_of(clusters),
        n_units=len(np.unique(clusters)),
        n_effective=effective_clusters(sizes_of(clusters)),
        method=_method(grouping, target, clusters, n_systems),
        question=QUESTIONS[target, unit_of(clusters)],
        confidence=confidence,
        **found,
    )


def pooled_interval(
    human: ScoreMatrix,
    metric: ScoreMatrix,
    measure: Measure,
    notes: Notes,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return interval, two-sided p, unit and its count of a pooled correlation of two matrices.

    The matrices have the same systems and segments; the interval is for the same systems.

    nan with a `DependentDataWarning` where there are too few segments, or a `TooFewWarning` where
    there are too few documents.
    """
    valid = human.mask & metric.mask
    z, x = (np.where(valid, each.values, np.nan) for each in (human, metric))
    documents = common_documents((human, metric))
    scores = Panel(z, x[None], valid, ("metric",), human.systems, human.segments, documents)
    clusters = scores.clusters[valid.any(axis=0)]
    n = len(clusters)
    units = {"unit": unit_of(clusters), "n_units": len(np.unique(clusters))}
    nothing = units | {"interval": Interval(np.nan, np.nan, confidence), "pvalue": np.nan}
    if n < FEWEST_SEGMENTS:
        notes.warn(
            DependentDataWarning(
                plural(
                    "interval.few-dependent-segments",
                    "There is only {n} segment. Outputs of one segment depend on each other, and "
                    "an interval that takes this into account needs at least {fewest} segments.",
                    "There are only {n} segments. Outputs of one segment depend on each other, and "
                    "an interval that takes this into account needs at least {fewest} segments.",
                    n=n,
                    fewest=FEWEST_SEGMENTS,
                )
            )
        )
        return nothing
    if not has_enough_documents(clusters, notes):
        return nothing
    errors = _Errors(scores, measure)
    found = t_fields(errors.values, errors.sides(SEGMENTS), confidence=confidence)
    ends = float(found["lows"][0]), float(found["highs"][0])
    return units | {"interval": Interval(*ends, confidence), "pvalue": float(found["pvalues"][0])}


def is_enough(
    clusters: IntArray, n_systems: int, target: str, notes: Notes, fewest: int = FEWEST_SEGMENTS
) -> bool:
    """Return whether there are enough clusters for an interval, with a warning if not.

    ``clusters`` are the documents of the segments that carry information.
    """
    n_segments = len(clusters)
    if n_segments < fewest:
        notes.warn(
            TooFewWarning(
                plural(
                    "interval.few-segments",
                    "Only {n} segment can be used. An interval needs at least {fewest}.",
                    "Only {n} segments can be used. An interval needs at least {fewest}.",
                    n=n_segments,
                    fewest=fewest,
                )
            )
        )
        return False
    if not has_enough_documents(clusters, notes):
        return False
    if target == SYSTEMS and n_systems < FEWEST_SYSTEMS:
        notes.warn(
            TooFewWarning(
                plural(
                    "interval.few-new-systems",
                    "There is only {n} system. An interval for new systems needs at least "
                    "{fewest}.",
                    "There are only {n} systems. An interval for new systems needs at least "
                    "{fewest}.",
                    n=n_systems,
                    fewest=FEWEST_SYSTEMS,
                )
            )
        )
        return False
    return True


def _method(grouping: str, target: str, clusters: IntArray, n_systems: int) -> Message:
    n, is_by_document = len(np.unique(clusters)), unit_of(clusters) == DOCUMENTS
    if target == SYSTEMS:
        return (
            message(
                "method.t-systems-documents",
                "t clustered by {systems} systems and {n} documents",
                systems=n_systems,
                n=n,
            )
            if is_by_document
            else message(
                "method.t-systems-segments",
                "t clustered by {systems} systems and {n} segments",
                systems=n_systems,
                n=n,
            )
        )
    if grouping == "item":
        return (
            message(
                "method.t-segments-in-documents",
                "t over the values of {segments} segments in {n} documents",
                segments=len(clusters),
                n=n,
            )
            if is_by_document
            else message("method.t-segment-values", "t over the values of {n} segments", n=n)
        )
    return (
        message("method.t-documents", "t clustered by {n} documents", n=n)
        if is_by_document
        else message("method.t-segments", "t clustered by {n} segments", n=n)
    )


class _Errors:
    """The value of each metric and what each cell or segment adds to its error."""

    def __init__(self, scores: Panel, measure: Measure) -> None:
        self.scores, self.measure, self.grouping = scores, measure, measure.grouping
        found = [self._of(metric) for metric in scores.metrics]
        self.values = np.array([value for value, _ in found])
        # m x systems x segments; with grouping by item, the first row has each segment's share.
        self.cells = np.array([cells for _, cells in found])

    @property
    def n_systems(self) -> int:
        """How many systems carry information."""
        return int(self.scores.valid.any(axis=1).sum())

    def clusters(self) -> IntArray:
        """Return the documents of the segments that carry information."""
        return np.asarray(self.scores.clusters[self._carries().any(axis=0)])

    def sides(self, target: str) -> list[Side]:
        """Return the errors by document, and by system where those are new."""
        clusters = self.scores.clusters
        counts = np.array([effective_units(clusters[carries]) for carries in self._carries()])
        sides = [Side(sum_by(np.nan_to_num(self.cells).sum(axis=1), clusters), counts)]
        if target == SYSTEMS:
            systems = np.full(len(counts), float(self.n_systems))
            sides.insert(0, Side(self.cells.sum(axis=2), systems))
        return sides

    def _carries(self) -> BoolArray:
        """Return m x segments: where a metric's value rests on the segment."""
        if self.grouping == "item":
            return np.asarray(~np.isnan(self.cells[:, 0]))
        judged = self.scores.valid.any(axis=0)
        return np.asarray(np.broadcast_to(judged, (len(self.values), len(judged))))

    def _of(self, metric: FloatArray) -> tuple[float, FloatArray]:
        if self.measure.correlation == "acc_eq":
            return self._accuracy(metric)
        if self.measure.correlation == "kendall_like":
            return self._relative(metric)
        if self.grouping == "item":
            return self._by_item(self.measure.rows(self.scores.human.T, metric.T))
        z, x = (grouped(v, self.scores.valid, self.grouping) for v in (self.scores.human, metric))
        values = self.measure.rows(z, x)
        return mean(values), self._placed(z, x, values)

    def _placed(self, z: FloatArray, x: FloatArray, values: FloatArray) -> FloatArray:
        """Return systems x segments: influence on the mean over groups that have a value."""
        influence = influence_of(self.measure)
        defined = np.flatnonzero(~np.isnan(values))
        rows = np.zeros(z.shape)
        for group in defined:
            valid = ~np.isnan(z[group])
            share = influence(z[group, valid], x[group, valid]) / valid.sum()
            rows[group, valid] = share / len(defined)
        if self.grouping == "system":
            return rows
        cells = np.zeros(self.scores.valid.shape)
        cells[self.scores.valid] = rows[0]
        return cells

    def _by_item(self, values: FloatArray) -> tuple[float, FloatArray]:
        centre = mean(values)
        cells = np.zeros(self.scores.valid.shape)
        cells[0] = (values - centre) / max(int((~np.isnan(values)).sum()), 1)
        return centre, cells

    def _relative(self, metric: FloatArray) -> tuple[float, FloatArray]:
        """Return daRR τ, a ratio of sums over segments, and each segment's part of its error."""
        shape = self.scores.valid.shape
        z, x = (grouped(v, self.scores.valid, "item") for v in (self.scores.human, metric))
        table = pair_table(z.T, x.T)
        counted = (np.abs(table.human) >= self.measure.threshold) & (table.human != 0.0)
        right = np.sign(table.human) == np.sign(table.metric)
        n = np.bincount(table.groups, counted, shape[1])
        if not n.any() or table.constant == "metric":
            return np.nan, np.zeros(shape)
        balance = np.bincount(table.groups, np.where(right, 1.0, -1.0) * counted, shape[1])
        value = float(balance.sum() / n.sum())
        cells = np.zeros(shape)
        cells[0] = np.where(n > 0, (balance - value * n) / n.sum(), np.nan)
        return value, cells

    def _accuracy(self, metric: FloatArray) -> tuple[float, FloatArray]:
        z, x = (grouped(v, self.scores.valid, self.grouping) for v in (self.scores.human, metric))
        # As members x groups.
        table = pair_table(z.T, x.T)
        if not table.n_groups or np.ptp(metric[self.scores.valid]) == 0.0:
            return np.nan, np.zeros(self.scores.valid.shape)
        value, used = table.calibrate() if self.measure.epsilon is None else (
            table.accuracy(self.measure.epsilon), self.measure.epsilon
        )  # fmt: skip
        if self.grouping == "item":
            agrees = table.agreement(used) * table.weights * table.n_groups
            values = np.bincount(table.groups, agrees, z.shape[0]).astype(np.float64)
            values[np.bincount(table.groups, minlength=z.shape[0]) == 0] = np.nan
            return value, self._by_item(values)[1]
        influence = accuracy_influence(table, used, (z.shape[1], z.shape[0])).T
        members = np.maximum((~np.isnan(z + x)).sum(axis=1, keepdims=True), 1)
        rows = influence / members / table.n_groups
        if self.grouping == "system":
            return value, rows
        cells = np.zeros(self.scores.valid.shape)
        cells[self.scores.valid] = rows[0]
        return value, cells
