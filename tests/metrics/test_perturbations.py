"""Altered texts: what is kept and what changes."""

import csv
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from metrics import perturbations
from metrics.perturbations import Dictionary

TEXT = "Nobody saw the ships , which left early , and nobody asked ."
RANDOM = [perturbations.reorder, perturbations.shuffle_some, perturbations.permute_clauses]


def rng(seed: int = 1) -> random.Random:
    return random.Random(seed)


@pytest.mark.parametrize("alter", RANDOM)
@pytest.mark.parametrize("seed", range(10))
def test_words_are_kept_and_moved(alter: Callable[..., str | None], seed: int) -> None:
    found = alter(TEXT, rng(seed))
    assert found is not None
    assert found != TEXT
    assert Counter(found.split()) == Counter(TEXT.split())
    assert alter(TEXT, rng(seed)) == found


@pytest.mark.parametrize("alter", RANDOM)
def test_characters_move_where_a_script_has_no_blanks(alter: Callable[..., str | None]) -> None:
    text = "港口整个上午都很安静，没有人看见船。"
    found = alter(text, rng(), spaced=False)
    assert found is not None
    assert found != text
    assert Counter(found) == Counter(text)


@pytest.mark.parametrize("alter", [*RANDOM, perturbations.repeat_some])
@pytest.mark.parametrize("text", ["", "word", "  "])
def test_a_word_alone_cannot_be_altered(alter: Callable[..., str | None], text: str) -> None:
    assert alter(text, rng()) is None


def test_equal_words_have_one_order() -> None:
    assert perturbations.reorder("no no no", rng()) is None


def test_all_orders_of_three_words_but_the_first_occur() -> None:
    found = {perturbations.reorder("a b c", rng(seed)) for seed in range(200)}
    assert found == {"a c b", "b a c", "b c a", "c a b", "c b a"}


def test_half_of_the_words_are_exchanged() -> None:
    words = "abcdefghij"
    for seed in range(20):
        found = perturbations.shuffle_some(" ".join(words), rng(seed))
        assert found is not None
        moved = sum(left != right for left, right in zip(words, found.split(), strict=True))
        assert 2 <= moved <= 5


def test_four_words_in_ten_are_repeated_in_place() -> None:
    found = perturbations.repeat_some("a b c d e f g h i j", rng())
    assert found is not None
    words = found.split()
    assert len(words) == 14
    assert list(dict.fromkeys(words)) == list("abcdefghij")
    assert sum(left == right for left, right in pairwise(words)) == 4


def test_clauses_change_places_and_the_stop_stays() -> None:
    assert perturbations.permute_clauses("He left, she stayed.", rng()) == "she stayed, He left."
    assert perturbations.permute_clauses("他走了，她留下。", rng(), spaced=False) == (
        "她留下，他走了。"
    )


def test_numbers_are_no_clauses() -> None:
    found = perturbations.permute_clauses("It cost 3,500 at 10:30, they said.", rng())
    assert found == "they said, It cost 3,500 at 10:30."


def test_one_clause_is_cut_and_exchanged() -> None:
    found = {perturbations.permute_clauses("a b c.", rng(seed)) for seed in range(50)}
    assert found == {"b c a.", "c a b."}


def test_source_order_by_hand() -> None:
    # "Ich habe ihn gestern gesehen" - "I saw him yesterday"
    alignment = [(0, 0), (1, 1), (4, 1), (2, 2), (3, 3)]
    assert perturbations.source_order("I saw him yesterday", alignment) == "I him saw yesterday"
    assert perturbations.source_order("I saw him", [(0, 0), (1, 1), (2, 2)]) is None
    # An unaligned word stays behind the one before it.
    assert perturbations.source_order("a b c d", [(3, 0), (0, 2)]) == "c d a b"
    with pytest.raises(ValueError, match="link 0-4: the text has 2 words"):
        perturbations.source_order("a b", [(0, 4)])


def test_source_order_of_real_alignments_has_no_crossings(data_dir: Path) -> None:
    with (data_dir / "parallel" / "zh-en.word-aligned.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[:100]
    assert len(rows) == 100
    n_changed = 0
    for row in rows:
        pairs = [tuple(map(int, pair.split("-"))) for pair in row["awesome_align"].split()]
        words = row["target_tokens"].split(" ")
        numbered = " ".join(map(str, range(len(words))))
        found = perturbations.source_order(numbered, [(pair[0], pair[1]) for pair in pairs])
        order = list(map(int, (found or numbered).split()))
        assert sorted(order) == list(range(len(words)))
        n_changed += found is not None
        means: dict[int, list[int]] = {}
        for source, target in pairs:
            means.setdefault(target, []).append(source)
        places = [sum(means[word]) / len(means[word]) for word in order if word in means]
        assert places == sorted(places)
    assert n_changed > 50


GERMAN = Dictionary({"der": "the", "Hafen": "harbour", "war": "was", "still": "quiet"}, 5)


def test_word_by_word_in_source_order() -> None:
    text, share = perturbations.word_by_word("Gestern war der Hafen still.", GERMAN)
    assert text == "Gestern was the harbour quiet."
    assert share == pytest.approx(4 / 5)
    assert perturbations.word_by_word("Gestern regnete es.", GERMAN) == (None, 0.0)
    assert perturbations.word_by_word("", GERMAN) == (None, 0.0)
    assert perturbations.word_by_word("Der Hafen", GERMAN)[0] == "the harbour"  # lower case too


def test_word_by_word_takes_the_longest_word_where_there_are_no_blanks() -> None:
    chinese = Dictionary({"港": "port", "港口": "harbour", "安静": "quiet"}, 2)
    text, share = perturbations.word_by_word("港口很安静。", chinese, spaced=False)
    assert text == "harbour 很 quiet。"
    assert share == pytest.approx(2 / 3)
    english = Dictionary({"harbour": "港口", "quiet": "安静"}, 7)
    assert (
        perturbations.word_by_word("harbour quiet", english, target_spaced=False)[0] == "港口安静"
    )
