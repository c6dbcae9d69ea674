"""One-to-one matching of predicted with gold spans, within a text and a side.

The matching maximises the F of its item, which is not a sum over pairs, so linear assignment may
miss it. A choice that is best for both precision and recall is made at once; the remaining ones are
searched through all pairs of sums that no other pair exceeds in both (Pareto fronts).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.spans.coverage import edges_of, stride_of
from metaeval.spans.span_table import SpanTable, ranges

# At most this number of states or sums are searched, the best ones; the result is then unproven.
MOST = 4_096
Point = tuple[float, float]
Choice = tuple[int, int, float, float]


@dataclass(frozen=True, eq=False)
class Pairs:
    """n pairs of overlapping spans: rows of both tables, and what a match adds to either sum.

    ``item``, ``gold``, ``predicted`` are int64 (n,), ``to_precision`` and ``to_recall`` float64.
    """

    item: IntArray
    gold: IntArray
    predicted: IntArray
    to_precision: FloatArray
    to_recall: FloatArray

    def where(self, mask: BoolArray | IntArray) -> Pairs:
        """Return some of the pairs."""
        return Pairs(
            self.item[mask],
            self.gold[mask],
            self.predicted[mask],
            self.to_precision[mask],
            self.to_recall[mask],
        )


def overlapping(gold: SpanTable, predicted: SpanTable) -> tuple[IntArray, IntArray, IntArray]:
    """Return rows of gold, rows of predicted and the characters that they share."""
    stride = stride_of([gold, predicted])
    first, last = edges_of(gold, stride)
    order = np.argsort(first, kind="stable")
    first, last = first[order], last[order]
    start, end = edges_of(predicted, stride)
    low = np.searchsorted(np.maximum.accumulate(last), start, side="right")
    high = np.searchsorted(first, end, side="left")
    found, owner = ranges(low, np.maximum(high - low, 0))
    shared = np.minimum(last[found], end[owner]) - np.maximum(first[found], start[owner])
    is_shared = shared > 0
    return order[found][is_shared], owner[is_shared], shared[is_shared]


def greedy_sums(pairs: Pairs, shared: IntArray, n_items: int) -> tuple[FloatArray, FloatArray]:
    """Return both sums by item, taking the pair of most shared characters first."""
    used: tuple[set[int], set[int]] = set(), set()
    taken = []
    for row in np.argsort(-shared, kind="stable").tolist():
        gold, predicted = int(pairs.gold[row]), int(pairs.predicted[row])
        if gold not in used[0] and predicted not in used[1]:
            used[0].add(gold)
            used[1].add(predicted)
            taken.append(row)
    return _sums(pairs.where(np.array(taken, dtype=np.int64)), n_items)


def optimal_sums(
    pairs: Pairs, n_predicted: FloatArray, n_gold: FloatArray
) -> tuple[FloatArray, FloatArray, int]:
    """Return both sums by item under the matching of the highest F, and how many are not proven.

    ``n_predicted`` and ``n_gold`` (n_items,) are what the sums are divided by. Of equal F the
    larger P + R counts, then the larger P.
    """
    n_items = len(n_gold)
    group = _groups(pairs)
    is_best = _best(pairs, pairs.predicted, pairs.gold, group)
    is_open = ~is_best[0]
    by_gold, closed = _best(pairs.where(is_open), pairs.gold[is_open], pairs.predicted[is_open],
                            group[is_open])  # fmt: skip
    first = _sums(pairs.where(is_best[1]), n_items)
    second = _sums(pairs.where(is_open).where(closed), n_items)
    to_precision, to_recall = first[0] + second[0], first[1] + second[1]
    rest, left = pairs.where(is_open).where(~by_gold), group[is_open][~by_gold]
    n_unproven = 0
    for item, fronts, is_proven in _fronts(rest, left):
        fixed = (float(to_precision[item]), float(to_recall[item]))
        sums, is_all = _combine([[fixed], *fronts])
        best = _choose(sums, float(n_predicted[item]), float(n_gold[item]))
        to_precision[item], to_recall[item] = best
        n_unproven += not (is_all and is_proven)
    return to_precision, to_recall, n_unproven


def _sums(pairs: Pairs, n_items: int) -> tuple[FloatArray, FloatArray]:
    # `bincount` of an empty array returns integers.
    return (
        np.bincount(pairs.item, weights=pairs.to_precision, minlength=n_items).astype(np.float64),
        np.bincount(pairs.item, weights=pairs.to_recall, minlength=n_items).astype(np.float64),
    )


def _groups(pairs: Pairs) -> IntArray:
    """Number the groups of spans that are connected by overlaps."""
    if not len(pairs.item):
        return np.zeros(0, dtype=np.int64)
    n_gold, n_predicted = int(pairs.gold.max()) + 1, int(pairs.predicted.max()) + 1
    ends = (pairs.gold, n_gold + pairs.predicted)
    size = n_gold + n_predicted
    graph = coo_array((np.ones(len(pairs.gold), dtype=np.int8), ends), shape=(size, size))
    labels = connected_components(graph, directed=False)[1]
    return np.asarray(labels[pairs.gold], dtype=np.int64)


def _best(
    pairs: Pairs, side: IntArray, other: IntArray, group: IntArray
) -> tuple[BoolArray, BoolArray]:
    """Return the pairs of groups that are solved, and the chosen ones among them.

    A group is solved if each span of one side has a partner that is best in both sums, and these
    partners differ: no matching can exceed that.
    """
    n = len(side)
    if not n:
        return np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.bool_)
    top_a, top_b = (np.full(int(side.max()) + 1, -1.0) for _ in range(2))
    np.maximum.at(top_a, side, pairs.to_precision)
    np.maximum.at(top_b, side, pairs.to_recall)
    is_top = (pairs.to_precision == top_a[side]) & (pairs.to_recall == top_b[side])
    rows = np.flatnonzero(is_top)
    rows = rows[np.unique(side[rows], return_index=True)[1]]
    is_taken = np.zeros(n, dtype=np.bool_)
    is_taken[rows] = True
    n_groups = int(group.max()) + 1
    has_partner = np.zeros(len(top_a), dtype=np.bool_)
    has_partner[side[rows]] = True
    twice = np.bincount(other[rows], minlength=int(other.max()) + 1) > 1
    wrong = np.zeros(n_groups, dtype=np.bool_)
    wrong[group[~has_partner[side]]] = True
    wrong[group[rows][twice[other[rows]]]] = True
    is_solved = ~wrong[group]
    return is_solved, is_taken & is_solved


def _fronts(pairs: Pairs, group: IntArray) -> Iterable[tuple[int, list[list[Point]], bool]]:
    """Yield, by item, the fronts of its groups and whether they are whole."""
    choices: dict[int, dict[int, list[Choice]]] = defaultdict(lambda: defaultdict(list))
    columns = (group, pairs.item, pairs.predicted, pairs.gold, pairs.to_precision, pairs.to_recall)
    for number, item, *choice in zip(*(column.tolist() for column in columns), strict=True):
        choices[item][number].append(tuple(choice))
    for item, groups in choices.items():
        found = [_front(own) for own in groups.values()]
        yield item, [front for front, _ in found], all(is_whole for _, is_whole in found)


def _front(choices: Sequence[Choice]) -> tuple[list[Point], bool]:
    """Return all sums of matchings that no other exceeds in both, and whether none was dropped.

    Goes through the predicted spans and remembers which gold spans are taken that a later one
    could take, too.
    """
    by_predicted: dict[int, list[Choice]] = defaultdict(list)
    for choice in choices:
        by_predicted[choice[0]].append(choice)
    order = list(by_predicted.values())
    last = {choice[1]: number for number, own in enumerate(order) for choice in own}
    states: dict[frozenset[int], list[Point]] = {frozenset(): [(0.0, 0.0)]}
    is_whole = True
    for number, own in enumerate(order):
        grown: dict[frozenset[int], list[Point]] = defaultdict(list)
        for used, points in states.items():
            grown[_alive(used, last, number)] += points
            for _, gold, a, b in own:
                if gold not in used:
                    key = _alive(used | {gold}, last, number)
                    grown[key] += [(x + a, y + b) for x, y in points]
        states = {used: _pareto(points) for used, points in grown.items()}
        if len(states) > MOST:
            is_whole, states = False, _strongest(states)
    return _pareto([point for points in states.values() for point in points]), is_whole


def _alive(used: frozenset[int], last: dict[int, int], number: int) -> frozenset[int]:
    return frozenset(gold for gold in used if last[gold] > number)


def _strongest(states: dict[frozenset[int], list[Point]]) -> dict[frozenset[int], list[Point]]:
    ranked = sorted(states.items(), key=lambda entry: -max(x + y for x, y in entry[1]))
    return dict(ranked[: MOST // 4])


def _pareto(points: Iterable[Point]) -> list[Point]:
    """Drop every point that another one reaches in both."""
    front: list[Point] = []
    for point in sorted(set(points), reverse=True):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return front


def _combine(fronts: Sequence[list[Point]]) -> tuple[list[Point], bool]:
    """Return the front of all sums of one point of each front."""
    sums, is_all = fronts[0], True
    for front in fronts[1:]:
        sums = _pareto([(x + a, y + b) for x, y in sums for a, b in front])
        if len(sums) > MOST:
            step = -(-len(sums) // (MOST // 4))
            is_all, sums = False, [*sums[::step], sums[-1]]
    return sums, is_all


def _choose(points: Sequence[Point], n_predicted: float, n_gold: float) -> Point:
    def rank(point: Point) -> tuple[float, float, float]:
        p, r = point[0] / n_predicted, point[1] / n_gold
        return round(2 * p * r / (p + r) if p + r else 0.0, 12), round(p + r, 12), p

    return max(points, key=rank)
