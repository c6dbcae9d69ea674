"""Import files of other tools through the doors of tables, and check what is stored of them."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Judgment, Segment, TestSet
from annotation.uploads import InputFile, Submission, check_submission
from annotation.uploads.offsets import placed
from tests.files import samples
from tests.files.doors import judge, of_talks, refuses, run, texts, upload
from tests.files.test_cases import scores, spans
from tests.files.test_formats import codes, lines, written
from tests.refusals import tells

pytestmark = pytest.mark.django_db


# Label Studio ------------------------------------------------------------------------------------


def test_label_studio(tmp_path: Path) -> None:
    output = judge(written(tmp_path, "p.json", samples.TASKS))
    assert scores() == {
        ("ann@example.org", "1", "Nemo"): 70, ("4", "1", "Nemo"): 90, ("4", "2", "Nemo"): 100,
    }  # fmt: skip
    assert spans() == [("Feler", 14, 19, "minor"), ("small", 2, 7, "major")]
    row = Judgment.objects.get(assignment__annotator__label="ann@example.org")
    assert row.submitted_at is not None
    assert row.started_at is not None
    assert row.submitted_at.isoformat() == "2025-03-04T05:06:07+00:00"
    assert (row.submitted_at - row.started_at).total_seconds() == 12.5
    assert tells(output, "format.cancelled", n=1)
    assert "predictions (1)" in output


def test_label_studio_as_json_min_and_csv(tmp_path: Path) -> None:
    judge(written(tmp_path, "p.json", samples.MINIMAL))
    wanted = scores(), spans()
    assert wanted == (
        {("3", "1", "Nemo"): 70, ("4", "2", "Nemo"): 100}, [("Feler", 14, 19, "minor")]
    )  # fmt: skip
    Judgment.objects.all().delete()
    columns = list(samples.MINIMAL[0])
    cells = [[each.get(column, "") for column in columns] for each in samples.MINIMAL]
    rows = [columns, *[[c if isinstance(c, str) else json.dumps(c) for c in row] for row in cells]]
    quoted = (",".join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in rows)
    judge(written(tmp_path, "p.csv", "\n".join(quoted)), name="csv")
    assert (scores("csv"), spans()) == wanted


def test_several_outputs_of_a_task_are_a_row_each(tmp_path: Path) -> None:
    of = samples.result
    task = {
        "id": 1,
        "data": {"src": "One", "alpha": "Eins", "beta": "Einz"},
        "annotations": [{"completed_by": 1, "result": [
            of("a", "alpha", "rating", rating=5), of("b", "beta", "rating", rating=1),
            *samples.marked("Einz", "Einz", samples.label("e", "labels", "Major"), to="beta"),
        ]}],
    }  # fmt: skip
    judge(written(tmp_path, "p.json", [task]), scale="1-5")
    assert scores() == {("1", "1", "alpha"): 100, ("1", "1", "beta"): 0}
    assert spans() == [("Einz", 0, 4, "major")]


def test_what_is_about_no_output_of_several_is_shared_or_named(tmp_path: Path) -> None:
    of = samples.result
    task = {
        "id": 1,
        "data": {"src": "One", "alpha": "Eins", "beta": "Einz"},
        "annotations": [{"completed_by": 1, "result": [
            of("a", "alpha", "number", number=90), of("b", "beta", "number", number=10),
            of("comment", "src", "textarea", text=["Hm."]),
            *samples.marked("One", "One", samples.label("odd", "labels", "Major"), to="src"),
        ]}],
    }  # fmt: skip
    output = judge(written(tmp_path, "p.json", [task]))
    assert scores() == {("1", "1", "alpha"): 90, ("1", "1", "beta"): 10}
    assert set(Judgment.objects.values_list("comment", flat=True)) == {"Hm."}
    assert "odd (1)" in output


def test_a_rating_of_an_error_is_named(tmp_path: Path) -> None:
    tasks = copy.deepcopy(samples.TASKS)
    at = {"start": 14, "end": 19, "rating": 3}
    tasks[0]["annotations"][0]["result"].append(
        samples.result("weight", "target", "rating", "target14", **at)
    )
    assert "weight (1)" in judge(written(tmp_path, "p.json", tasks))


def test_comments_on_errors_join_that_of_the_judgment(tmp_path: Path) -> None:
    tasks = copy.deepcopy(samples.TASKS)
    results = tasks[0]["annotations"][0]["result"]
    at = {"start": 14, "end": 19, "text": ["really"]}
    results.append(samples.result("why", "target", "textarea", "target14", **at))
    results.append(samples.result("comment", "target", "textarea", text=["So so."]))
    judge(written(tmp_path, "p.json", tasks))
    comments = Judgment.objects.exclude(comment="").values_list("comment", flat=True)
    assert list(comments) == ["So so.\nreally"]


def test_a_score_among_the_data_is_not_an_answer(tmp_path: Path) -> None:
    tasks = copy.deepcopy(samples.TASKS)
    for task in tasks:
        task["data"]["score"] = 0.123
    output = judge(written(tmp_path, "p.json", tasks))
    assert set(scores().values()) == {70, 90, 100}
    assert "data.score" in output


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (14, 19, (14, 19)),
        (14, 18, (14, 19)),
        (15, 20, (14, 19)),
        (15, 19, (14, 19)),
        (3, 8, (3, 8)),
    ],
)
def test_offsets_are_those_of_the_words(start: int, end: int, found: tuple[int, int]) -> None:
    """In code points or UTF-16 units, with the end included or not; else they are left."""
    mark = placed({"target": samples.TARGET}, start, end, "Feler")
    assert (mark["start"], mark["end"]) == found


def test_offsets_of_other_words_are_an_error_in_both_imports(tmp_path: Path) -> None:
    tasks = copy.deepcopy(samples.TASKS)
    for each in tasks[0]["annotations"][0]["result"][1:3]:
        each["value"] |= {"start": 0, "end": 5}
    path = written(tmp_path, "p.json", tasks)
    with refuses("judgments.span-marks-other-words", field="annotations[0].result[1]"):
        judge(path)
    of_talks(2)
    with refuses("judgments.span-marks-other-words", field="annotations[0].result[1]"):
        run("import_spans", "talks", path, "--name", "m", "--ends", "excluded")


def test_errors_without_a_severity_are_asked_for(tmp_path: Path) -> None:
    rows = [samples.DOCCANO[0] | {"label": [[12, 17, "spelling"]]}]
    path = written(tmp_path, "ann.jsonl", lines([*rows, samples.DOCCANO[1]]))
    with refuses("judgments.no-severity", row=1):
        judge(path)
    judge(path, severity="minor")
    assert spans() == [("Feler", 12, 17, "minor"), ("Zwei", 0, 4, "major")]


# doccano and Potato ------------------------------------------------------------------------------


def test_doccano_has_a_file_for_each_annotator(tmp_path: Path) -> None:
    other = [each | {"label": []} for each in samples.DOCCANO]
    judge(
        written(tmp_path, "ann.jsonl", lines(samples.DOCCANO)),
        written(tmp_path, "ben.jsonl", lines(other)),
    )
    assert set(scores()) == {(who, key, "Nemo") for who in ("ann", "ben") for key in "12"}
    assert spans() == [("Feler", 12, 17, "minor"), ("Zwei", 0, 4, "major")]
    assert Segment.objects.get(key="1").source == "A small mistake."


def test_doccano_of_a_shared_project_asks_who(tmp_path: Path) -> None:
    path = written(tmp_path, "all.jsonl", lines(samples.RELATIONS))
    with refuses("judgments.no-annotator-column", row=1):
        judge(path)
    output = judge(path, annotator="team")
    assert spans() == [("Feler", 12, 17, "minor")]
    assert "relations (1)" in output


def test_annotators_of_old_exports_are_told_apart(tmp_path: Path) -> None:
    row = {"id": 1, "text": "Feler", "system": "A", "annotations": [
        {"label": "minor", "start_offset": 0, "end_offset": 5, "user": 1},
        {"label": "major", "start_offset": 0, "end_offset": 5, "user": 2},
    ]}  # fmt: skip
    judge(written(tmp_path, "x.jsonl", lines([row, row | {"id": 2}])))
    assert set(scores()) == {(who, key, "A") for who in "12" for key in "12"}


def test_potato_has_a_folder_for_each_annotator(tmp_path: Path) -> None:
    files = [
        written(tmp_path, f"{who}/annotated_instances.jsonl", lines(samples.POTATO))
        for who in ("u1", "u2")
    ]
    judge(*files)
    assert scores() == {(who, key, "Nemo"): score for who in ("u1", "u2")
                        for key, score in (("1", 70), ("2", 90))}  # fmt: skip
    assert spans() == [("Feler", 12, 17, "minor")] * 2


def test_a_single_file_of_potato_names_no_annotator(tmp_path: Path) -> None:
    path = written(tmp_path, "u1/annotated_instances.jsonl", lines(samples.POTATO))
    with refuses("judgments.no-annotator-column", row=1):
        judge(path)


def test_potato_as_a_table_and_pages_of_its_survey(tmp_path: Path) -> None:
    table = samples.POTATO_TSV + "u1\tconsent.html\tconsent\t\t\ttrue\n"
    output = judge(written(tmp_path, "annotated_instances.tsv", table))
    assert scores() == {("u1", "1", "Nemo"): 70, ("u2", "2", "Nemo"): 90}
    assert tells(output, "format.pages", n=1)


def test_potato_2(tmp_path: Path) -> None:
    judge(written(tmp_path, "annotations.jsonl", lines(samples.POTATO_2)))
    assert scores() == {("u1", "1", "Nemo"): 70}
    table = (
        "instance_id,user_id,quality.70,quality.90,severity._spans,system\n"
        '1,u1,True,,"[{""name"": ""minor"", ""start"": 12, ""end"": 17}]",Nemo\n'
        "2,u1,,True,[],Nemo\n"
    )
    judge(written(tmp_path, "annotations.csv", table), name="csv")
    assert scores("csv") == {("u1", "1", "Nemo"): 70, ("u1", "2", "Nemo"): 90}
    assert Judgment.objects.filter(spans__isnull=False).count() == 2


# Parallel text -----------------------------------------------------------------------------------


def test_tmx(tmp_path: Path) -> None:
    output = upload(written(tmp_path, "m.tmx", samples.TMX))
    assert texts() == [
        ("a", "A big dog.", {"A": "Ein großer Hund."}, {}), ("c", "Two", {"A": "Zwei"}, {}),
    ]  # fmt: skip
    for said in ("4 elements of markup", "note (1)", "prop (1)", "one language (tu) (1)", "fr"):
        assert said in output


def test_tmx_in_the_other_direction_and_as_outputs(tmp_path: Path) -> None:
    path = written(tmp_path, "m.tmx", samples.TMX)
    upload(path, pair="de-en")
    assert texts()[0][1:3] == ("Ein großer Hund.", {"A": "A big dog."})
    upload(path, slug="fr", pair="en-fr", column=["reference=system:MT"])
    assert texts("fr") == [("a", "A big dog.", {}, {"MT": "Un grand chien."})]


def test_variants_of_one_language_in_tmx(tmp_path: Path) -> None:
    both = samples.TMX.replace('"de"', '"en-GB"')
    words = ("--source-language", "en-US", "--target-language", "en-GB")
    run("import_testset", "set", *words, "--table", written(tmp_path, "m.tmx", both))
    assert texts()[0][1:3] == ("A big dog.", {"A": "Ein großer Hund."})


def test_ids_that_occur_twice_in_tmx_are_numbered(tmp_path: Path) -> None:
    upload(written(tmp_path, "m.tmx", samples.TMX.replace('tuid="c"', 'tuid="a"')))
    assert [key for key, *_ in texts()] == ["1", "3"]


@pytest.mark.parametrize("role", ["--table", "--source"])
def test_xliff(tmp_path: Path, role: str) -> None:
    path = written(tmp_path, "j.xlf", samples.XLIFF)
    words = ("--source-language", "en", "--target-language", "de")
    output = run("import_testset", "set", *words, role, path)
    assert texts() == [
        ("a.html:1", "A big dog.", {"A": "Ein großer Hund."}, {}), ("b.html:1", "Two", {}, {}),
    ]  # fmt: skip
    assert list(Segment.objects.values_list("document", flat=True)) == ["a.html", "b.html"]
    for said in ("state (1)", "note (1)", "alt-trans (1)", "4 elements of markup"):
        assert said in output


def test_xliff_2(tmp_path: Path) -> None:
    upload(written(tmp_path, "j.xlf", samples.XLIFF_2))
    assert texts() == [
        ("u:s1", "A big dog.", {"A": "Ein großer Hund!"}, {}), ("u:s2", "Two", {}, {}),
    ]  # fmt: skip


def test_parallel_text_of_other_languages_is_refused(tmp_path: Path) -> None:
    for name, text in (("m.tmx", samples.TMX), ("j.xlf", samples.XLIFF)):
        with refuses("pair.none", pair="cs→en"):
            upload(written(tmp_path, name, text), pair="cs-en")


@pytest.mark.parametrize("text", [samples.TMX, samples.XLIFF, samples.XLIFF_2])
def test_errors_of_parallel_text(text: str) -> None:
    start = text.index("<tmx" if "<tmx" in text else "<xliff")
    root = text[start : text.index(">", start) + 1]
    changes = {
        text[: len(text) // 2]: "marked.xml",
        f'<!DOCTYPE x [<!ENTITY a "b">]>{text[start:]}': "marked.entities",
        f"{root}</{root[1:].split()[0]}>": "parallel.none",
    }
    for changed_text, code in changes.items():
        file = InputFile.holding("x.xml", changed_text.encode())
        report = check_submission(Submission("s", "S", "en", "de", tables=[file])).report
        assert code in codes(report)


# Assessments and MQM -----------------------------------------------------------------------------


def test_mlqe(tmp_path: Path) -> None:
    path = written(tmp_path, "dev.tsv", samples.MLQE)
    judge(path)
    assert scores() == {
        ("1", "0", "Nemo"): 70, ("2", "0", "Nemo"): 60, ("3", "0", "Nemo"): 51,
        ("1", "1", "Nemo"): 20, ("2", "1", "Nemo"): 5,
    }  # fmt: skip
    words = ("--source-language", "en", "--target-language", "de", "--name", "means")
    output = run("import_human_scores", path, *words)
    assert "2 published scores" in output
    assert "scores, z_scores and model_scores" in output


def test_comets_assessments_are_judgments_of_the_raw_scale(tmp_path: Path) -> None:
    path = written(tmp_path, "da.csv", samples.COMET)
    output = judge(path, annotator="mean", pair="")
    assert scores() == {("mean", "1", "Nemo"): 88, ("mean", "2", "Nemo"): 55}
    assert "  raw = score\n" in output
    test_set = TestSet.objects.get()
    assert (test_set.source_language, test_set.target_language) == ("en", "de")


def test_outputs_without_keys_and_sources_are_numbered(tmp_path: Path) -> None:
    rows = [{"text": "Eins", "label": [[0, 4, "minor"]]}, {"text": "Zwei", "label": []}]
    judge(written(tmp_path, "ann.jsonl", lines(rows)), system="S")
    assert set(scores()) == {("ann", "1", "S"), ("ann", "2", "S")}


def test_marot_adds_blanks_to_marked_ends_and_says_when(tmp_path: Path) -> None:
    """As in sxs_mqm_generalMT2023: the blank makes no other text, and no other annotator."""
    alone = samples.MQM.replace("<v>Feler. </v>", "Feler.<v> </v>")
    for name, text, words in (("a", samples.MQM, "Feler."), ("b", alone, ".")):
        output = judge(written(tmp_path, f"{name}.tsv", text), name=name)
        rows = Judgment.objects.filter(assignment__annotator__campaign__slug=name)
        assert rows.count() == 2
        assert words in [word for word, *_ in spans()]
        assert "Not used: note." in output
    times = {str(row.submitted_at) for row in Judgment.objects.filter(submitted_at__isnull=False)}
    assert times == {"2024-09-04 13:29:18.197000+00:00"}


def test_the_state_of_an_annotator_of_potato(tmp_path: Path) -> None:
    table = (
        "id\tsource\toutput\tsystem\n1\tA small mistake.\tEin Feler.\tNemo\n2\tTwo.\tZwei.\tNemo\n"
    )
    state = written(tmp_path, "user_state.json", samples.POTATO_STATE)
    judge(state, written(tmp_path, "texts.tsv", table))
    assert scores() == {("u1", "1", "Nemo"): 70, ("u1", "2", "Nemo"): 90}
    assert spans() == [("Feler", 4, 9, "minor")]


@pytest.mark.parametrize(
    ("name", "content"), [("copies.tsv", samples.COPIES), ("sides.json", samples.SIDES)]
)
def test_errors_of_both_texts_are_stored_where_they_are_marked(
    tmp_path: Path, name: str, content: Any
) -> None:
    judge(written(tmp_path, name, content))
    assert spans() == [("Feler", 4, 9, "minor"), ("small", 2, 7, "major")]
    assert Judgment.objects.filter(is_current=True).count() == 2
    assert set(TestSet.objects.get().systems.values_list("name", flat=True)) == {"Nemo"}


def test_contradicted_texts_are_the_only_error(tmp_path: Path) -> None:
    """Offsets of other texts than the first of a segment would all be wrong."""
    row = samples.SIDES[0] | {"SEG_ID": "1", "target": "Feler!", "source": "A"}
    with refuses("judgments.other-source", "judgments.other-output"):
        judge(written(tmp_path, "sides.json", [samples.SIDES[0], row]))
