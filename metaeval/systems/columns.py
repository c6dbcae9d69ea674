"""A metric's scores of MT systems: each system on its own segments, two on those they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray, mean_along
from metaeval.correlation.intervals import accuracy_interval
from metaeval.correlation.measure import Measure
from metaeval.correlation.pairwise import pairwise_accuracy
from metaeval.documents import sizes_of, unit_of
from metaeval.results import Interval, Notes, Result
from metaeval.rounding import largest, round_to_ties
from metaeval.scores.corpus import CorpusStatistics, MetricScores
from metaeval.scores.matrix import ScoreMatrix
from metaeval.systems.paired_tests import bootstrapped_pairs
from metaeval.systems.ranking import LEAST_SHARED

# p, difference and numbers of segments and of units (documents or segments) of two systems.
Compared = tuple[float, float, int, int]
# The position of a metric, and two places in its order.
Pair = tuple[int, tuple[int, int]]


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricColumn(Result):
    """A metric's scores of the systems, best first, each tested by the paired bootstrap.

    ``scores`` are based on ``counts`` segments each. ``pvalues`` are two-sided, against the system
    below (``next``; the last has nan) or against the first (``best``; the first has nan), over the
    ``shared`` segments that both have, of ``shared_units`` documents (or segments, as ``unit``
    says); nan with fewer than `LEAST_SHARED` segments or six documents. ``differences`` are
    system - other over those segments. ``marks`` are † for p < .05 and ‡ for p < .01, if that
    difference agrees with the order.

    ``tau`` and ``accuracy`` (with an interval for other systems, if there is one) compare
    ``human`` with ``compared``: both sides' scores over the same segments, ``judged`` of each
    system, nan if there is none; ``n_shared`` counts systems.
    ``n`` is the smallest number of segments behind a score, ``n_units`` counts all units. If
    ``is_given``, scores are those that the metric came with, not computed from its segments; the
    tests are over segments or documents, if there are any.
    ``unjudged`` has the scores of unjudged systems, which are not compared if others were judged.
    """

    metric: str
    is_lower_better: bool
    systems: tuple[str, ...]
    scores: FloatArray
    counts: IntArray
    pvalues: FloatArray
    differences: FloatArray
    shared: IntArray
    shared_units: IntArray
    marks: tuple[str, ...]
    human: FloatArray
    compared: FloatArray
    judged: IntArray
    tau: float
    accuracy: float
    accuracy_interval: Interval | None
    n_shared: int
    unit: str
    n_units: int
    is_given: bool = False
    unjudged: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class MetricOrder:
    """A metric's systems with a score, before they are tested; ``order`` is best first.

    ``size`` is that of the largest score, of which rounding errors are a share.
    """

    name: str
    counts: CorpusStatistics
    present: BoolArray
    values: FloatArray
    order: IntArray
    sign: float
    versus: str
    notes: Notes
    given: Mapping[str, float] | None
    size: float
    unjudged: Mapping[str, float]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Places in the order of the systems that are compared."""
        return _pairs(len(self.order), self.versus)

    def rows(self, pair: tuple[int, int]) -> IntArray:
        """The two systems of such a pair."""
        return self.order[list(pair)]

    def shared(self, pair: tuple[int, int]) -> BoolArray:
        """The segments on which they are compared, as a mask."""
        return np.asarray(self.present[self.rows(pair)].all(axis=0))


def metric_order(
    name: str,
    scores: MetricScores,
    is_lower_better: bool,
    versus: str,
    given: Mapping[str, float] | None = None,
    judged: Collection[str] = (),
) -> MetricOrder:
    """Put the systems in a metric's order; ``given`` are system scores that it came with.

    With ``judged`` only these are ordered and compared; the others' scores are in ``unjudged``.
    """
    notes, every = Notes(), CorpusStatistics.of(scores)
    is_in = np.array([not judged or name in judged for name in every.systems], dtype=bool)
    unjudged = _known(_only(every, ~is_in), given)
    own = _only(every, is_in)
    counts, present = _present(own, notes) if given is None else _with_scores(own, given)
    values = counts.system_scores() if given is None else _in_order(counts.systems, given)
    sign = -1.0 if is_lower_better else 1.0
    is_mean = given is None and isinstance(scores, ScoreMatrix)
    size = largest(scores.values if is_mean else values)
    order = np.lexsort((np.array(counts.systems), -sign * round_to_ties(values, size)))
    return MetricOrder(
        name, counts, present, values, order, sign, versus, notes, given, size, unjudged
    )


def _only(counts: CorpusStatistics, rows: BoolArray) -> CorpusStatistics:
    """Return the same of some of the systems."""
    if rows.all():
        return counts
    return CorpusStatistics(
        counts.values[rows],
        np.array(counts.systems, dtype=object)[rows].tolist(),
        counts.segments,
        counts.score,
        counts.documents,
    )


def _known(counts: CorpusStatistics, given: Mapping[str, float] | None) -> dict[str, float]:
    """Return the scores of whole systems, of those that have one."""
    if given is not None:
        return {name: given[name] for name in counts.systems if name in given}
    scores = zip(counts.systems, counts.system_scores().tolist(), strict=True)
    return {name: score for name, score in scores if score == score}


def compare_neighbours(
    orders: Sequence[MetricOrder], n_resamples: int, seed: int
) -> list[list[Compared]]:
    """Test the pairs of all metrics; those over the same segments are drawn together.

    Those over equally many share the draws, which are too large to cache all of them, so such pairs
    are tested one after the other.
    """
    together: dict[Any, list[Pair]] = {}
    for number, one in enumerate(orders):
        width = one.counts.values.shape[2], one.counts.score
        for pair in one.pairs:
            segments = one.shared(pair).tobytes(), one.counts.segments, one.counts.documents
            together.setdefault((segments, width), []).append((number, pair))
    tests: dict[Pair, Compared] = {}
    for _, pairs in sorted(together.items(), key=lambda each: each[0][0][0].count(1)):
        tests |= zip(pairs, _compare(orders, pairs, n_resamples, seed), strict=True)
    return [[tests[number, pair] for pair in one.pairs] for number, one in enumerate(orders)]


def metric_column(
    of: MetricOrder,
    tests: Sequence[Compared],
    human: tuple[ScoreMatrix, Mapping[str, float] | None],
) -> MetricColumn:
    """Return a metric's column from the tests of its pairs.

    ``human`` is segment scores, and system scores as published.
    """
    counts, present, order, values = of.counts, of.present, of.order, of.values
    pvalues, differences, shared, units = _placed(len(order), of.pairs, tests)
    of_humans, compared, judged = _same_segments(counts, present, *human)
    if of.given is not None:
        of_humans, compared, judged = _as_given(counts.systems, values, *human)
    ours = round_to_ties(of_humans, largest(of_humans if human[1] is not None else human[0].values))
    theirs = round_to_ties(of.sign * compared, of.size)
    tau, (accuracy, interval), n_shared = _agreement(ours, theirs)
    oriented = of.sign * differences * (1.0 if of.versus == "next" else -1.0)
    return MetricColumn(
        n=int(present.sum(axis=1).min(initial=len(counts.segments))),
        reasons=of.notes.reasons,
        metric=of.name,
        is_lower_better=of.sign < 0,
        systems=tuple(counts.systems[row] for row in order),
        scores=values[order],
        counts=present.sum(axis=1)[order],
        pvalues=pvalues,
        differences=differences,
        shared=shared,
        shared_units=units,
        marks=tuple(
            _mark(p) if ahead > 0 else ""
            for p, ahead in zip(pvalues.tolist(), oriented.tolist(), strict=True)
        ),
        human=of_humans[order],
        compared=compared[order],
        judged=judged[order],
        tau=tau,
        accuracy=accuracy,
        accuracy_interval=interval,
        n_shared=n_shared,
        unit=unit_of(counts.clusters),
        n_units=len(sizes_of(counts.clusters)),
        is_given=of.given is not None,
        unjudged=of.unjudged,
    )


def _mark(p: float) -> str:
    return "‡" if p < 0.01 else "†" if p < 0.05 else ""


def _present(counts: CorpusStatistics, notes: Notes) -> tuple[CorpusStatistics, BoolArray]:
    """Return the systems and segments that have scores, as counts, and which cells have one."""
    present = ~np.isnan(counts.values).any(axis=2)
    if present.all():
        return counts, present
    rows, columns = present.any(axis=1), present.any(axis=0)
    cells = present[np.ix_(rows, columns)]
    notes.exclude("system-without-scores", int((~rows).sum()))
    notes.exclude("output-without-score", int((~cells).sum()))
    found = CorpusStatistics(
        np.where(cells[:, :, None], counts.values[np.ix_(rows, columns)], np.nan),
        [system for system, is_in in zip(counts.systems, rows, strict=True) if is_in],
        list(compress(counts.segments, columns.tolist())),
        counts.score,
        None if counts.documents is None else list(compress(counts.documents, columns.tolist())),
    )
    return found, cells


def _with_scores(
    counts: CorpusStatistics, given: Mapping[str, float]
) -> tuple[CorpusStatistics, BoolArray]:
    """Return the systems that came with a score, and which of their segments have one."""
    found = _only(counts, np.array([name in given for name in counts.systems], dtype=bool))
    return found, ~np.isnan(found.values).any(axis=2)


def _in_order(systems: Sequence[str], given: Mapping[str, float]) -> FloatArray:
    return np.array([given.get(name, np.nan) for name in systems], dtype=np.float64)


def _as_given(
    systems: Sequence[str],
    values: FloatArray,
    human: ScoreMatrix,
    published: Mapping[str, float] | None,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return what `_same_segments` does, with scores of whole systems on both sides."""
    means = dict(zip(human.systems, human.system_means().tolist(), strict=True))
    judged = dict(zip(human.systems, human.mask.sum(axis=1).tolist(), strict=True))
    scores = _in_order(systems, means if published is None else published)
    return scores, values, np.array([judged.get(name, 0) for name in systems], dtype=np.int64)


def _pairs(size: int, versus: str) -> list[tuple[int, int]]:
    """Places of the systems that are compared, each with its other."""
    if versus == "best":
        return [(place, 0) for place in range(1, size)]
    return [(place, place + 1) for place in range(size - 1)]


def _compare(
    orders: Sequence[MetricOrder], pairs: Sequence[Pair], n_resamples: int, seed: int
) -> list[Compared]:
    """Compare pairs of systems over the same segments, of metrics with the same kind of counts."""
    (number, pair), rows = pairs[0], [orders[number].rows(pair).tolist() for number, pair in pairs]
    counts, shared = orders[number].counts, orders[number].shared(pair)
    n = int(shared.sum())
    if not n:
        return [(np.nan, np.nan, 0, 0)] * len(pairs)
    cells = [[(number, row) for row in two] for (number, _), two in zip(pairs, rows, strict=True)]
    place = {cell: at for at, cell in enumerate(dict.fromkeys(chain(*cells)))}
    names = [f"{number}:{row}" for number, row in place]
    if shared.all():
        some = counts.of_others([orders[number].counts.values[row] for number, row in place], names)
    else:
        some = CorpusStatistics(
            [orders[number].counts.values[row, shared] for number, row in place],
            names,
            list(compress(counts.segments, shared.tolist())),
            counts.score,
            None if counts.documents is None else list(compress(counts.documents, shared.tolist())),
        )
    first, second = np.array([[place[cell] for cell in two] for two in cells]).T
    if n < LEAST_SHARED:
        scores = some.system_scores()
        pvalues, differences = np.full(len(pairs), np.nan), scores[first] - scores[second]
    else:
        pvalues, differences = bootstrapped_pairs(some, first, second, n_resamples, seed)
    rest = [n] * len(pairs), [len(sizes_of(some.clusters))] * len(pairs)
    return list(zip(pvalues.tolist(), differences.tolist(), *rest, strict=True))


def _placed(
    size: int, pairs: Sequence[tuple[int, int]], tests: Sequence[Compared]
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Return the comparisons at the positions of their first systems; nan and 0 elsewhere."""
    pvalues, differences = np.full(size, np.nan), np.full(size, np.nan)
    shared, units = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for (place, _), (p, difference, n, n_units) in zip(pairs, tests, strict=True):
        pvalues[place], differences[place] = p, difference
        shared[place], units[place] = n, n_units
    return pvalues, differences, shared, units


def _same_segments(
    counts: CorpusStatistics,
    present: BoolArray,
    human: ScoreMatrix,
    published: Mapping[str, float] | None,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the human and the metric's score of every system over one set of segments, and n.

    Published scores of whole systems are compared with the metric's score over all its segments.
    """
    if published is not None:
        known = np.array([published.get(name, np.nan) for name in counts.systems])
        return known, counts.system_scores(), present.sum(axis=1)
    values = human.at(counts.systems, counts.segments)
    both = present & ~np.isnan(values)
    sums = np.where(both[:, :, None], counts.values, 0.0).sum(axis=1)
    has_any = both.any(axis=1)
    compared = np.where(has_any, counts.score(sums), np.nan)
    return mean_along(np.where(both, values, np.nan)), compared, both.sum(axis=1)


def _agreement(
    human: FloatArray, metric: FloatArray
) -> tuple[float, tuple[float, Interval | None], int]:
    """Kendall's τ-b and pairwise accuracy with its interval over the systems that both score."""
    known = ~np.isnan(human + metric)
    n = int(known.sum())
    if n < 2:
        return np.nan, (np.nan, None), n
    ours, theirs = human[known], metric[known]
    ends = accuracy_interval(ours, theirs)
    accuracy = pairwise_accuracy(ours, theirs).statistic
    tau = float(Measure("kendall").over_systems(ours, theirs))
    return tau, (accuracy, ends if ends.low == ends.low else None), n
