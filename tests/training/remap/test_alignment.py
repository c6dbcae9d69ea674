"""Alignment: a toy corpus with one answer, the gold links of real text, symmetrisation by hand."""

import csv
from pathlib import Path

import pytest

from training.remap import alignment
from training.remap.alignment import Links, symmetrise


def error_rate(found: Links, sure: Links, possible: Links) -> tuple[int, int]:
    """Return (agreements, links) of a pair: AER is 1 − the sum of the first over the second.

    Och and Ney 2003, equation 6; ``possible`` includes the sure ones.
    """
    return len(found & sure) + len(found & (possible | sure)), len(found) + len(sure)


def links_of(text: str) -> Links:
    pairs = (link.split("-") for link in text.split())
    return {(int(i), int(j)) for i, j in pairs}


@pytest.fixture(scope="module")
def gold() -> list[dict[str, str]]:
    from django.conf import settings

    path = Path(settings.DATA_DIR) / "parallel" / "zh-en.word-aligned.tsv"
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def rate(rows: list[dict[str, str]], found: list[Links]) -> float:
    both = [
        error_rate(links, links_of(row["gold_sure"]), links_of(row["gold_possible"]))
        for row, links in zip(rows, found, strict=True)
    ]
    return 1 - sum(a for a, _ in both) / sum(b for _, b in both)


def test_words_that_occur_together_are_linked() -> None:
    text = [("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book")]
    pairs = [(source.split(), target.split()) for source, target in text]
    assert alignment.align(pairs) == [{(0, 0), (1, 1)}] * 3


def test_capitals_make_no_difference() -> None:
    pairs = [(["Das", "Haus"], ["The", "house"]), (["das", "Buch"], ["the", "book"])]
    lowered = [([w.lower() for w in s], [w.lower() for w in t]) for s, t in pairs]
    assert alignment.align(pairs) == alignment.align(lowered)


def test_the_error_rate_is_the_published_one(gold: list[dict[str, str]]) -> None:
    """awesome-align's own links: its README says 13.4%, the data's notes 13.3."""
    assert rate(gold, [links_of(row["awesome_align"]) for row in gold]) == pytest.approx(
        0.133, abs=0.0005
    )


def test_both_directions_beat_one_and_the_diagonal_on_real_text(
    gold: list[dict[str, str]],
) -> None:
    pairs = [(row["source_tokens"].split(), row["target_tokens"].split()) for row in gold]
    diagonal = [
        {(j * len(source) // len(target), j) for j in range(len(target))}
        for source, target in pairs
    ]
    forward = alignment.Model.fit(pairs).links(pairs)
    found = rate(gold, alignment.align(pairs))
    assert found < rate(gold, forward) < rate(gold, diagonal)


def test_empty_sides_have_no_links() -> None:
    assert alignment.align([(["a"], []), ([], ["b"]), (["c"], ["d"])])[:2] == [set(), set()]
    assert alignment.align([]) == []


def test_grow_diag_final_and_by_hand() -> None:
    """The middle is agreed on; (1, 1) grows from it, (3, 3) is isolated, (0, 2) is in nobody's
    way only for one of its words."""
    forward = {(0, 0), (1, 1), (3, 3)}
    backward = {(0, 0), (0, 3)}
    assert symmetrise(forward, backward, 4, 4) == {(0, 0), (1, 1), (3, 3)}


def test_the_final_step_links_two_free_words_only() -> None:
    assert symmetrise({(0, 0), (2, 5)}, {(0, 0), (2, 4)}, 6, 6) == {(0, 0), (2, 5)}
