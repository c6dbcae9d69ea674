"""Matching and coverage against every matching there is and against loops over characters."""

from itertools import permutations

import numpy as np
import pytest

from metaeval.messages import DataError
from metaeval.results import ApproximationWarning
from metaeval.spans import MPP, SpanMeasure, SpanTable, agreed_spans, compare_spans
from metaeval.spans.coverage import covered
from metaeval.spans.measures import weights
from tests.refusals import refused


def random_spans(rng, n_items, most, longest=14):
    rows = []
    for item in range(n_items):
        for _ in range(rng.integers(0, most + 1)):
            start = int(rng.integers(0, 18))
            severity = ("minor", "major", "critical", "undecided")[rng.integers(0, 4)]
            side = ("target", "target", "source", "missing")[rng.integers(0, 4)]
            rows.append((item, start, start + int(rng.integers(0, longest)), severity, side))
    item, start, end, severity, side = zip(*rows, strict=True)
    return SpanTable.of(n_items, item, start, end, severity, side), rows


def usable(rows, item):
    return [
        (start, end, severity, side)
        for number, start, end, severity, side in rows
        if number == item and end > start and severity != "undecided" and side != "missing"
    ]


def best_by_trying(gold, predicted, value):
    """The sums of the matching of the highest F, then P + R, then P, of all matchings."""
    best = (-1.0, -1.0, -1.0), (0.0, 0.0)
    slots = [*range(len(gold)), *[None] * len(predicted)]
    for choice in set(permutations(slots, len(predicted))):
        a = b = 0.0
        for span, place in zip(predicted, choice, strict=True):
            if place is not None:
                one, two = value(span, gold[place])
                a, b = a + one, b + two
        p, r = a / len(predicted), b / len(gold)
        f = 2 * p * r / (p + r) if p + r else 0.0
        best = max(best, ((round(f, 12), round(p + r, 12), round(p, 12)), (a, b)))
    return best[1]


def shares(penalty):
    def value(span, other):
        overlap = max(0, min(span[1], other[1]) - max(span[0], other[0]))
        if span[3] != other[3] or not overlap:
            return 0.0, 0.0
        factor = 1.0 if span[2] == other[2] else 1 - penalty
        return factor * overlap / (span[1] - span[0]), factor * overlap / (other[1] - other[0])

    return value


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_no_matching_is_better(penalty):
    rng = np.random.default_rng(3)
    (gold, gold_rows), (predicted, rows) = (random_spans(rng, 120, 5) for _ in range(2))
    found = compare_spans(gold, predicted, SpanMeasure(severity_penalty=penalty)).values
    for item in range(120):
        own, theirs = usable(rows, item), usable(gold_rows, item)
        assert found[item, [1, 3]].tolist() == [len(own), len(theirs)]
        if own and theirs:
            sums = best_by_trying(theirs, own, shares(penalty))
            assert found[item, [0, 2]] == pytest.approx(sums, abs=1e-9), item


def test_characters_under_spans_by_a_loop():
    rng = np.random.default_rng(5)
    (table, rows), (by, others) = (random_spans(rng, 60, 4) for _ in range(2))
    expected = []
    for item, start, end, _, side in rows:
        marked = {c for i, s, e, _, t in others if (i, t) == (item, side) for c in range(s, e)}
        expected.append(len(marked & set(range(start, end))))
    assert covered(table, by).tolist() == expected


def test_agreed_spans_by_a_loop():
    rng = np.random.default_rng(7)
    people = [random_spans(rng, 40, 4) for _ in range(3)]
    for k in (1, 2, 3):
        found = agreed_spans([table for table, _ in people], k)
        marked = {
            (item, side, c)
            for item, start, end, side in zip(
                found.item, found.start, found.end, found.side, strict=True
            )
            for c in range(start, end)
        }
        votes = [
            {(i, ("target", "source").index(side), c) for i, s, e, severity, side in rows
             for c in range(s, e) if severity != "undecided" and side != "missing"}
            for _, rows in people
        ]  # fmt: skip
        assert marked == {cell for cell in set().union(*votes)
                          if sum(cell in own for own in votes) >= k}  # fmt: skip


def test_severity_that_k_agree_on():
    severities = (("minor", "critical", "critical"), ("minor", "major"), ("minor",))
    people = [SpanTable.of(1, [0] * len(own), [0] * len(own), [5] * len(own), own)
              for own in severities]  # fmt: skip
    assert [int(agreed_spans(people, k).severity[0]) for k in (1, 2, 3)] == [2, 1, 0]
    with refused("argument.range", kind=DataError, name="k", low=1, high=3, value=4):
        agreed_spans(people, 4)


def test_weights_and_penalty_exclude_each_other():
    with refused("argument.penalty-and-weights", kind=DataError):
        SpanMeasure(severity_penalty=0.5, severity_weights=weights())
    with refused("argument.matching", kind=DataError, matching="one_to_one"):
        SpanMeasure(matching="many_to_many", severity_penalty=0.5)


def test_a_bad_row_is_named():
    with pytest.raises(DataError) as caught:
        SpanTable.of(2, [0, 1], [0, 5], [3, 4], ["minor", "minor"])
    assert caught.value.message.code == "data.span"
    assert caught.value.message.parameters == {"row": 1, "start": 5, "end": 4, "item": 1}
    with pytest.raises(DataError) as caught:
        SpanTable.of_lists([[], [{"start": 1, "severity": "minor"}]])
    assert caught.value.message.code == "data.no-span"
    assert caught.value.message.parameters["item"] == 1


def test_a_text_marked_all_over_is_said_to_be_approximate():
    n = 14
    rng = np.random.default_rng(1)
    starts = rng.integers(0, 60, (2, n))
    gold, predicted = (
        SpanTable.of(1, [0] * n, own, own + rng.integers(40, 99, n), ["minor"] * n)
        for own in starts
    )
    with pytest.warns(ApproximationWarning):
        found = compare_spans(gold, predicted, MPP)
    assert 0 < found.values[0, 0] <= n
