"""Wide tables become long at every door: how many cells they may have, and where errors are."""

import json
from typing import Any

import pytest

from annotation.imports import background
from annotation.uploads import InputFile, problems
from metaeval.files import cells
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, ROWS, read, separated

pytestmark = pytest.mark.django_db
JUDGED = "segment,annotator,score_A,score_B\n1,R,80,70\n2,R,60,150\n"
# A door and a table, with the row and the column of its only wrong cell.
WRONG = {
    "judgments of systems": ("judgments", JUDGED, 3, "score_B"),
    "judgments of annotators": (
        "judgments", "segment,system,Coder 1,Coder 2\n1,A,80,70\n2,A,60,150\n", 3, "Coder 2",
    ),
    "judgments of segments": (
        "judgments", "annotator,system,Seg1,Seg2\nR,A,80,70\nR,B,60,150\n", 3, "Seg2",
    ),
    "judgments under two headers": (
        "judgments", ",,A,B\nsegment,annotator,Score,Score\n1,R,80,70\n2,R,60,150\n", 4, "B.Score",
    ),
    "human scores of systems": ("human scores", "segment,A,B\n1,.5,.6\n1,.5,.7\n", 3, "B"),
    "human scores of segments": ("human scores", "system,1,2\nA,5,7\nB,6,x\n", 3, "2"),
    "human scores of names": (
        "human scores", "segment,system,esa_1,esa_2\n1,A,5,7\n2,A,6,x\n", 3, "esa_2",
    ),
    "metric scores of systems": (
        "metric scores", "segment,Nemo,Online-W\n1,.5,.6\n2,.7,x\n", 3, "Online-W",
    ),
    "metric scores of systems and metrics": (
        "metric scores", "segment,COMET.Nemo,COMET.Online-W\n1,.5,.6\n2,.7,x\n", 3,
        "COMET.Online-W",
    ),
    "metric scores of segments": ("metric scores", "system,1,2\nNemo,5,7\nOnline-W,6,x\n", 3, "2"),
    "metric scores of unknown segments": ("metric scores", "system,1,Seg9\nNemo,5,7\n", 2, "Seg9"),
    "metric scores under two headers": (
        "metric scores", ",Nemo,Online-W\nsegment,COMET,COMET\n1,.5,.6\n2,.7,x\n", 4,
        "Online-W.COMET",
    ),
}  # fmt: skip
# The same and others without a wrong cell, each of one row above its names and one below.
LISTS = {
    "judgments": {"segment": "1", "system": "A", "ratings": {"annotator": "R", "score": 5}},
    "human scores": {"segment": "1", "scores": {"system": "A", "human_score": 5}},
    "metric scores": {"segment": "1", "scores": {"system": "Nemo", "COMET": 5}},
    "test set": {"segment": "1", "source": "x", "outputs": {"system": "A", "output": "a"}},
    "spans": {"segment": "1", "outputs": {"system": "Nemo", "spans": []}},
}
LISTED = {
    f"{door} in lists": (door, "t.jsonl", "".join(
        json.dumps(row | {name: [row[name], {**row[name], "system": "Online-W"}]}) + "\n"
        for name in list(row)[-1:] for _ in range(2)
    )) for door, row in LISTS.items()
}  # fmt: skip
WIDE = {name: (door, "COMET.csv", text) for name, (door, text, *_) in WRONG.items()} | LISTED


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_row_and_column_of_the_file(name: str) -> None:
    of_talks(3)
    door, text, row, column = WRONG[name]
    _, report = read(door, "COMET.csv", text)
    assert [(error.place.row, error.place.field) for error in report.errors] == [(row, column)]


@pytest.mark.parametrize("most", [10, 2_000])
def test_wrong_cells_in_many_columns_are_one_error(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "MOST_OF_ONE", most)
    head = ",".join(["annotator", "system", *(f"seg{n}" for n in range(1, 41))])
    rows = [",".join(["R", name, *["150"] * 40]) for name in "ABC"]
    _, report = read("judgments", "t.csv", "\n".join([head, *rows]) + "\n")
    (error,) = report.errors
    assert (error.place.row, error.place.field) == (2, "seg1")
    assert error.more is not None
    assert error.more.parameters["n"] == 120


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_wide_table_is_read_by_a_worker(sign: str, settings: Any) -> None:
    settings.IMPORT_IN_REQUEST_ROWS = 2
    files = [InputFile.holding("t.csv", (sign * n + "\n").encode()) for n in (20, 21)]
    assert [background.is_large([file]) for file in files] == [False, True]


@pytest.mark.parametrize("door", DOORS)
def test_a_wide_table_is_refused_before_its_cells_are_looked_at(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_talks(2)
    monkeypatch.setattr(cells, "MOST_CELLS", 200)
    more = {f"note {n}": "x" for n in range(100)}
    _, report = read(door, "t.csv", separated([row | more for row in ROWS[door]]))
    assert [error.code for error in report.errors] == ["table.too-many-cells"]


@pytest.mark.parametrize("name", WIDE)
def test_more_cells_than_fit_in_memory_are_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("A cell was made.")

    of_talks(3)
    monkeypatch.setattr(cells, "MOST_CELLS", 3)
    with monkeypatch.context() as before:
        before.setattr(cells.SplitLine, "__new__", never)
        _, report = read(*WIDE[name])
    (error,) = report.errors
    parameters = error.message.parameters
    assert (error.code, parameters["limit"]) == ("table.too-many-cells", 3)
    for limit, codes in ((parameters["n"] - 1, {error.code}), (parameters["n"], set())):
        monkeypatch.setattr(cells, "MOST_CELLS", limit)
        _, report = read(*WIDE[name])
        assert {each.code for each in report.errors} & {error.code} == codes
