"""Tables with a column for each segment, document, domain or system, at every door of scores."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation.models import PublishedPart, PublishedScore, Segment
from tests.files.doors import judge, of_talks, refuses, run
from tests.files.test_cases import imported, scores
from tests.files.test_formats import written
from tests.files.test_rules import read

pytestmark = pytest.mark.django_db
SCORES = {"Nemo": (70, 80, 90), "Online-W": (50, 60, 55)}
# A door, what its rows have beside system and segment, and the column of its scores.
DOORS = {
    "judgments": ({"annotator": "R"}, "score"),
    "human scores": ({}, "human"),
    "metric scores": ({"metric": "COMET"}, "score"),
}


def table(rows: Sequence[dict[str, Any]]) -> str:
    cells = io.StringIO()
    writer = csv.DictWriter(cells, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return cells.getvalue()


@pytest.mark.parametrize("title", ["{}", "seg{}", "Segment {}", "Satz-{}", "sentence_{}"])
@pytest.mark.parametrize("door", DOORS)
def test_a_column_for_each_segment(door: str, title: str) -> None:
    of_talks(3)
    beside, score = DOORS[door]
    long = [
        {**beside, "system": name, "segment": n, score: value}
        for name, own in SCORES.items()
        for n, value in enumerate(own, 1)
    ]
    wide = [
        {**beside, "system": name} | {title.format(n): value for n, value in enumerate(own, 1)}
        for name, own in SCORES.items()
    ]
    (wanted, _), (found, report) = (read(door, "COMET.csv", table(rows)) for rows in (long, wide))
    assert not report.errors
    assert found == wanted
    assert "judgments.column-per-part" in {note.code for note in report.notes}


@pytest.mark.parametrize("door", ["judgments", "human scores"])
def test_a_cell_without_a_number_in_a_column_of_a_segment_is_an_error(door: str) -> None:
    beside, _ = DOORS[door]
    rows = [{**beside, "system": "A", "1": 5, "2": 7}, {**beside, "system": "B", "1": 6, "2": "x"}]
    _, report = read(door, "t.csv", table(rows))
    assert [error.place.row for error in report.errors] == [3]


def test_segments_are_called_as_the_test_set_calls_them(tmp_path: Path) -> None:
    test_set = of_talks(3)
    for segment in Segment.objects.all():
        Segment.objects.filter(pk=segment.pk).update(key=f"seg{segment.position}")
    path = written(tmp_path, "COMET.csv", "system,seg1,seg2,seg3\nNemo,.7,.8,.9\n")
    run("import_scores", "talks", path)
    wanted = {("Nemo", f"seg{n}"): n / 10 + 0.6 for n in (1, 2, 3)}
    assert imported(test_set)["imported-comet"] == pytest.approx(wanted)


@pytest.mark.parametrize("level", ["document", "domain"])
def test_a_column_for_each_document_or_domain_of_the_test_set(tmp_path: Path, level: str) -> None:
    of_talks(4)
    for segment in Segment.objects.all():
        part = "news" if segment.position < 3 else "ted"
        Segment.objects.filter(pk=segment.pk).update(**{level: part})
    path = written(tmp_path, "t.csv", "system,news,ted\nNemo,70,80\nOnline-W,60,50\n")
    run("import_human_scores", path, test_set="talks")
    found = {(p.system.name, p.level, p.name): p.value for p in PublishedPart.objects.all()}
    assert found == {
        ("Nemo", level, "news"): 70, ("Nemo", level, "ted"): 80,
        ("Online-W", level, "news"): 60, ("Online-W", level, "ted"): 50,
    }  # fmt: skip


def test_a_column_for_each_system_and_a_row_for_each_score(tmp_path: Path) -> None:
    text = "metric,Nemo,Online-W\nDA,70,50\nMQM,-3,-5\n"
    run(
        "import_human_scores", written(tmp_path, "t.csv", text),
        source_language="zh", target_language="en",
    )  # fmt: skip
    found = {(p.campaign.slug, p.system.name): p.value for p in PublishedScore.objects.all()}
    assert found == {
        ("t-da", "Nemo"): 70, ("t-da", "Online-W"): 50,
        ("t-mqm", "Nemo"): -3, ("t-mqm", "Online-W"): -5,
    }  # fmt: skip


def test_judgments_of_systems_that_the_test_set_has(tmp_path: Path) -> None:
    of_talks(2)
    text = "annotator,segment,Nemo,Online-W,clicks\nR,1,70,80,3\nR,2,50,60,4\n"
    judge(written(tmp_path, "t.csv", text), pair="", test_set="talks")
    assert scores() == {
        ("R", "1", "Nemo"): 70, ("R", "1", "Online-W"): 80,
        ("R", "2", "Nemo"): 50, ("R", "2", "Online-W"): 60,
    }  # fmt: skip


def test_columns_of_annotators_are_no_systems(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "segment,n,rater_1,rater_2\n1,2,70,80\n2,2,50,60\n")
    with refuses("human-scores.of-annotators", names=["rater_1", "rater_2"]):
        run("import_human_scores", path, source_language="zh", target_language="en")
