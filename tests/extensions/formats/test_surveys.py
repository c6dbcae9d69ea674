"""Exports of surveys have one row per person; every item that somebody rated is a judgment."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.annotation.tables.reading import DE_EN, as_files, read

pytestmark = pytest.mark.django_db
SEGMENTS, SYSTEMS = ("12", "13", "14"), ("alpha", "GPT-4", "online_B")
# Score of each person by segment and system; nobody was asked everything.
GIVEN: dict[str, dict[tuple[str, str], int]] = {
    "R_1": {("12", "alpha"): 0, ("12", "GPT-4"): 80, ("13", "online_B"): 55},
    "R_2": {("13", "alpha"): 60, ("14", "GPT-4"): 100, ("14", "alpha"): 7},
}
PAIRS = [(segment, system) for segment in SEGMENTS for system in SYSTEMS]
Cells = Sequence[Sequence[Any]]


def written(cells: Cells, separator: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(cells)
    return text.getvalue()


def qualtrics() -> str:
    """Names, labels and import ids, as Qualtrics exports them."""
    head = ["StartDate", "EndDate", "Status", "Progress", "Duration (in seconds)", "Finished",
            "ResponseId", *(f"seg{segment}_{system}" for segment, system in PAIRS),
            "Q99_First Click", "Q99_Page Submit"]  # fmt: skip
    labels = ["Start Date", "End Date", "Response Type", "Progress", "Duration", "Finished",
              "Response ID", *["How good is it?"] * len(PAIRS), *["Timing"] * 2]  # fmt: skip
    ids = [json.dumps({"ImportId": f"QID{n}", "timeZone": "UTC"}, separators=(",", ":"))
           for n in range(len(head))]  # fmt: skip
    rows = [
        ["2025-03-04 05:00:00", "2025-03-04 06:00:00", "0", "100", "3600", "1", who,
         *(own.get(pair, "") for pair in PAIRS), "1.5", "20"] for who, own in GIVEN.items()
    ]  # fmt: skip
    return written([head, labels, ids, *rows])


def limesurvey(separator: str = ",") -> str:
    head = ["id", "submitdate", "lastpage", "startlanguage", "seed", "token",
            *(f"seg{segment}[{system}]" for segment, system in PAIRS), "interviewtime"]  # fmt: skip
    rows = [[who, "1980-01-01 00:00:00", "3", "de", "77", "", *(own.get(p, "") for p in PAIRS),
             "355.1"] for who, own in GIVEN.items()]  # fmt: skip
    return written([head, *rows], separator)


def google_forms(asked: str = "Rate the translations of segment {} [{}]") -> str:
    head = ["Timestamp", "Email Address", "What is your first language?",
            *(asked.format(*pair) for pair in PAIRS)]  # fmt: skip
    rows = [["25/3/2025 10:11:12", who, "Deutsch", *(own.get(pair, "") for pair in PAIRS)]
            for who, own in GIVEN.items()]  # fmt: skip
    return written([head, *rows])


def judged(text: str, **options: Any) -> tuple[dict[tuple[str, str, str], float], Any, Any]:
    reading, report = read(as_files(own_csv=text), **DE_EN, **options)
    assert [str(error) for error in report.errors] == []
    texts, campaign = reading.drafts[0]
    found = {
        (j.annotator, campaign.items[j.item].segment, str(campaign.items[j.item].system)): j
        for j in campaign.judgments
    }
    return found, report, texts


def wanted(segment: str) -> Mapping[tuple[str, str, str], int]:
    return {
        (who, segment.format(key), system): score
        for who, own in GIVEN.items()
        for (key, system), score in own.items()
    }


@pytest.mark.parametrize(
    ("text", "segment"),
    [(qualtrics(), "seg{}"), (limesurvey(), "seg{}"), (limesurvey(";"), "seg{}"),
     (google_forms(), "{}"), (google_forms("How good is segment {}? [{}]"), "{}")],
    ids=["Qualtrics", "LimeSurvey", "LimeSurvey with semicolons", "Google Forms", "a question"],
)  # fmt: skip
def test_every_rated_item_is_a_judgment(text: str, segment: str) -> None:
    found, report, _ = judged(text)
    assert {key: judgment.score for key, judgment in found.items()} == wanted(segment)
    assert all(judgment.active_ms is None for judgment in found.values())
    assert all(judgment.started_at is None for judgment in found.values())
    unused = {note.code for note in report.warnings}
    assert "columns.unused" in unused


def test_times_are_those_of_the_survey_where_it_keeps_them() -> None:
    ends = {str(judgment.submitted_at) for judgment in judged(qualtrics())[0].values()}
    assert ends == {"2025-03-04 06:00:00+00:00"}
    assert {judgment.submitted_at for judgment in judged(limesurvey())[0].values()} == {None}


@pytest.mark.parametrize(
    ("column", "segment"),
    [("{}_{}", "12"), ("doc_1_{}_{}", "doc_1_12"), ("{}|{}", "12"), ("s{}__{}", "s12"),
     ("{}.{}", "12"), ("Q{} - {}", "Q12")],
)  # fmt: skip
def test_names_are_parted_where_most_items_are(column: str, segment: str) -> None:
    """The names of systems may have the same signs."""
    head = ["participant", "years_experience", *(column.format(*pair) for pair in PAIRS)]
    own = {pair: n for n, pair in enumerate(PAIRS)}
    found, report, _ = judged(written([head, ["P1", 3, *own.values()]]))
    keys = {(who, key.replace(segment, "12"), system) for who, key, system in found}
    assert {("P1", "12", system) for system in SYSTEMS} <= keys
    assert len(found) == len(PAIRS)
    (warning,) = [each for each in report.warnings if each.code == "columns.unused"]
    assert warning.message.parameters["columns"] == ["years_experience"]


def test_third_parts_are_fields() -> None:
    head = ["participant", *(f"{key}_{system}_{field}" for key in ("1", "2") for system in "AB"
                             for field in ("adequacy", "fluency", "comment"))]  # fmt: skip
    found, _, _ = judged(written([head, ["P", 1, 2, "x", 3, 4, "", 5, 1, "", 2, 3, ""]]))
    assert {key: (dict(j.ratings), j.comment) for key, j in found.items()} == {
        ("P", "1", "A"): ({"adequacy": 1, "fluency": 2}, "x"),
        ("P", "1", "B"): ({"adequacy": 3, "fluency": 4}, ""),
        ("P", "2", "A"): ({"adequacy": 5, "fluency": 1}, ""),
        ("P", "2", "B"): ({"adequacy": 2, "fluency": 3}, ""),
    }


def test_choices_of_qualtrics_are_called_by_their_labels() -> None:
    head = ["ResponseId", "Q1_1", "Q1_2", "Q2_1", "Q2_2"]
    labels = ["Response ID", *(f"Segment {n} - {name}" for n in "12" for name in ("DeepL", "GPT"))]
    ids = [json.dumps({"ImportId": name}, separators=(",", ":")) for name in head]
    found, _, _ = judged(written([head, labels, ids, ["R", 10, 20, 30, 40]]))
    assert {key: j.score for key, j in found.items()} == {
        ("R", "Q1", "DeepL"): 10, ("R", "Q1", "GPT"): 20, ("R", "Q2", "DeepL"): 30,
        ("R", "Q2", "GPT"): 40,
    }  # fmt: skip


def test_persons_without_names_are_numbered() -> None:
    head = ["Timestamp", *(f"{segment}_{system}" for segment in "12" for system in "AB")]
    rows = [["2025-03-25 10:11:12", 1, 2, 3, 4], ["2025-03-25 10:11:12", 4, 3, 2, 1]]
    found, report, _ = judged(written([head, *rows]))
    assert {who for who, _, _ in found} == {"1", "2"}
    assert "survey.persons-numbered" in {warning.code for warning in report.warnings}


@pytest.mark.parametrize(
    "head",
    [
        ["Timestamp", "Email Address", "How good is the first?", "How good is the second?"],
        ["id", "submitdate", "startlanguage", "Q1", "Q2"],
    ],
)
def test_items_without_segment_and_system_are_refused(head: list[str]) -> None:
    row = ["2025-03-25 10:11:12"] * (len(head) - 2) + ["70", "80"]
    _, report = read(as_files(own_csv=written([head, row])), **DE_EN)
    assert [error.code for error in report.errors] == ["survey.no-items"]
    assert report.errors[0].message.parameters["columns"] == head


@pytest.mark.parametrize(
    "head",
    [
        "segment_id,system,rater,score_x,score_y",
        "rater,score_A,score_B,sid",
        "item,rater,q1_a,q1_b,q2_a",
        "src,mt,q1_a,q1_b",
    ],
)  # fmt: skip
def test_tables_with_a_row_per_item_are_no_surveys(head: str) -> None:
    width = len(head.split(","))
    _, report = read(as_files(own_csv=f"{head}\n{','.join('12345'[:width])}\n"), **DE_EN)
    assert "format.read" not in {note.code for note in report.notes}


def test_objects_of_objects_are_no_survey() -> None:
    """Nobody says here which keys are people, segments or systems."""
    text = json.dumps({"Ann": {"1": 80, "2": 60}, "Ben": {"1": 70, "2": 50}})
    _, report = read(as_files(own_json=text), **DE_EN)
    assert [error.code for error in report.errors] == ["columns.none-known"]
