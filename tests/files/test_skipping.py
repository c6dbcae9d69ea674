"""Check every import: rows can be skipped by kind of problem, are counted, and leave the rest."""

from pathlib import Path

import pytest

from annotation.models import Campaign, SkippedRows
from annotation.uploads.tables.skipping import KIND_OF, KINDS
from metrics.models import MetricImport
from tests.files import doors
from tests.files.test_rules import DOORS, ROWS, Row, lines, read, separated
from tests.refusals import tells

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
TORN = "torn"
# A row with a problem of each kind, by door; the first two rows are right.
WRONG: dict[str, dict[str, Row]] = {
    "test set": {
        "empty": {"segment": "3", "source": ""},
        "unusable": {"segment": "3", "source": "a\x00b"},
        "duplicate": {"segment": "1"},
        "contradiction": {"segment": "1", "system": "Other", "source": "Vier."},
    },
    "judgments": {
        "empty": {"segment": "", "annotator": "S"},
        "unusable": {"segment": "3", "annotator": "a\x01b"},
        "contradiction": {"segment": "1", "annotator": "S", "source": "Another."},
        "score": {"segment": "1", "annotator": "S", "score": "101"},
    },
    "human scores": {
        "empty": {"system": ""},
        "contradiction": {"segment": "1", "human_score": "0.25"},
        "score": {"human_score": "good"},
    },
    "metric scores": {
        "empty": {"system": ""},
        "unknown-segment": {"segment": "77"},
        "unknown-system": {"system": "Nobody"},
        "duplicate": {"segment": "1"},
        "score": {"segment": "1", "system": "Online-W", "COMET": "x"},
    },
    "spans": {
        "empty": {"segment": ""},
        "unknown-segment": {"segment": "77"},
        "unknown-system": {"system": "Nobody"},
        "span": {"segment": "1", "end": "0"},
    },
}
CASES = [(door, kind) for door, kinds in WRONG.items() for kind in kinds]


@pytest.mark.parametrize(("door", "kind"), CASES)
def test_rows_of_a_chosen_kind_are_skipped_and_counted(door: str, kind: str) -> None:
    rows = ROWS[door]
    wanted, _ = read(door, "t.jsonl", lines(rows))
    content = lines([rows[0], rows[1], rows[0] | WRONG[door][kind]])
    _, refused = read(door, "t.jsonl", content)
    assert {KIND_OF[error.code] for error in refused.errors} == {kind}
    _, refused = read(door, "t.jsonl", content, *(KINDS.keys() - {kind}))
    assert refused.errors, "only what was asked for is skipped"
    found, report = read(door, "t.jsonl", content, kind)
    assert report.errors == []
    assert found == wanted
    (skipped,) = [each for each in report.warnings if each.code == "skip.rows"]
    assert skipped.message.parameters["n"] == 1
    assert skipped.message.parameters["rows"] == [3]
    assert skipped.message.parameters["kind"] == KINDS[kind].label


@pytest.mark.parametrize("door", DOORS)
def test_torn_and_empty_rows_are_skipped(door: str) -> None:
    rows = ROWS[door]
    wanted, _ = read(door, "t.csv", separated(rows))
    header, first, second = separated(rows).splitlines()
    content = "\n".join([header, first, "", "1,2", second, "x", "y", ""])
    _, refused = read(door, "t.csv", content)
    assert {KIND_OF[error.code] for error in refused.errors} == {TORN}
    found, report = read(door, "t.csv", content, TORN)
    assert report.errors == []
    assert found == wanted
    (skipped,) = [each for each in report.warnings if each.code == "skip.rows"]
    assert skipped.message.parameters["rows"] == [3, 4, 6, 7]


def test_what_depends_on_skipped_rows_is_skipped_too() -> None:
    """A segment whose row is out has outputs in other rows."""
    rows = [
        {"segment": "1", "source": "Eins.", "system": "A", "output": "One."},
        {"segment": "2", "source": "", "system": "A", "output": "Two."},
        {"segment": "2", "source": "", "system": "B", "output": "Too."},
        {"segment": "1", "source": "Eins.", "system": "B", "output": "Un."},
    ]
    found, report = read("test set", "t.jsonl", lines(rows), "empty")
    assert report.errors == []
    assert found == [("1", "Eins.", {}), ("A", {"1": "One."}), ("B", {"1": "Un."})]


def test_lines_of_plain_files_are_skipped_in_all_of_them(tmp_path: Path) -> None:
    for name, content in {
        "src": "Eins.\n\nDrei.\n", "ref": "One.\nTwo.\nThree.\n", "sys": "1.\n2.\n3\x00\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    named = [f"--{role}={tmp_path / name}" for role, name in
             (("source", "src"), ("reference", "ref"), ("system", "sys"))]  # fmt: skip
    words = ("set", "--source-language", "de", "--target-language", "en", *named)
    with pytest.raises(doors.RefusedError):
        doors.run("import_testset", *words, "--skip", "empty")
    doors.run("import_testset", *words, "--skip", "empty", "--skip", "unusable")
    assert doors.texts() == [
        ("1", "Eins.", {"A": "One."}, {"sys": "1."}),
        ("3", "Drei.", {"A": "Three."}, {}),
    ]
    assert [each.sentence.parameters["problem"].code for each in SkippedRows.objects.all()] == [
        "skip.rows", "skip.rows"
    ]  # fmt: skip


def test_numbers_of_rows_stay_where_rows_are_skipped() -> None:
    """Segments without keys are named by their rows: other files are matched with these."""
    rows = [{"source": "Eins."}, {"source": ""}, {"source": "Drei."}]
    found, _ = read("test set", "t.jsonl", lines(rows), "empty")
    assert found == [("1", "Eins.", {}), ("3", "Drei.", {})]


def test_rows_in_order_are_never_matched_with_other_segments() -> None:
    """Scores without keys have one row per segment; a skipped row must not move the others."""
    doors.of_talks(3)
    rows = [{"system": "Nemo", "COMET": score} for score in ("0.5", "x", "0.25")]
    _, report = read("metric scores", "t.jsonl", lines(rows), "score")
    assert [error.code for error in report.errors] == ["scores.other-number"]


def test_the_number_of_skipped_rows_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines([*ROWS["judgments"], ROWS["judgments"][0] | {"score": "x"}]))
    doors.judge(path, name="Pilot", skip=["score"])
    stored = Campaign.objects.get().skipped_rows.get().sentence
    assert tells(str(stored), "skip.rows", n=1)
    test_set = Campaign.objects.get().test_set
    path.write_text(lines([*ROWS["metric scores"], ROWS["metric scores"][0] | {"system": "X"}]))
    doors.run("import_scores", test_set.slug, path, skip=["unknown-system"])
    assert tells(str(MetricImport.objects.get().provenance), "skip.rows", n=1)


def test_every_kind_has_codes_of_messages() -> None:
    """A kind of a code that is gone would skip nothing."""
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("annotation", "metrics", "metaeval", "core", "extensions")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "skipping.py"
    )
    assert [each for each in KIND_OF if f'"{each}"' not in code] == []
    assert sum(len(kind.codes) for kind in KINDS.values()) == len(KIND_OF)
