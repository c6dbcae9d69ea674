"""Texts in the order of their source: by hand, and over real alignments."""

import csv
from pathlib import Path

import pytest

from training.perturbations import rules
from training.perturbations.rules import Dictionary, LinkError


def test_source_order_by_hand() -> None:
    # "Ich habe ihn gestern gesehen" - "I saw him yesterday"
    alignment = [(0, 0), (1, 1), (4, 1), (2, 2), (3, 3)]
    assert rules.source_order("I saw him yesterday", alignment) == "I him saw yesterday"
    assert rules.source_order("I saw him", [(0, 0), (1, 1), (2, 2)]) is None
    # An unaligned word stays behind the one before it.
    assert rules.source_order("a b c d", [(3, 0), (0, 2)]) == "c d a b"
    with pytest.raises(LinkError, match="0-4"):
        rules.source_order("a b", [(0, 4)])


def test_source_order_of_real_alignments_has_no_crossings(data_dir: Path) -> None:
    with (data_dir / "parallel" / "zh-en.word-aligned.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[:100]
    assert len(rows) == 100
    n_changed = 0
    for row in rows:
        pairs = [tuple(map(int, pair.split("-"))) for pair in row["awesome_align"].split()]
        words = row["target_tokens"].split(" ")
        numbered = " ".join(map(str, range(len(words))))
        found = rules.source_order(numbered, [(pair[0], pair[1]) for pair in pairs])
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
    text, share = rules.word_by_word("Gestern war der Hafen still.", GERMAN)
    assert text == "Gestern was the harbour quiet."
    assert share == pytest.approx(4 / 5)
    assert rules.word_by_word("Gestern regnete es.", GERMAN) == (None, 0.0)
    assert rules.word_by_word("", GERMAN) == (None, 0.0)
    assert rules.word_by_word("Der Hafen", GERMAN)[0] == "the harbour"  # lower case too


def test_word_by_word_takes_the_longest_word_where_there_are_no_blanks() -> None:
    chinese = Dictionary({"港": "port", "港口": "harbour", "安静": "quiet"}, 2)
    text, share = rules.word_by_word("港口很安静。", chinese, spaced=False)
    assert text == "harbour 很 quiet。"
    assert share == pytest.approx(2 / 3)
    english = Dictionary({"harbour": "港口", "quiet": "安静"}, 7)
    assert rules.word_by_word("harbour quiet", english, target_spaced=False)[0] == "港口安静"
