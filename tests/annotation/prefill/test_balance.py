"""The design of a trial: balance over people and documents, bounds on what is planted."""

import random
from collections import Counter

import pytest

from annotation.prefill.balance import (
    MOST_PLANTED,
    Unit,
    cap_planted,
    draw_conditions,
    late_planted,
)
from annotation.prefill.planting import false_error, known_error, overlaps
from annotation.prefill.suggestions import Condition
from annotation.protocols import Span

ALL = frozenset({Condition.BLANK, Condition.PREFILLED, Condition.PLANTED, Condition.WITHHELD})
EQUAL = dict.fromkeys(sorted(ALL), 25)
MIXED = {
    Condition.BLANK: 30, Condition.PREFILLED: 50, Condition.PLANTED: 10, Condition.WITHHELD: 10,
}  # fmt: skip


def units(
    n: int, annotators: int, per_unit: int, conditions: frozenset[Condition] = ALL
) -> list[Unit]:
    return [
        Unit(
            [(unit * per_unit + step) % annotators for step in range(per_unit)],
            f"block {unit % 3}",
            conditions,
            n_shown=3,
            n_withheld=1,
        )
        for unit in range(n)
    ]


def by_person(found: list[dict[int, Condition]], annotator: int) -> Counter[Condition]:
    return Counter(own[annotator] for own in found if annotator in own)


def test_with_equal_shares_it_is_a_latin_square() -> None:
    """Four people, everybody everything: every document meets each condition exactly once."""
    found = draw_conditions(units(40, 4, 4), EQUAL, rng=random.Random(1))
    assert all(set(own.values()) == ALL for own in found)
    for annotator in range(4):
        assert all(8 <= n <= 12 for n in by_person(found, annotator).values())


@pytest.mark.parametrize(("annotators", "per_unit"), [(6, 3), (20, 2), (5, 1)])
def test_shares_hold_for_the_whole_and_for_everybody(annotators: int, per_unit: int) -> None:
    found = draw_conditions(units(120, annotators, per_unit), MIXED, rng=random.Random(2))
    total = Counter(condition for own in found for condition in own.values())
    for condition, share in MIXED.items():
        assert total[condition] == pytest.approx(120 * per_unit * share / 100, abs=3)
    each = 120 * per_unit / annotators
    for annotator in range(annotators):
        own = by_person(found, annotator)
        assert sum(own.values()) == each
        for condition, share in MIXED.items():
            assert abs(own[condition] - each * share / 100) <= 3
    # A document meets other conditions through other people as far as the shares let it.
    distinct = sum(len(set(own.values())) for own in found)
    assert distinct >= 0.7 * sum(len(own) for own in found)


def test_what_cannot_be_planted_is_prefilled() -> None:
    plain = frozenset({Condition.BLANK, Condition.PREFILLED})
    found = draw_conditions(units(60, 6, 2, plain), MIXED, rng=random.Random(3))
    total = Counter(condition for own in found for condition in own.values())
    assert total == {Condition.BLANK: 36, Condition.PREFILLED: 84}


def test_nobody_is_shown_too_many_planted_errors() -> None:
    own = units(40, 4, 4)
    found = draw_conditions(own, EQUAL, rng=random.Random(4))
    assert cap_planted(own, found, rng=random.Random(4)) == 0
    few = [Unit(each.annotators, each.block, each.conditions, 1, 1) for each in own]
    changed = cap_planted(few, found, rng=random.Random(4))
    assert changed > 0
    for annotator in range(4):
        counts = by_person(found, annotator)
        shown = counts[Condition.PREFILLED] + 2 * counts[Condition.PLANTED]
        assert counts[Condition.PLANTED] <= MOST_PLANTED * shown


def test_the_first_items_hold_nothing_planted() -> None:
    screens = [[n] for n in range(20)]
    planted = frozenset(range(0, 20, 2))
    seen = set()
    for seed in range(50):
        order = late_planted(screens, planted, rng=random.Random(seed))
        assert not planted & {item for screen in order[:3] for item in screen}
        assert sorted(item for screen in order for item in screen) == list(range(20))
        seen.add(order[0][0])
    assert len(seen) > 5


def test_a_false_error_stands_on_whole_words_that_nobody_doubts() -> None:
    text = "The old harbour was quiet all morning, and nobody came to sit beside the boats."
    taken = [Span("target", 4, 15, "minor"), Span("target", 68, 73, "major")]
    real = [Span("target", 0, 5, "minor"), Span("target", 0, 12, "major")]
    found = [
        span
        for seed in range(300)
        if (span := false_error(text, taken, real, "en", rng=random.Random(seed)))
    ]
    assert len(found) == 300
    for span in found:
        assert not any(overlaps(span, own) for own in taken)
        inside = text[span.start : span.end]
        assert inside == inside.strip(" ,.")
        assert f" {text} "[span.start] in " ,"
        assert f" {text} "[span.end + 1] in " ,."
    # Severity and length go together as they do in the real ones.
    mean = {
        severity: sum(s.end - s.start for s in found if s.severity == severity)
        / sum(s.severity == severity for s in found)
        for severity in ("minor", "major")
    }
    assert mean["minor"] == pytest.approx(5, abs=1)
    assert mean["major"] == pytest.approx(12, abs=1.5)
    assert 100 < sum(s.severity == "minor" for s in found) < 200
    chinese = false_error("港口今天早上很安静。", [], real[:1], "zh", rng=random.Random(1))
    assert chinese is not None
    assert chinese.end - chinese.start in range(3, 8)
    assert (
        false_error("The old", [Span("target", 0, 7, "minor")], real, "en", rng=random.Random(1))
        is None
    )


def test_a_known_error_is_one_that_was_suggested() -> None:
    gold = [Span("target", 0, 3, "major"), Span("target", 10, 20, "minor")]
    suggested = [Span("target", 5, 8, "minor"), Span("target", 12, 14, "major")]
    assert known_error(gold, suggested, rng=random.Random(1)) == (gold[1], [1])
    assert known_error(gold[:1], suggested, rng=random.Random(1)) is None
