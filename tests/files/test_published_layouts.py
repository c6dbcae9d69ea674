"""Import tables in the layouts of published data sets and of metrics."""

import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from annotation.models import PublishedScore, TestSet
from annotation.uploads.problems import Place, Report
from metaeval.messages import message
from metrics.models import SegmentSpans
from tests.files.doors import judge, of_talks, refuses, run, texts, upload
from tests.files.test_cases import imported
from tests.files.test_formats import lines, written
from tests.refusals import tells

pytestmark = pytest.mark.django_db


def test_errors_are_counted_as_they_are_reported() -> None:
    report = Report()
    for row in range(3):
        report.error(message("a.b", "Wrong."), Place("f", row))
        report.warn(message("a.c", "Odd."), Place("f", row))
        assert report.n_errors == len(report.errors) == row + 1


@pytest.mark.parametrize("rows", [list, lambda rows: {str(n): r for n, r in enumerate(rows)}])
def test_what_stands_beside_the_rows_of_an_object_is_of_each(tmp_path: Path, rows: Any) -> None:
    own = rows([{"src": "One", "mt": "Eins"}, {"src": "Two", "mt": "Zwei"}])
    whole = {"system": "Nemo", "lp": "en-de", "scenario": ["x"], "utterances": own}
    output = upload(written(tmp_path, "t.json", json.dumps(whole)))
    assert tells(output, "table.rows-of-some")
    found = [(source, outputs["Nemo"]) for _, source, _, outputs in texts()]
    assert found == [("One", "Eins"), ("Two", "Zwei")]


def test_sheets_called_by_languages_are_pairs(tmp_path: Path) -> None:
    book = Workbook()
    for name in ("Hindi", "Tamil"):
        sheet = book.create_sheet(name)
        for row in (["segment", "system", "human"], ["1", "A", 5], ["2", "A", 7]):
            sheet.append(row)
    del book["Sheet"]
    book.save(tmp_path / "t.xlsx")
    run("import_human_scores", tmp_path / "t.xlsx", source_language="en")
    assert set(TestSet.objects.values_list("target_language", flat=True)) == {"hi", "ta"}


def test_line_ends_of_windows_that_were_converted_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"segment,source\r\r\n1,One\r\r\n2,Two\r\r\n")
    assert tells(upload(path), "file.crcrlf")
    assert [(key, source) for key, source, *_ in texts()] == [("1", "One"), ("2", "Two")]


def test_scores_of_systems_have_a_segment_called_all(tmp_path: Path) -> None:
    """As the organisers of WMT25 return them, with a column that only some metrics use."""
    test_set = of_talks(2)
    table = "doc_id\tsegment_id\tsystem_id\tdomain_name\tmethod\toverall\n"
    table += "all\tall\tNemo\tall\tNaN\t0.5\nall\tall\tOnline-W\tall\tNaN\t0.25\n"
    output = run("import_scores", "talks", written(tmp_path, "systems.tsv", table))
    assert tells(output, "columns.of-all")
    assert imported(test_set) == {"imported-overall": {("Nemo", ""): 0.5, ("Online-W", ""): 0.25}}
    run("import_human_scores", tmp_path / "systems.tsv", column=["overall=score"],
        source_language="zh", target_language="en")  # fmt: skip
    assert {p.value for p in PublishedScore.objects.filter(output=None)} == {0.5, 0.25}


def test_a_metric_without_scores_is_skipped_with_a_warning(tmp_path: Path) -> None:
    test_set = of_talks(2)
    path = written(tmp_path, "t.csv", "segment,system,A,B\n1,Nemo,nan,0.5\n2,Nemo,nan,0.25\n")
    assert tells(run("import_scores", "talks", path), "scores.metrics-skipped")
    assert list(imported(test_set)) == ["imported-b"]
    with refuses("scores.metric-without-scores", metric="A"):
        run("import_scores", "talks", path, metric=["A", "B"])


def test_tables_of_human_scores_without_names_ask_what_columns_are(tmp_path: Path) -> None:
    path = written(tmp_path, "T1.tsv", "en-de\tgold\t0\t0.5\nen-de\tgold\t1\t0.25\n")
    with refuses("columns.none-known", row=1):
        run("import_human_scores", path)


def test_judgments_of_one_annotator_ask_for_the_score(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "segment,source,output,Overall quality\n1,One,Eins,5\n")
    with refuses("judgments.no-answer-column", row=1):
        judge(path, annotator="R")


XCOMET = {
    f"out/{name}.txt": [
        {"src": f"S {n}", "mt": f"{name} {n}", "ref": f"R {n}", "COMET": 0.5,
         "errors": [{"text": name[:4], "confidence": 1, "severity": "major", "start": 0, "end": 4}]}
        for n in (1, 2)
    ]
    for name in ("Nemo", "Online-W")
}  # fmt: skip


def test_lists_by_system_are_outputs_of_these_systems(tmp_path: Path) -> None:
    upload(written(tmp_path, "scores.json", json.dumps(XCOMET)))
    assert [(source, outputs) for _, source, _, outputs in texts()] == [
        (f"S {n}", {"Nemo": f"Nemo {n}", "Online-W": f"Online-W {n}"}) for n in (1, 2)
    ]


def test_spans_without_segments_are_found_by_their_sources(tmp_path: Path) -> None:
    test_set = of_talks(2)
    path = written(tmp_path, "scores.json", json.dumps(XCOMET))
    run("import_spans", "talks", path, name="xCOMET", ends="excluded")
    assert SegmentSpans.objects.count() == 4
    test_set.segments.filter(key="2").update(source="S 1")
    with refuses("spans.source-unclear", row=1, n=2):
        run("import_spans", "talks", path, name="xCOMET", ends="excluded")


def test_errors_that_language_models_describe_are_spans_of_the_file(tmp_path: Path) -> None:
    """As GEMBA-MQM's answers are kept; the name of the file is that of the system."""
    of_talks(2)
    rows = [{"source_seg": "S 1", "target_seg": "Nemo 1", "errors": {
        "critical": [], "major": ['accuracy/mistranslation - "Nemo"'], "minor": []}}]  # fmt: skip
    run("import_spans", "talks", written(tmp_path, "Nemo.jsonl", lines(rows)), name="G",
        ends="excluded")  # fmt: skip
    (own,) = SegmentSpans.objects.all()
    assert own.output.system.name == "Nemo"


@pytest.mark.parametrize("output", ["prediction", "hypothesis", "filtered_resps"])
def test_a_target_beside_outputs_is_a_reference(tmp_path: Path, output: str) -> None:
    row = {"source": "One", "target": "Eins", output: "Ein"}
    row[output] = [row[output]] if output == "filtered_resps" else row[output]
    upload(written(tmp_path, "MT.jsonl", lines([row])))
    assert texts() == [("1", "One", {"A": "Eins"}, {"MT": "Ein"})]


def test_a_target_is_a_reference_where_the_text_before_edits_is_given(tmp_path: Path) -> None:
    """WMT24++: post-edits, and what was edited."""
    row = {"lp": "en-de_DE", "segment_id": 1, "source": "One", "target": "Eins",
           "original_target": "Ein"}  # fmt: skip
    upload(written(tmp_path, "t.jsonl", lines([row])))
    assert texts() == [("1", "One", {"A": "Eins", "B": "Ein"}, {})]
