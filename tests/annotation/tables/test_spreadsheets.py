"""Tables of judgments as spreadsheets and programs write them."""

import csv
import io
import json

import pytest

from annotation.imports import human_scores
from annotation.imports.judgments import Options
from annotation.uploads import Report
from tests.annotation.tables.reading import (
    DE_EN,
    as_files,
    counts,
    errors_of,
    found,
    read,
    stored,
    stored_scores,
)


def test_a_spreadsheet_that_separates_by_semicolons(db: None) -> None:
    head = "\ufeffannotator;seg;system;score;comment\r\n"
    text = f'{head}R1;1;alpha;80;"a; ""b"""\r\nR1;2;alpha;7;a, b\r\n'
    reading, report = read(as_files(own_csv=text), **DE_EN)
    assert report.errors == []
    assert ("own.csv, row 1", "table.semicolons") in found(report.notes)
    judgments = reading.drafts[0][1].judgments
    assert [(j.score, j.comment) for j in judgments] == [(80, 'a; "b"'), (7, "a, b")]


def test_a_decimal_comma_is_read_where_semicolons_part_cells(db: None) -> None:
    text = (
        "annotator;seg;system;score;comment\nR1;1;alpha;5,5;2,5\nR1;2;alpha; 4,0 ;\nR1;3;alpha;2;\n"
    )
    reading, report = read(as_files(own_csv=text), scale=(0.0, 10.0), **DE_EN)
    assert report.errors == []
    judgments = reading.drafts[0][1].judgments
    assert [(j.score, j.comment) for j in judgments] == [(55, "2,5"), (40, ""), (20, "")]
    assert counts(report.notes)["cell.decimal-commas"] == 2


def test_a_decimal_comma_in_published_scores(db: None) -> None:
    (each,) = stored_scores(as_files(sys_csv="system;z\nA;-0,25\nB;1,5\n"), **DE_EN)
    rows = each.result.campaign.published_scores.order_by("pk")
    assert [row.value for row in rows] == [-0.25, 1.5]


@pytest.mark.parametrize("text", ['system,z\nA,"0,5"\nB,-2\n', "system\tz\nA\t0,5\nB\t-2,000\n"])
def test_a_decimal_comma_is_read_where_it_can_be_nothing_else(db: None, text: str) -> None:
    name = "own_tsv" if "\t" in text else "own_csv"
    (each,) = stored_scores(as_files(**{name: text}), **DE_EN)
    rows = each.result.campaign.published_scores.order_by("pk")
    assert [row.value for row in rows] == [0.5, -2.0]


@pytest.mark.parametrize(
    "text", ['system,z\nA,"1,500"\nB,2\n', "system\tz\nA\t0,5\nB\t0.5\n", "system\tz\nA\t1,500\n"]
)
def test_elsewhere_a_decimal_comma_is_an_error_that_says_what_to_do(db: None, text: str) -> None:
    report = Report()
    name = "own_tsv" if "\t" in text else "own_csv"
    human_scores.read(as_files(**{name: text}), Options(**DE_EN), report)
    (error,) = report.errors
    assert error.code == "cell.decimal-comma"


def test_digits_with_an_underscore_are_no_number(db: None) -> None:
    text = "annotator\tseg\tsystem\tscore\nR1\t1\talpha\t1_0\n"
    assert errors_of(as_files(own_tsv=text), **DE_EN) == [
        ("own.tsv, row 2, score", "cell.not-a-number")
    ]


def test_annotators_whose_names_are_nearly_alike_are_named_in_one_warning(db: None) -> None:
    rows = "".join(f"{who};{n};alpha;{n}0\n" for n in (1, 2) for who in ("A1", "a1", "B 2", "b2"))
    files = as_files(own_csv=f"annotator;seg;system;score\n{rows}R3;1;alpha;5\n")
    _, report = read(files, **DE_EN)
    (alike,) = (each for each in report.warnings if each.code == "import.annotators-alike")
    assert alike.message.parameters["names"] == ["“A1”, “a1”", "“B 2”, “b2”"]
    stored(files, **DE_EN)


def test_a_system_that_its_texts_write_otherwise_is_an_error(db: None) -> None:
    judged = "annotator;seg;system;score\nR1;1;GPT;80\nR1;1;other;7\n"
    texts = "seg;system;source;translation\n1;gpt;Eins;One\n1;beta;Eins;Two\n"
    files = as_files(own_csv=judged, texts_csv=texts)
    _, report = read(files, **DE_EN)
    assert found(report.errors) == [("own.csv, row 2, system", "system.spelling")]
    systems = [
        each.message.parameters["system"]
        for each in report.warnings
        if each.code == "judgments.system-without-outputs"
    ]
    assert systems == ["other"]


def test_error_spans_in_quotation_marks_in_a_tsv(db: None) -> None:
    """As Python's csv module and pandas write a cell of JSON between tabs."""
    spans = [{"start": 0, "end": 3, "severity": "minor"}]
    cells = io.StringIO()
    csv.writer(cells, delimiter="\t").writerow(["R1", "1", "alpha", 80, json.dumps(spans)])
    files = as_files(own_tsv="annotator\tseg\tsystem\tscore\terrors\n" + cells.getvalue())
    assert '"[{""start""' in cells.getvalue()
    reading, report = read(files, **DE_EN)
    assert report.errors == []
    assert "table.quotes-of" in counts(report.notes)
    (span,) = reading.drafts[0][1].judgments[0].spans
    assert (span.start, span.end, span.severity) == (0, 3, "minor")


def test_a_score_that_is_not_known_as_one_is_warned_of(db: None) -> None:
    head = "annotator\tseg\tsystem\terrors\tmy verdict\n"
    _, report = read(as_files(own_tsv=f"{head}R1\t1\talpha\t[]\t80\n"), **DE_EN)
    assert ("own.tsv, row 1", "judgments.no-score-column") in found(report.warnings)


def test_wrong_cells_are_named_together_with_missing_keys(db: None) -> None:
    text = "annotator\tseg\tsystem\tscore\nR1\t\talpha\tgood\n\t2\talpha\t7\nR1\t2\talpha\t3,5\n"
    assert errors_of(as_files(own_tsv=text), **DE_EN) == [
        ("own.tsv, row 2, seg", "segment.missing"),
        ("own.tsv, row 2, score", "cell.not-a-number"),
        ("own.tsv, row 3, annotator", "judgments.no-annotator"),
        ("own.tsv, row 4, score", "cell.decimal-comma"),
    ]


def test_published_scores_under_names_with_blanks_and_points(db: None) -> None:
    (each,) = stored_scores(as_files(sys_tsv="MT system\tAve. z\tchrF\nA\t0.1\t60\n"), **DE_EN)
    campaign = each.result.campaign
    assert [s.value for s in campaign.published_scores.order_by("pk")] == [0.1]
