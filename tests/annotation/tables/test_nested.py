"""Lists and objects in JSON say in every import what rows say."""

from typing import Any

import pytest

from tests.files.test_rules import DOORS, ROWS, Row, lines, read

pytestmark = pytest.mark.django_db
KEYS = ("segment", "source")
BASE = {"segment": "1", "source": "Eins", "system": "Nemo", "output": "One"}


def in_lists(rows: list[Row], *levels: tuple[str, ...]) -> list[Row]:
    """Group rows by the keys of each level; the objects of a group are in a list."""
    keys, *deeper = levels
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        own = {key: row[key] for key in keys if key in row}
        rest = {key: cell for key, cell in row.items() if key not in own}
        place = found.setdefault(tuple(own.values()), {**own, "entries": []})
        place["entries"].append(rest)
    for place in found.values():
        if deeper:
            place["entries"] = in_lists(place["entries"], *deeper)
    return list(found.values())


@pytest.mark.parametrize("door", DOORS)
def test_objects_in_lists_are_rows(door: str) -> None:
    rows = [row | {"system": name} for row in ROWS[door] for name in ("Nemo", "Online-W")]
    if door == "test set":
        rows = [row | {"output": f"{row['output']} {n}"} for n, row in enumerate(rows)]
    wanted, report = read(door, "t.jsonl", lines(rows))
    assert report.errors == []
    found, report = read(door, "t.jsonl", lines(in_lists(rows, KEYS)))
    assert [str(error) for error in report.errors] == []
    assert found == wanted
    assert "table.lists-as-rows" in {note.code for note in report.notes}


def test_lists_within_lists_are_rows() -> None:
    given = [{"annotator": who, "system": system, "segment": "1", "source": "Eins",
              "output": f"One {system}", "score": score}
             for who, system, score in (("R", "A", 0), ("S", "A", 5), ("R", "B", 9))]  # fmt: skip
    wanted, _ = read("judgments", "t.jsonl", lines(given))
    nested = in_lists(given, KEYS, ("system", "output"))
    found, report = read("judgments", "t.jsonl", lines(nested))
    assert report.errors == []
    assert found == wanted


@pytest.mark.parametrize(
    "ratings",
    [
        {"annotator-1": 0, "annotator-2": 60},
        {"annotator-1": {"score": 0}, "annotator-2": {"score": 60}},
        [{"annotator": "annotator-1", "score": 0}, {"annotator": "annotator-2", "score": 60}],
        [{"rater": "annotator-1", "value": 0}, {"rater": "annotator-2", "value": 60}],
    ],
)
@pytest.mark.parametrize("key", ["ratings", "judgments", "Evaluations"])
def test_ratings_by_person_are_judgments(key: str, ratings: Any) -> None:
    """A score of 0 is a score."""
    rows = [
        BASE | {"annotator": f"annotator-{n}", "score": score} for n, score in ((1, 0), (2, 60))
    ]
    wanted, _ = read("judgments", "t.jsonl", lines(rows))
    found, report = read("judgments", "t.json", lines([BASE | {key: ratings}]))
    assert report.errors == []
    assert found == wanted


def test_one_person_and_answers_of_every_kind_in_objects() -> None:
    spans = [{"start": 0, "end": 3, "severity": "minor"}]
    own = {"score": 70, "comment": "good", "spans": spans}
    wanted, _ = read("judgments", "t.jsonl", lines([BASE | {"annotator": "ann@example.org"} | own]))
    found, report = read(
        "judgments", "t.json", lines([BASE | {"ratings": {"ann@example.org": own}}])
    )
    assert report.errors == []
    assert found == wanted


def test_scores_by_numbered_annotators_are_not_those_of_systems() -> None:
    rows = [
        {"segment": "1", "output": "One", "source": "Eins", "scores": {"rater1": 0, "rater2": 9}}
    ]
    (first,), report = read("judgments", "t.json", lines(rows))
    assert report.errors == []
    assert [(each.annotator, each.score) for each in first[2]] == [("rater1", 0), ("rater2", 9)]


@pytest.mark.parametrize("door", ["judgments", "spans"])
def test_lists_of_errors_are_no_rows(door: str) -> None:
    """Errors may name who marked them."""
    spans = [{"start": 0, "end": 3, "severity": "minor", "annotator": "R"}]
    row = BASE | {"segment": "1", "annotator": "R", "errors": spans}
    found, report = read(door, "t.json", lines([row]))
    assert report.errors == []
    assert "table.lists-as-rows" not in {note.code for note in report.notes}
    assert found


@pytest.mark.parametrize("wrapper", ["result", "annotation", "Judgment"])
@pytest.mark.parametrize("door", ["judgments", "human scores"])
def test_fields_in_an_object_of_the_row_are_its_own(door: str, wrapper: str) -> None:
    rows = ROWS[door]
    wanted, _ = read(door, "t.jsonl", lines(rows))
    inner = ("score", "human_score", "output")
    packed = [
        {key: cell for key, cell in row.items() if key not in inner}
        | {wrapper: {key: row[key] for key in inner if key in row}}
        for row in rows
    ]
    found, report = read(door, "t.jsonl", lines(packed))
    assert report.errors == []
    assert found == wanted


@pytest.mark.parametrize("door", ["judgments", "spans"])
def test_lists_of_errors_by_severity_are_spans(door: str) -> None:
    row = BASE | {"annotator": "R", "output": "Nemo 1"}
    wanted, report = read(
        door, "t.jsonl", lines([row | {"spans": [{"text": "Nemo", "severity": "major"}]}])
    )
    assert report.errors == []
    listed = {"critical": [], "major": ["Nemo"], "minor": None}
    found, report = read(door, "t.jsonl", lines([row | listed]))
    assert report.errors == []
    assert (found, bool(found)) == (wanted, True)


@pytest.mark.parametrize(
    "outputs",
    [{"outputs": {"a": "Hi", "b.2": "Yo"}}, {"translations": {"a": "Hi", "b.2": "Yo"}},
     {"outputs": [{"system": "a", "text": "Hi"}, {"system": "b.2", "text": "Yo"}]}],
)  # fmt: skip
def test_outputs_by_system_are_outputs(outputs: Any) -> None:
    found, report = read("test set", "t.json", lines([{"source": "Hallo"} | outputs]))
    assert report.errors == []
    assert found == [("1", "Hallo", {}), ("a", {"1": "Hi"}), ("b.2", {"1": "Yo"})]
