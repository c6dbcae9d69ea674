"""Names of systems in files, as a person says what they are, and numbers of segments."""

import json
from collections.abc import Sequence

import pytest

from annotation.imports import sources
from annotation.models import TestSet
from annotation.uploads import InputFile
from annotation.uploads.problems import Report
from metrics.imported import checking
from metrics.imported.files import Choices
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, NONE, ROWS, Columns, Reading, Row, separated

pytestmark = pytest.mark.django_db
SENT = {"judgments": sources.JUDGMENTS, "human scores": sources.HUMAN_SCORES}
STORED = [door for door in DOORS if door != "test set"]


def read(door: str, name: str, columns: Columns = NONE) -> Reading:
    """Read two scores of a system, as a file calls it, of a stored test set."""
    rows = [
        {k: v for k, v in row.items() if k not in ("source", "output")} | {"system": name}
        for row in ROWS[door]
    ]
    file = InputFile.holding("t.csv", separated(rows).encode())
    if door not in SENT:
        return DOORS[door](file, frozenset(), columns)
    words = {"name": "x", "test_set": "talks", "columns": json.dumps(columns)}
    reading, report = sources.check(sources.Sent(SENT[door], {"0": file}, words))
    return [(c.judgments, c.output_scores) for _, c in reading.drafts], report


def asked(report: Report) -> dict[str, str]:
    return {name: chosen for seen in report.files.values() for name, chosen in seen.systems.items()}


@pytest.mark.parametrize("door", STORED)
def test_an_unknown_system_is_asked_for(door: str) -> None:
    of_talks(2)
    wanted, report = read(door, "Nemo")
    assert not report.errors
    assert asked(report) == {}
    _, report = read(door, "our best")
    assert "system.unknown" in {error.code for error in report.errors}
    assert asked(report) == {"our best": ""}
    (seen,) = report.files.values()
    assert {*seen.known_systems} == {*TestSet.objects.get().systems.values_list("name", flat=True)}
    found, report = read(door, "our best", {"(system) our best": "Nemo"})
    assert not report.errors
    assert found == wanted
    assert asked(report) == {"our best": "Nemo"}  # the next page shows what was chosen
    _, report = read(door, "our best", {"(system) our best": "Nobody"})
    assert [error.message.parameters["system"] for error in report.errors[:1]] == ["Nobody"]


@pytest.mark.parametrize(
    ("path", "system"),
    [("out/2026/Nemo.de.txt", "Nemo"), ("C:\\runs\\Online-W.hyp.detok.en", "Online-W"),
     ("Nemo.4723", None)],
)  # fmt: skip
def test_paths_and_endings_are_no_part_of_a_name(path: str, system: str | None) -> None:
    of_talks(2)
    _, report = read("metric scores", path)
    assert bool(report.errors) == (system is None)
    assert asked(report) == ({} if system else {path: ""})


def test_each_of_several_files_without_a_name_has_a_system() -> None:
    of_talks(2)
    files = [InputFile.holding(f"run{n}.txt", f"0.{n}\n0.5\n".encode()) for n in (1, 2)]
    columns = {"(system) run1.txt": "Nemo", "(system) run2.txt": "Online-W"}
    checked = checking.check(TestSet.objects.get(), files, Choices(metric="BLEURT"))
    assert {error.code for error in checked.report.errors} == {"scores.system-unknown"}
    assert asked(checked.report) == {"run1.txt": "", "run2.txt": ""}
    choices = Choices(metric="BLEURT", columns=columns)
    checked = checking.check(TestSet.objects.get(), files, choices)
    assert not checked.report.errors
    names = dict(TestSet.objects.get().systems.values_list("pk", "name"))
    (draft,) = checked.drafts
    found = {names[pk]: sorted(row.values()) for pk, row in draft.held.outputs.items()}
    assert found == {"Nemo": [0.1, 0.5], "Online-W": [0.2, 0.5]}


@pytest.mark.parametrize("door", DOORS)
def test_a_number_of_segments_is_their_key_where_no_other_column_is(door: str) -> None:
    of_talks(2)
    rows = [row | {"system": system} for system in ("Nemo", "Online-W") for row in ROWS[door]]

    def named(rows: Sequence[Row], name: str) -> Reading:
        own = [{name: row["segment"]} | row for row in rows]
        own = [{k: v for k, v in row.items() if k != "segment"} for row in own]
        return DOORS[door](InputFile.holding("t.csv", separated(own).encode()), frozenset())

    wanted, _ = DOORS[door](InputFile.holding("t.csv", separated(rows).encode()), frozenset())
    for name in ("Nr.", "#", "No", "序号"):
        found, report = named(rows, name)
        assert not report.errors, name
        assert found == wanted, name
    # Rows that are numbered on and on, whatever their segments: those are no keys.
    if door == "judgments":
        return
    of_rows, _ = named([row | {"segment": str(n)} for n, row in enumerate(rows, 1)], "No")
    keys = [each[0] for each in of_rows if isinstance(each, tuple)] if door == "test set" else []
    assert "3" not in keys
    assert "No" not in repr(of_rows)
