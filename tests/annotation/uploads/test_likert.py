"""Scores that are words, ranks or preferences: read by a stated order, or refused exactly."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from annotation.uploads import InputFile
from tests.files.test_rules import DOORS, ROWS, Reading, separated

pytestmark = pytest.mark.django_db
DOORS_OF_SCORES = {"judgments": "score", "human scores": "human_score"}
AGREE = ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree")


def read(door: str, rows: Sequence[Mapping[str, Any]], **columns: str) -> Reading:
    return DOORS[door](InputFile.holding("t.csv", separated(rows).encode()), frozenset(), columns)


def rated(door: str, cells: Sequence[str], name: str = "") -> list[dict[str, Any]]:
    """Rows of several segments with these scores in a column."""
    base = {k: v for k, v in ROWS[door][0].items() if k != DOORS_OF_SCORES[door]}
    name = name or DOORS_OF_SCORES[door]
    return [
        base | {"segment": str(n), "source": f"S {n}", name: cell} for n, cell in enumerate(cells)
    ]


def numbers(door: str, found: Any) -> list[float]:
    _, _, judgments, scores = found[0]
    return [j.score for j in judgments] if door == "judgments" else [*scores.values()]


@pytest.mark.parametrize("door", DOORS_OF_SCORES)
@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (AGREE, (0, 1, 2, 3, 4)),
        (("Strongly Agree", "DISAGREE ", "agree"), (4, 1, 3)),
        (("Bad", "Excellent", "Good"), (1, 4, 3)),
        (("trifft voll und ganz zu", "trifft eher nicht zu", "teils/teils"), (4, 1, 2)),
        (("sehr gut", "mittel", "sehr schlecht"), (4, 2, 0)),
        (("非常同意", "不同意", "一般"), (4, 1, 2)),
        (("很好", "差", "中等"), (4, 1, 2)),
    ],
)
def test_the_words_of_known_scales_are_read_as_is_said(
    door: str, cells: Sequence[str], levels: Sequence[int]
) -> None:
    found, report = read(door, rated(door, cells))
    assert not report.errors
    wanted = [25 * n if door == "judgments" else n + 1 for n in levels]
    assert numbers(door, found) == wanted
    (warning,) = [each for each in report.warnings if each.code == "scores.words-read"]
    assert len(warning.message.parameters["numbers"]) == len(cells)
    assert DOORS_OF_SCORES[door] in report.files["t.csv"].words


@pytest.mark.parametrize("door", DOORS_OF_SCORES)
def test_other_words_are_one_error_until_their_order_is_stated(door: str) -> None:
    rows = rated(door, ("meh", "ugh", "wow", "meh"))
    _, report = read(door, rows)
    assert [error.code for error in report.errors] == ["scores.words"]
    assert report.errors[0].message.parameters["words"] == ["meh", "ugh", "wow"]
    found, report = read(door, rows, **{"(words)": "ugh < meh < wow"})
    assert not report.errors
    first = (50, 0, 100, 50) if door == "judgments" else (2, 1, 3, 2)
    assert numbers(door, found) == list(first)
    _, report = read(door, rows, **{"(words)": "ugh < meh"})
    assert report.errors[0].message.parameters["words"] == ["wow"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("5 - Excellent", "1 (bad)", "3"), [5, 1, 3]),
        (("4/5", "5 / 5", "0/5"), [4, 5, 0]),
        (("4 von 5", "1 of 5", "3 out of 5"), [4, 1, 3]),
        (("★★★★☆", "☆☆☆☆☆", "★★★★★"), [4, 0, 5]),
        (("⭐⭐⭐⭐", "⭐\ufe0f⭐\ufe0f", "3"), [4, 2, 3]),
    ],
)
@pytest.mark.parametrize("door", DOORS_OF_SCORES)
def test_numbers_with_labels_are_numbers(
    door: str, cells: tuple[str, ...], expected: list[int]
) -> None:
    found, report = read(door, rated(door, cells))
    assert not report.errors
    assert numbers(door, found) == expected
    assert "scores.labels" in {note.code for note in report.notes}


@pytest.mark.parametrize(
    "cells", [("4/5", "8/10", "1/5"), ("6/5", "4/5", "1/5"), ("7", "4/5", "1")]
)
@pytest.mark.parametrize("door", DOORS_OF_SCORES)
def test_numbers_of_several_scales_are_refused(door: str, cells: tuple[str, ...]) -> None:
    _, report = read(door, rated(door, cells))
    assert report.errors


def test_a_highest_number_that_is_not_the_end_of_the_scale_is_a_warning() -> None:
    _, report = read("judgments", rated("judgments", ("13/20", "5/20", "20/20")))
    (warning,) = [each for each in report.warnings if each.code == "scores.other-highest"]
    assert warning.message.parameters == {"highest": "20", "end": "100"}
    _, report = read("judgments", rated("judgments", ("13/100", "5/100", "99/100")))
    assert "scores.other-highest" not in {each.code for each in report.warnings}


@pytest.mark.parametrize("name", ["rank", "Rang", "排名", "preference", "winner", "system1rank"])
@pytest.mark.parametrize("door", DOORS_OF_SCORES)
def test_ranks_and_preferences_are_refused_by_name(door: str, name: str) -> None:
    cells = ("A", "B", "A") if name in ("preference", "winner") else ("1", "3", "2")
    _, report = read(door, rated(door, cells, name))
    (error,) = report.errors
    assert error.code in ("scores.ranks", "scores.preferences")
    assert str(error.place.field) == name


def test_ranks_are_scores_by_a_stated_order() -> None:
    rows = rated("judgments", ("1", "3", "2"), "rank")
    columns = {"rank": "score"}
    _, report = read("judgments", rows, **columns)
    assert [error.code for error in report.errors] == ["scores.ranks"]
    found, report = read("judgments", rows, **columns, **{"(words) rank": "3 < 2 < 1"})
    assert not report.errors
    assert numbers("judgments", found) == [100, 0, 50]
    found, report = read("human scores", rated("human scores", ("1", "3", "2"), "rank"), **columns)
    assert not report.errors
    assert "direction.column-lower" in {note.code for note in report.notes}


def test_a_column_of_words_for_each_annotator() -> None:
    rows = [row | {"rater1": "good", "rater2": "bad"} for row in rated("judgments", ("", ""), "x")]
    rows = [{k: v for k, v in row.items() if k not in ("annotator", "x")} for row in rows]
    found, report = read("judgments", rows)
    assert not report.errors
    assert sorted(numbers("judgments", found)) == [0, 0, 100, 100]


@pytest.mark.parametrize("door", DOORS_OF_SCORES)
@pytest.mark.parametrize("cells", [("Agree", "Strongly disagree"), ("Bad", "Good", "Very bad")])
def test_the_order_that_a_page_shows_reads_the_same_numbers(
    door: str, cells: Sequence[str]
) -> None:
    rows = rated(door, cells)
    wanted, report = read(door, rows)
    ((title, order),) = report.files["t.csv"].words.items()
    found, report = read(door, rows, **{f"(words) {title}": order})
    assert not report.errors
    assert found == wanted
