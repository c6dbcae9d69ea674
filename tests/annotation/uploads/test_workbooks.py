"""Workbooks of several sheets at every door: none is dropped without a word."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.uploads import InputFile
from metaeval.files import read_score_table
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, ROWS, Reading, Row, separated

pytestmark = pytest.mark.django_db
README = [["Evaluation of May"], ["One sheet for each name."]]
TWO = ("Nemo", "Online-W")


def book(**sheets: Sequence[Sequence[Any]]) -> bytes:
    made = openpyxl.Workbook()
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    del made["Sheet"]
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def cells(rows: Sequence[Row], *without: str) -> list[list[Any]]:
    kept = [{k: v for k, v in row.items() if k not in without} for row in rows]
    return [[*kept[0]], *([*row.values()] for row in kept)]


def read(door: str, name: str, data: bytes, columns: Mapping[str, str] = {}, *skip: str) -> Reading:
    return DOORS[door](InputFile.holding(name, data), frozenset(skip), columns)


def codes(problems: Sequence[Any]) -> set[str]:
    return {each.code for each in problems}


def split(rows: Sequence[Row], field: str, names: Sequence[str]) -> dict[str, list[list[Any]]]:
    return {name: cells([row for row in rows if row[field] == name], field) for name in names}


@pytest.mark.parametrize("door", DOORS)
def test_sheets_of_systems_are_one_table(door: str) -> None:
    of_talks(2)
    both = [row | {"system": name} for name in TWO for row in ROWS[door]]
    if door == "judgments":
        both = [row | {"output": f"{row['system']} {row['output']}"} for row in both]
    wanted, report = read(door, "t.csv", separated(both).encode())
    assert not report.errors
    data = book(README=README, **split(both, "system", TWO))
    found, report = read(door, "t.xlsx", data)
    assert [str(error) for error in report.errors] == []
    assert found == wanted
    (joined,) = [each for each in report.warnings if each.code == "workbook.sheets-joined"]
    assert joined.message.parameters["names"] == list(TWO)
    assert joined.message.parameters["column"] == "system"
    (rest,) = [each for each in report.notes if each.code == "workbook.sheets"]
    assert rest.message.parameters["others"] == ["README"]


def test_sheets_are_of_what_the_table_lacks() -> None:
    of_talks(2)
    cases: list[tuple[str, str, list[str], Row]] = [
        ("judgments", "annotator", ["Annotator 1", "Annotator 2"], {}),
        ("judgments", "annotator", ["Eva", "Ann"], {}),
        ("metric scores", "metric", ["BLEU", "chrF"], {"score": "0.5"}),
        ("human scores", "score_name", ["DA", "MQM"], {"score": "-0.5"}),
        ("judgments", "language_pair", ["de-en", "zh-en"], {}),
        ("human scores", "language_pair", ["de-en", "zh-en"], {}),
    ]
    for door, field, names, more in cases:
        rows = [{k: v for k, v in row.items() if not more or k in ("segment", "system")} | more
                for row in ROWS[door]]  # fmt: skip
        both = [{**row, field: name} for name in names for row in rows]
        wanted, report = read(door, "t.csv", separated(both).encode())
        found, own = read(door, "t.xlsx", book(**split(both, field, names)))
        assert not report.errors, (field, report.errors)
        assert not own.errors, (field, own.errors)
        assert found == wanted, field


@pytest.mark.parametrize("door", DOORS)
def test_other_sheets_are_named_and_can_be_chosen(door: str) -> None:
    of_talks(2)
    rows = ROWS[door]
    wanted, _ = read(door, "t.csv", separated(rows).encode())
    data = book(Old=[["segment", "worker"], ["1", "x"]], Final=cells(rows))
    found, report = read(door, "t.xlsx", data, {"(sheets)": "Final"})
    assert (found, report.errors) == (wanted, [])
    (rest,) = [each for each in report.warnings if each.code == "workbook.sheets"]
    assert rest.message.parameters["others"] == ["Old"]
    assert report.files["t.xlsx"].sheets == ["Old", "Final"]
    _, report = read(door, "t.xlsx", data, {"(sheets) t.xlsx": "Late"})
    assert "workbook.no-sheet" in codes(report.errors)


def test_a_judged_reference_leaves_the_references_theirs() -> None:
    texts = [["segment", "source", "reference", "Nemo"], ["1", "Eins.", "One.", "A."]]
    rated = [["segment", "system", "annotator", "score"], ["1", "Nemo", "R", "5"],
             ["1", "reference", "R", "9"]]  # fmt: skip
    found, report = read("judgments", "t.xlsx", book(Texts=texts, Scores=rated))
    assert not report.errors
    assert isinstance(found, list)
    ((segment,), (outputs,), *_) = found[0]
    assert segment.references == {"A": "One."}
    assert outputs == {"1": "A."}


@pytest.mark.parametrize("door", DOORS)
def test_an_import_reads_the_sheet_with_its_fields(door: str) -> None:
    of_talks(2)
    rows = ROWS[door]
    wanted, _ = read(door, "t.csv", separated(rows).encode())
    others = [["segment", "system"], ["1", "a"]]
    found, report = read(door, "t.xlsx", book(Plan=others, Final=cells(rows)))
    assert (found, report.errors) == (wanted, [])
    assert report.files["t.xlsx"].sheets_read == ["Final"]


def test_ratings_are_read_with_their_texts() -> None:
    """Whatever both sheets call their numbers; a column called as a system has its outputs."""
    wanted, _ = read("judgments", "t.csv", separated(ROWS["judgments"]).encode())
    rated = cells(ROWS["judgments"], "source", "output")
    rated[0] = ["Nr." if name == "segment" else name for name in rated[0]]
    by_number: dict[str, Row] = {}
    for row in ROWS["judgments"]:
        own = by_number.setdefault(row["segment"], {"Nr.": row["segment"], "source": row["source"]})
        own[row["system"]] = row["output"]
    data = book(Notes=[["About"], ["this study"]], Texts=cells([*by_number.values()]), Scores=rated)
    found, report = read("judgments", "t.xlsx", data)
    assert not report.errors
    assert report.files["t.xlsx"].sheets_read == ["Texts", "Scores"]
    assert found == wanted


def test_sheets_of_other_columns_are_tables_of_their_own() -> None:
    judged = cells(ROWS["judgments"], "source", "output")
    texts = cells(ROWS["judgments"], "annotator", "score")
    wanted, _ = read("judgments", "t.csv", separated(ROWS["judgments"]).encode())
    data = book(Ratings=judged, Texts=texts)
    found, report = read("judgments", "t.xlsx", data, {"(sheets)": "Ratings/Texts"})
    assert (found, report.errors) == (wanted, [])


def test_errors_name_the_sheet_and_its_row() -> None:
    rows = ROWS["judgments"]
    wrong = [rows[0], rows[1] | {"score": "x"}]
    data = book(A=cells(rows, "annotator"), B=cells(wrong, "annotator"))
    _, report = read("judgments", "t.xlsx", data)
    (error,) = report.errors
    assert error.place[:3] == ("t.xlsx [B]", 3, "score")
    found, report = read("judgments", "t.xlsx", data, {}, "score")
    assert not report.errors
    assert isinstance(found, list)
    assert len(found[0][2]) == 3


def test_scores_of_the_library_are_read_from_all_sheets(tmp_path: Any) -> None:
    path = tmp_path / "scores.xlsx"
    rows = [["segment", "BLEU"], ["1", 5], ["2", 7]]
    path.write_bytes(book(A=rows, B=rows))
    assert read_score_table(path)["BLEU"].values.tolist() == [[5, 7], [5, 7]]


def test_the_page_offers_sheets_and_reads_those_that_are_chosen(as_admin: Client) -> None:
    both = {name: cells(ROWS["judgments"], "annotator") for name in ("Ann", "Eva")}
    sent = SimpleUploadedFile("t.xlsx", book(README=README, **both))
    words = {"judgments-source_language": "de", "judgments-target_language": "en"}
    data = {"tool": "judgments", "judgments-tables": [sent], "judgments-name": "Two", **words}
    checked = as_admin.post("/campaigns/import/", data)
    page = as_admin.get(checked.url)
    form = page.context["correction"]["columns"]
    assert form.fields["sheets0"].initial == ["Ann", "Eva"]
    assert [name for name, _ in form.fields["sheets0"].choices] == ["README", "Ann", "Eva"]
    assert page.context["drafts"][0].n_judgments == 4
    answers = {"change": "1", "words-name": "Two", "column-sheets0": ["Eva"]}
    answers |= {name.replace("judgments", "words"): code for name, code in words.items()}
    answers["words-annotator"] = "Eva"
    again = as_admin.get(as_admin.post(checked.url, answers).url)
    assert again.context["drafts"][0].n_judgments == 2
