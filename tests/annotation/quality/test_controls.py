"""Bad references and the places of controls: rules of the papers, and what every order keeps."""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from annotation.controls import CrowdedError, degrade, spaced_order
from annotation.controls.making import run_lengths, split_units
from annotation.controls.spacing import most_controls

# Words out and words in by the length of the text: the published rule of Graham et al.
PUBLISHED = {
    1: (1, 1), 3: (1, 1), 4: (2, 2), 5: (2, 2), 6: (3, 3), 7: (3, 3), 8: (4, 4), 14: (4, 4),
    15: (5, 5), 19: (5, 5), 20: (5, 5), 23: (5, 5), 24: (6, 6), 28: (7, 6), 40: (10, 6),
}  # fmt: skip


def test_lengths_of_the_replaced_run() -> None:
    assert {n: run_lengths(n) for n in PUBLISHED} == PUBLISHED


@given(n=st.integers(1, 60), seed=st.integers(0, 20), n_donor=st.integers(1, 30))
def test_one_run_of_words_is_replaced(n: int, seed: int, n_donor: int) -> None:
    own = [f"w{i}" for i in range(n)]
    donor = [f"d{i}" for i in range(n_donor)]
    bad = degrade(" ".join(own), [" ".join(donor)], "en", random.Random(seed))
    assert bad is not None
    words = bad.split(" ")
    foreign = [i for i, word in enumerate(words) if word.startswith("d")]
    out, into = run_lengths(n)
    assert foreign == list(range(foreign[0], foreign[0] + min(into, n_donor)))  # one run
    assert words[: foreign[0]] == own[: foreign[0]]
    assert words[foreign[-1] + 1 :] == own[foreign[0] + out :]
    start = donor.index(words[foreign[0]])
    assert words[foreign[0] : foreign[-1] + 1] == donor[start : start + len(foreign)]
    if n >= 3:
        assert (words[0], words[-1]) == (own[0], own[-1])


def test_characters_where_words_have_no_blanks() -> None:
    text = "港口今天早上很安静。"  # ten characters lose four
    bad = degrade(text, ["我们明天去北京看朋友"], "zh-Hans", random.Random(1))
    assert bad is not None
    assert (bad[0], bad[-1], len(bad)) == ("港", "。", 10)
    assert sum(a != b for a, b in zip(text, bad, strict=True)) == 4
    assert " " not in bad


def test_marks_stay_with_their_letters() -> None:
    assert split_units("ที่นี่ ดี", by_character=True) == ["ที่", "นี่ ", "ดี"]
    assert split_units("が\u3099行", by_character=True) == ["が\u3099", "行"]


@pytest.mark.parametrize(
    ("text", "donors"), [("", ["some words"]), ("same", ["same"]), ("a b c", []), ("a", [""])]
)
def test_nothing_different_to_be_made(text: str, donors: list[str]) -> None:
    assert degrade(text, donors, "en", random.Random(0)) is None


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4), st.integers(0, 9))
def test_any_text_is_changed_or_refused(text: str, donors: list[str], seed: int) -> None:
    for language in ("en", "zh", "ar"):
        bad = degrade(text, donors, language, random.Random(seed))
        assert bad is None or bad.split() != text.split()


@given(
    n_targets=st.integers(0, 120),
    n_controls=st.integers(0, 20),
    n_even=st.integers(0, 5),
    spacing=st.integers(0, 6),
    seed=st.integers(0, 5),
)
def test_orders_keep_their_distances(
    n_targets: int, n_controls: int, n_even: int, spacing: int, seed: int
) -> None:
    assume(n_targets or not n_controls)
    partners: list[int | None] = [i % n_targets if i % 3 else None for i in range(n_controls)]
    partners += [None] * n_even
    try:
        order = spaced_order(n_targets, partners, spacing, rng=random.Random(seed), n_even=n_even)
    except CrowdedError:
        # Refusing is allowed only where it is tight.
        assert n_targets < len(partners) * (2 * spacing + 2)
        return
    assert sorted(order) == list(range(n_targets + len(partners)))
    if not spacing:
        return
    places = [order.index(n_targets + i) for i in range(len(partners))]
    ordered = sorted(places)
    assert all(b - a > spacing for a, b in itertools.pairwise(ordered))
    for place, partner in zip(places, partners, strict=True):
        assert partner is None or abs(order.index(partner) - place) > spacing


@pytest.mark.parametrize("n", [98, 99, 100, 101])
def test_batches_of_any_size_have_room(n: int) -> None:
    order = spaced_order(n, [*range(10), *range(20, 30)], 3, rng=random.Random(3))
    assert len(order) == n + 20


def test_as_many_controls_as_there_is_room_for() -> None:
    rng = random.Random(1)
    assert most_controls(12, 4) == 4
    assert spaced_order(12, [None] * 4, 4, rng=rng)  # C tttt C tttt C tttt C
    with pytest.raises(CrowdedError):
        spaced_order(12, [None] * 5, 4, rng=rng)


def test_gold_is_spread_but_not_by_a_rhythm() -> None:
    """One in every part of twenty, and no place in a part more likely than another."""
    found = Counter[int]()
    for seed in range(200):
        order = spaced_order(95, [None] * 5, 0, rng=random.Random(seed), n_even=5)
        places = sorted(order.index(95 + i) for i in range(5))
        assert [place // 20 for place in places] == list(range(5))
        found.update(place % 20 for place in places)
    assert chisquare([found[phase] for phase in range(20)]).pvalue > 1e-5
