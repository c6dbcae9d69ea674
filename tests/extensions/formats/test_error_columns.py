"""Errors in numbered columns, and tags of words, are error spans."""

from pathlib import Path

import pytest

from annotation.models import Judgment
from tests.files import samples
from tests.files.doors import judge, refuses
from tests.files.test_cases import spans
from tests.files.test_formats import written
from tests.files.test_rules import read
from tests.refusals import tells

pytestmark = pytest.mark.django_db


def found() -> list[tuple[str, str, str, str]]:
    return sorted(
        (each.assignment.item.segment.key, span.side, span.severity, span.category)
        for each in Judgment.objects.all()
        for span in each.spans.all()
    )


@pytest.mark.parametrize("title", ["Error{}_{}", "error_{}_{}", "Error {} - {}", "err{}{}"])
def test_an_error_is_in_the_columns_of_a_number(tmp_path: Path, title: str) -> None:
    text = samples.NUMBERED_ERRORS
    for n in (1, 2):
        for key in ("Type", "Severity"):
            text = text.replace(f"Error{n}_{key}", title.format(n, key))
    out = judge(written(tmp_path, "e.csv", text))
    assert tells(out, "format.errors-without-place", n=2)
    assert found() == [
        ("1", "target", "major", "omission"), ("1", "target", "minor", "spelling"),
    ]  # fmt: skip
    assert Judgment.objects.count() == 2


def test_numbered_errors_have_the_places_that_are_stated(tmp_path: Path) -> None:
    head = "segment,system,annotator,output,severity_1,category_1,error_text_1\n"
    judge(written(tmp_path, "e.csv", f"{head}1,A,R,Ein Feler.,minor,Spelling,Feler\n"))
    assert spans() == [("Feler", 4, 9, "minor")]


# Tags of three words: of words; of words and the end; of gaps and words.
@pytest.mark.parametrize("tags", [
    "OK BAD BAD", "OK BAD BAD OK", "OK OK OK BAD OK BAD OK", '["OK", "BAD", "BAD"]',
])  # fmt: skip
def test_words_that_are_bad_one_after_the_other_are_an_error(tmp_path: Path, tags: str) -> None:
    text = f"segment\tsystem\tannotator\tmt\ttags\n1\tA\tR\tein kurzer Satz\t{tags}\n"
    path = written(tmp_path, "t.tsv", text)
    with refuses("judgments.no-severity"):
        judge(path)
    judge(path, severity="major")
    assert spans() == [("kurzer Satz", 4, 15, "major")]


def test_tags_of_both_sides_and_of_gaps(tmp_path: Path) -> None:
    out = judge(written(tmp_path, "t.tsv", samples.WORD_TAGS), severity="minor")
    assert "Skipped 1 tag BAD" in out
    assert [each[:2] for each in found()] == [("1", "target"), ("2", "source")]


@pytest.mark.parametrize("door", ["judgments", "spans"])
def test_tags_that_do_not_fit_or_have_no_words_are_refused(door: str) -> None:
    _, report = read(door, "t.tsv", samples.WORD_TAGS.replace("OK BAD BAD OK", "OK BAD"))
    assert ("format.tags-unequal", 2) in [(e.code, e.place.row) for e in report.errors]
    _, report = read(door, "t.tsv", samples.WORD_TAGS.replace("\toutput\t", "\tnotes\t"))
    assert [error.code for error in report.errors] == ["format.tags-alone"]
    _, report = read(door, "test.tags", "OK BAD\nOK\n")
    assert [error.code for error in report.errors] == ["format.tags-alone"]


def test_ratings_called_ok_and_bad_are_no_tags() -> None:
    _, report = read("judgments", "t.csv", "segment,system,annotator,score\n1,A,R,OK\n2,A,R,BAD\n")
    assert "format.read" not in {note.code for note in report.notes}
