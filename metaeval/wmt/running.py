"""One task of WMT: correlations, its permutation tests with early stopping, and our intervals.

The tests are those of mt-metrics-eval: every output swaps on its own (every pair of outputs for
acc-eq), p is the share of draws that reach the observed difference, and drawing stops after any
block of 100 draws whose p is below .02 or above .5. Beside them stand our own intervals and tests,
with documents as the unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray, IntArray, positive_int
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.concordance import accuracy_interval
from metaeval.correlation.intervals.crossed import correlation_intervals
from metaeval.correlation.intervals.jackknife import system_intervals
from metaeval.correlation.intervals.soft import soft_pairwise_intervals
from metaeval.correlation.pairwise import pairwise_accuracy
from metaeval.correlation.panel import Panel, panel
from metaeval.correlation.soft_pairwise import pair_pvalues
from metaeval.correlation.values import metric_values
from metaeval.messages import message
from metaeval.resampling import blocks, falls_short, random_bits, stream
from metaeval.results import Notes, TooFewWarning
from metaeval.scores.matrix import ScoreMatrix
from metaeval.significance.comparison import compare_metrics, rank_clusters
from metaeval.significance.permutation.tests import permuted_differences
from metaeval.wmt.selection import Comparison
from metaeval.wmt.tasks import SYS, Task, TaskError

# Of mt-metrics-eval: the sign flips of soft pairwise accuracy, and when a test stops early.
FLIPS, FLIP_SEED = 1000, 4
BLOCK, LOW, HIGH = 100, 0.02, 0.5
ALPHA = 0.05
SLACK = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Own:
    """Our estimates of a task's metrics, with documents as the unit.

    ``values`` differ from the task's for soft pairwise accuracy, which flips whole documents here.
    ``pvalues`` are metrics x metrics, one-sided, small where the row is better; ``unit`` is
    ``documents``, ``segments`` or ``systems``, and ``n_units`` their number.
    """

    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    pvalues: FloatArray
    ranks: IntArray
    unit: str
    n_units: int


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskResult:
    """The metrics of a task, best first, ties by name.

    Attributes
    ----------
    values, ranks
        Correlation or accuracy of each metric, and its significance cluster; nan and 0 where it is
        undefined.
    pvalues
        metrics x metrics: above the diagonal, p that the row is better than the column; nan
        elsewhere, and everywhere without tests.
    draws
        The differences under each draw of each pair of metrics (i, j), i before j, as many as were
        drawn before the test stopped; empty without tests.
    own
        Our intervals and tests.
    systems, n_segments
        The compared systems by language pair, and the segments with a human score.
    incomplete
        Metrics of the folder that lack a score of a judged output.
    """

    task: Task
    metrics: tuple[str, ...]
    values: FloatArray
    ranks: IntArray
    pvalues: FloatArray
    draws: Mapping[tuple[int, int], FloatArray]
    own: Own
    systems: Mapping[str, tuple[str, ...]]
    n_segments: int
    incomplete: tuple[str, ...]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each metric."""
        return {name: place for place, name in enumerate(self.metrics)}

    def rescaled(self, metric: str) -> float:
        """Return a metric's value between 0 and 1, as averages take it."""
        value = float(self.values[self.places[metric]])
        return (value + 1.0) / 2.0 if self.task.statistic.is_correlation else value

    def null(self, first: str, second: str) -> FloatArray:
        """Return the rescaled differences of two metrics under the draws, first less second."""
        i, j = self.places[first], self.places[second]
        found = self.draws[i, j] if i < j else -self.draws[j, i]
        return found / 2.0 if self.task.statistic.is_correlation else found


def run_task(
    task: Task, scores: Mapping[str, Comparison], *, n_draws: int = 1000, seed: int = 0
) -> TaskResult:
    """Run a task on the scores of its language pairs; without draws, no test is made.

    Metrics that some pair lacks are excluded. Raises TaskError if none is left.
    """
    n_draws = positive_int("n_draws", n_draws, minimum=0)
    seed = positive_int("seed", seed, minimum=0)
    sides = [scores[pair] for pair in task.pairs]
    shared = [name for name in sides[0].metrics if all(name in side.metrics for side in sides)]
    if not shared:
        raise TaskError(
            message("wmt.no-common-metric", "No metric has scores of {pairs}.",
                    pairs=list(task.pairs))
        )  # fmt: skip
    values = _values(task, sides, shared)
    order = sorted(range(len(shared)), key=lambda k: (-np.nan_to_num(values[k], nan=-2), shared[k]))
    names = tuple(shared[k] for k in order)
    sorted_values = values[order]
    draws = _draws(task, sides, names, n_draws, seed) if n_draws and len(names) > 1 else {}
    pvalues = np.full((len(names), len(names)), np.nan)
    for (i, j), row in draws.items():
        if not np.isnan(row[0]):
            pvalues[i, j] = float((~_misses(row[1:], row[0])).mean())
    tested = np.where(np.isnan(pvalues), 1.0 if draws else 0.0, pvalues)
    return TaskResult(
        task=task,
        metrics=names,
        values=sorted_values,
        ranks=ranks_of(sorted_values, tested, names),
        pvalues=pvalues,
        draws={pair: row[1:] for pair, row in draws.items()},
        own=_own(task, sides, names, n_draws, seed),
        systems={pair: side.human.systems for pair, side in zip(task.pairs, sides, strict=True)},
        n_segments=sum(int(side.human.mask.any(axis=0).sum()) for side in sides),
        incomplete=tuple(dict.fromkeys(name for side in sides for name in side.incomplete)),
    )


def _values(task: Task, sides: Sequence[Comparison], names: Sequence[str]) -> FloatArray:
    measure = task.statistic.measure
    if task.statistic.is_pooled:
        human = {str(place): side.human for place, side in enumerate(sides)}
        return np.array(
            [
                pairwise_accuracy(
                    human, {str(place): side.metrics[name] for place, side in enumerate(sides)}
                ).statistic
                for name in names
            ]
        )
    scores = _panel(sides[0], names)
    if measure.correlation == "soft_pairwise_accuracy":
        return _published_soft(scores)
    return metric_values(measure, scores, 0, Notes())


def _panel(side: Comparison, names: Sequence[str], *, has_documents: bool = False) -> Panel:
    given = {name: side.metrics[name] for name in names}
    if not has_documents:
        given = {name: each.by_segment() for name, each in given.items()}
    human = side.human if has_documents else side.human.by_segment()
    judged = human.mask.any(axis=0)
    segments = [name for name, known in zip(human.segments, judged, strict=True) if known]
    human = human.subset(segments=segments)
    given = {name: each.subset(segments=segments) for name, each in given.items()}
    return panel(human, given, Notes())


def _published_soft(scores: Panel) -> FloatArray:
    """Return soft pairwise accuracy from the sign flips that mt-metrics-eval draws.

    p is the share of flips that reach the observed sum, without the "+ 1" of
    `soft_pairwise_accuracy`.
    """
    rng = np.random.default_rng(FLIP_SEED)
    drawn = rng.random(size=(FLIPS, scores.human.shape[1]), dtype=np.float32)
    flips = np.rint(drawn).astype(np.float64) * 2.0 - 1.0

    def shares(values: FloatArray) -> FloatArray:
        return (pair_pvalues(values, scores.valid, flips) * (FLIPS + 1.0) - 1.0) / FLIPS

    gaps = np.abs(np.array([shares(each) for each in scores.metrics]) - shares(scores.human))
    return np.asarray(1.0 - np.nanmean(gaps, axis=1))


def _draws(
    task: Task, sides: Sequence[Comparison], names: Sequence[str], n_draws: int, seed: int
) -> dict[tuple[int, int], FloatArray]:
    """Return, by pair of metrics, the observed difference and those until the test stops."""
    pairs = list(combinations(range(len(names)), 2))
    if task.statistic.is_pooled:
        deltas = _accuracy_differences(sides, names, pairs, n_draws, seed)
    else:
        scores, measure = _panel(sides[0], names), task.statistic.measure
        swap = "pairs" if measure.correlation == "acc_eq" else "both"
        deltas = permuted_differences(scores, measure, swap, n_draws, seed, pairs)
    return {
        pair: row[: 1 + stopping_draw(~_misses(row[1:], row[0]))]
        for pair, row in zip(pairs, deltas, strict=True)
    }


def _misses(null: FloatArray, observed: float) -> Any:
    return falls_short(null, observed, "greater", SLACK)


def ranks_of(values: FloatArray, pvalues: FloatArray, names: tuple[str, ...]) -> IntArray:
    """Return the significance cluster of each metric, 0 where its value is nan."""
    ranks = rank_clusters(values, pvalues, names=names, alpha=ALPHA).ranks
    return np.where(np.isnan(values), 0, ranks)


def stopping_draw(reached: Any) -> int:
    """Return how many draws are made before the test stops.

    Examples
    --------
    >>> stopping_draw(np.arange(1000) % 10 == 0)
    1000
    >>> stopping_draw(np.zeros(1000, dtype=bool))
    100
    """
    ends = np.arange(BLOCK, len(reached) + 1, BLOCK)
    shares = np.cumsum(reached)[ends - 1] / ends
    stops = np.flatnonzero((shares < LOW) | (shares > HIGH))
    return int(ends[stops[0]]) if len(stops) else len(reached)


def _accuracy_differences(
    sides: Sequence[Comparison],
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    n_draws: int,
    seed: int,
) -> FloatArray:
    """Return the observed and permuted differences of pooled accuracies, pairs x (1 + draws).

    Metrics are standardised over the systems of all language pairs together, and every system
    swaps on its own.
    """
    human = np.concatenate([side.human.values[:, 0] for side in sides])
    metrics = np.array(
        [np.concatenate([side.metrics[name].values[:, 0] for side in sides]) for name in names]
    )
    groups = np.repeat(np.arange(len(sides)), [len(side.human.systems) for side in sides])
    upper, lower = np.triu_indices(len(human), 1)
    within = groups[upper] == groups[lower]
    upper, lower = upper[within], lower[within]
    spread = metrics.std(axis=1, keepdims=True)
    scaled = (metrics - metrics.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    expected = np.sign(human[upper] - human[lower]).astype(np.int8)
    masks = [np.zeros((1, len(human)), dtype=np.bool_)]
    for number, start, stop in blocks(n_draws):
        masks.append(random_bits(stream(seed, number), stop - start, len(human)))
    swapped = np.concatenate(masks)

    def accuracy(values: FloatArray) -> FloatArray:
        gaps = values[:, upper] - values[:, lower]
        signs = np.where(np.abs(gaps) <= SLACK, 0, np.sign(gaps)).astype(np.int8)
        return np.asarray((signs == expected).mean(axis=1))

    found = np.empty((len(pairs), n_draws + 1))
    for place, (i, j) in enumerate(pairs):
        first = np.where(swapped, scaled[j], scaled[i])
        second = np.where(swapped, scaled[i], scaled[j])
        found[place] = accuracy(first) - accuracy(second)
    return found


def _own(
    task: Task, sides: Sequence[Comparison], names: tuple[str, ...], n_draws: int, seed: int
) -> Own:
    """Return our intervals and tests; nan where a statistic has none."""
    n, side, measure = len(names), sides[0], task.statistic.measure
    metrics: dict[str, ScoreMatrix] = {name: side.metrics[name] for name in names}
    if task.statistic.is_pooled:
        return _pooled(task, sides, names)
    if task.statistic.level == SYS:
        found = system_intervals(
            side.human.values[:, 0], {name: each.values[:, 0] for name, each in metrics.items()}
        )
    elif measure.correlation == "soft_pairwise_accuracy":
        found = soft_pairwise_intervals(side.human, metrics)
        if n_draws and n > 1:
            scores = _panel(side, names, has_documents=True)
            tested = compare_metrics(
                scores.human_matrix,
                {name: scores.matrix(place) for place, name in enumerate(names)},
                measure, swap="inputs", n_resamples=n_draws, rng=seed,
            )  # fmt: skip
            found = replace(found, difference_pvalues=tested.pvalues)
    else:
        found = correlation_intervals(side.human, metrics, measure)
    return _own_of(found, names)


def _own_of(found: CorrelationIntervals, names: tuple[str, ...]) -> Own:
    pvalues = found.difference_pvalues
    return Own(
        values=found.values,
        lows=found.lows,
        highs=found.highs,
        pvalues=pvalues,
        ranks=_own_ranks(found.values, pvalues, names),
        unit=found.unit,
        n_units=found.n_units,
    )


def _own_ranks(values: FloatArray, pvalues: FloatArray, names: tuple[str, ...]) -> IntArray:
    """Return the clusters of our tests; 0 where there is no test."""
    if np.isnan(pvalues).all():
        return np.zeros(len(names), dtype=np.int64)
    tested = np.where(np.isnan(pvalues), 1.0, pvalues)
    return ranks_of(values, tested, names)


def _pooled(task: Task, sides: Sequence[Comparison], names: tuple[str, ...]) -> Own:
    """Return accuracies with intervals for other systems, of one language pair only."""
    n = len(names)
    values, ends = _values(task, sides, names), np.full((n, 2), np.nan)
    if len(sides) == 1:
        for place, name in enumerate(names):
            interval = accuracy_interval(
                sides[0].human.values[:, 0], sides[0].metrics[name].values[:, 0]
            )
            ends[place] = interval.low, interval.high
    else:
        Notes().warn(
            TooFewWarning(
                message(
                    "wmt.pooled-interval",
                    "Accuracy over several language pairs has no interval of ours.",
                )
            )
        )
    return Own(
        values=values, lows=ends[:, 0], highs=ends[:, 1], pvalues=np.full((n, n), np.nan),
        ranks=np.zeros(n, dtype=np.int64), unit="systems",
        n_units=sum(len(side.human.systems) for side in sides),
    )  # fmt: skip
