"""Tables of judgments as spreadsheets and programs write them."""

import csv
import io
import json

from tests.annotation.tables.reading import DE_EN, as_files, errors_of, read, stored_scores


def test_a_spreadsheet_that_separates_by_semicolons(db: None) -> None:
    text = (
        '\ufeffrater;seg;system;score;comment\r\nR1;1;alpha;80;"a; ""b"""\r\nR1;2;alpha;7;a, b\r\n'
    )
    reading, report = read(as_files(own_csv=text), **DE_EN)
    assert report.errors == []
    assert "own.csv, row 1: cells are separated by semicolons" in map(str, report.notes)
    found = reading.drafts[0][1].judgments
    assert [(j.score, j.comment) for j in found] == [(80, 'a; "b"'), (7, "a, b")]
    (error,) = errors_of(as_files(own_csv=text.replace(";80;", ";3,5;")), **DE_EN)
    assert error.startswith("own.csv, row 2, score: “3,5” is no number")


def test_error_spans_in_quotation_marks_in_a_tsv(db: None) -> None:
    """As Python's csv module and pandas write a cell of JSON between tabs."""
    spans = [{"start": 0, "end": 3, "severity": "minor"}]
    cells = io.StringIO()
    csv.writer(cells, delimiter="\t").writerow(["R1", "1", "alpha", 80, json.dumps(spans)])
    files = as_files(own_tsv="rater\tseg\tsystem\tscore\terrors\n" + cells.getvalue())
    assert '"[{""start""' in cells.getvalue()
    reading, report = read(files, **DE_EN)
    assert report.errors == []
    assert "quotation marks" not in " ".join(map(str, report.problems))
    (span,) = reading.drafts[0][1].judgments[0].spans
    assert (span.start, span.end, span.severity) == (0, 3, "minor")


def test_a_score_that_is_not_known_as_one_is_warned_of(db: None) -> None:
    head = "rater\tseg\tsystem\terrors\tmy verdict\n"
    _, report = read(as_files(own_tsv=f"{head}R1\t1\talpha\t[]\t80\n"), **DE_EN)
    (warning, *_) = map(str, report.warnings)
    assert warning == ("own.tsv, row 1: no column is taken for the score. Is it one of my verdict?")


def test_wrong_cells_are_named_together_with_missing_keys(db: None) -> None:
    text = "rater\tseg\tsystem\tscore\nR1\t\talpha\tgood\n\t2\talpha\t7\nR1\t2\talpha\t3,5\n"
    assert errors_of(as_files(own_tsv=text), **DE_EN) == [
        "own.tsv, row 2, seg: it is not said which segment this is",
        "own.tsv, row 2, score: “good” is no number",
        "own.tsv, row 3, rater: it is not said who judged",
        "own.tsv, row 4, score: “3,5” is no number",
    ]


def test_published_scores_under_names_with_blanks_and_points(db: None) -> None:
    (each,) = stored_scores(as_files(sys_tsv="MT system\tAve. z\tchrF\nA\t0.1\t60\n"), **DE_EN)
    campaign = each.result.campaign
    assert [s.value for s in campaign.published_scores.order_by("pk")] == [0.1]
