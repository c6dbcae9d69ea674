"""Import files in the layouts of published data sets that are nobody's export."""

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Judgment, TestSet
from tests.files import samples
from tests.files.doors import RefusedError, judge, refuses, run, texts, upload
from tests.files.test_cases import imported, scores, spans
from tests.files.test_formats import lines, written
from tests.files.test_rules import read

pytestmark = pytest.mark.django_db


def test_errors_by_offsets_end_before_their_last_offset(tmp_path: Path) -> None:
    judge(written(tmp_path, "dev.tsv", samples.OFFSETS))
    assert spans() == [
        ("Drei", 0, 4, "minor"), ("Ein", 0, 3, "minor"), ("Feler", 12, 17, "major"),
    ]  # fmt: skip
    # Segment 0 of two documents are two segments, and the row without errors is a judgment.
    assert sorted(each[1] for each in scores()) == ["d1:0", "d1:1", "d2:0"]


@pytest.mark.parametrize("door", ["judgments", "spans"])
def test_lists_of_offsets_of_other_lengths_are_an_error(door: str) -> None:
    _, report = read(door, "dev.tsv", samples.OFFSETS.replace("\t17 3\t", "\t17\t"))
    assert ("format.offsets-unequal", 2) in [(e.code, e.place.row) for e in report.errors]


def test_rows_without_a_place_in_the_document_have_no_segment(tmp_path: Path) -> None:
    path = written(tmp_path, "dev.tsv", samples.OFFSETS.replace("d1\t1\t", "d1\t\t"))
    with refuses("segment.missing", row=3):
        judge(path)


def test_subcategories_and_places_in_documents_of_both_sides(tmp_path: Path) -> None:
    def row(document: str, source: str, **error: Any) -> dict[str, Any]:
        ids = {"SEG_ID": "1", "MT_Engine": "Nemo", "Annotator_ID": 7, "DOC_ID": document}
        marked = [{"startIndex": 0, "endIndex": 2, "severity": "Minor", **error}]
        texts = {"source": source, "target": source.upper()}
        return {**texts, **ids, "source_errors": [], "target_errors": marked}

    grammar = {"error_category": "Linguistic", "error_subcategory": "Grammar"}
    judge(written(tmp_path, "r.json", [row("a", "one", **grammar), row("b", "two")]))
    assert [key for key, *_ in texts("r")] == ["a:1", "b:1"]
    found = [span for each in Judgment.objects.all() for span in each.spans.all()]
    assert sorted(span.category for span in found) == ["linguistic/grammar", "other"]
    # The column keeps its name, so that it can be ignored.
    judge(tmp_path / "r.json", name="numbered", column=["seg_id="])
    assert [key for key, *_ in texts("numbered")] == ["1", "2"]


def test_ratings_of_mechanical_turk_are_own_scales_with_times(tmp_path: Path) -> None:
    judge(written(tmp_path, "Batch_1_results.csv", samples.TURK), scale="1-5")
    rows = Judgment.objects.order_by("assignment__item__segment__key")
    assert [row.ratings for row in rows] == [
        {"meaning": 5, "grammar": 4}, {"meaning": 1, "grammar": 2},
    ]  # fmt: skip
    times = [row.submitted_at and row.submitted_at.isoformat() for row in rows]
    # Summer and winter time of the Pacific coast are 7 and 8 hours behind.
    assert times == ["2021-06-10T04:25:01+00:00", "2021-12-06T17:00:30+00:00"]


def test_the_only_rating_of_mechanical_turk_is_the_score(tmp_path: Path) -> None:
    table = samples.TURK.replace(",Answer.grammar", "").replace(",5,4", ",50").replace(",1,2", ",9")
    judge(written(tmp_path, "Batch_1_results.csv", table))
    assert scores() == {("W1", "1", "Nemo"): 50, ("W1", "2", "Nemo"): 9}


def of_documents(tmp_path: Path) -> TestSet:
    documents = [
        {"doc_id": f"en-de_#_news_#_{name}", "src_text": text, "refs": {"refA": text}}
        for name, text in (("d1", "One.\n\nTwo."), ("d2", "Three."))
    ]
    upload(written(tmp_path, "genmt.jsonl", lines(documents)))
    return TestSet.objects.get()


def of_system(tmp_path: Path) -> Path:
    rows = [
        {"doc_id": "en-de_#_news_#_d1", "hypothesis": "Eins.\n\nZwei."},
        {"doc_id": "en-de_#_news_#_d2", "hypothesis": "Drei."},
    ]
    return written(tmp_path, "Nemo.jsonl", lines(rows))


def test_documents_of_a_system_are_added_to_a_stored_test_set(tmp_path: Path) -> None:
    of_documents(tmp_path)
    upload(of_system(tmp_path))
    assert [outputs["Nemo"] for *_, outputs in texts()] == ["Eins.", "Zwei.", "Drei."]


def test_documents_of_a_system_alone_ask_for_the_segments(tmp_path: Path) -> None:
    with refuses("test-set.no-segments"):
        upload(of_system(tmp_path))


def test_scores_of_paragraphs(tmp_path: Path) -> None:
    test_set = of_documents(tmp_path)
    upload(of_system(tmp_path))
    (tmp_path / "scores").mkdir()
    path = written(tmp_path / "scores", "Nemo.jsonl", lines(samples.PARAGRAPHS))
    run("import_scores", "set", path, higher_is_better=["MetricX"])
    first, second, alone = (f"en-de_#_news_#_{key}" for key in ("d1:1", "d1:2", "d2"))
    assert imported(test_set) == {
        "imported-kiwi": {("Nemo", first): 0.5, ("Nemo", second): 0.25, ("Nemo", alone): 0.75},
        "imported-metricx": {("Nemo", first): -1.5, ("Nemo", alone): -2.5},
    }


def test_scores_of_appraise_are_judgments_without_their_batches(tmp_path: Path) -> None:
    path = written(tmp_path, "scores.csv", samples.APPRAISE)
    judge(path, pair="")
    test_set = TestSet.objects.get()
    assert (test_set.source_language, test_set.target_language) == ("en", "de")
    assert sorted(Judgment.objects.values_list("score", "assignment__item__kind")) == [
        (0, "target"), (5, "repeat"), (33, "target"), (70, "target"),
    ]  # fmt: skip
    times = Judgment.objects.order_by("score").values_list("started_at__year", flat=True)
    assert list(times) == [2022, 2022, None, 2022]  # 0 is no time


@pytest.mark.parametrize(
    ("command", "sent", "is_of"),
    [
        (["import_pearmut", "*"], "batches of Appraise", "import.appraise"),
        (["import_pearmut", "*"], "a campaign of Touchstone", "import.campaign-file"),
        (["import_appraise", "*", "*"], "a campaign of Pearmut", "import.pearmut"),
        (["open", "*"], "batches of Appraise", "import.appraise"),
    ],
)
def test_campaigns_of_other_tools_are_named(
    tmp_path: Path, command: list[str], sent: str, is_of: str
) -> None:
    name, text = next((file, text) for each, file, text in samples.FORMATS if each == sent)
    path = str(written(tmp_path, name, text))
    words = ["--source-language", "en", "--target-language", "de"]
    words = words if command[0] == "import_pearmut" else []
    with pytest.raises(RefusedError) as caught:
        run(*[path if each == "*" else each for each in command], *words)
    error = caught.value.problems[0]
    assert (error.code, error.message.parameters["format"]) == ("format.other-import", sent)
    assert is_of in {door.code for door in error.message.parameters["imports"]}


def test_errors_of_test_data_by_offsets_have_singular_names(tmp_path: Path) -> None:
    text = "lp\tgold\tsid\tmt\tstart_id\tend_id\terror\n"
    text += "en-de\tgold\t0\tEin kleiner Feler.\t12 0\t17 3\tmajor minor\n"
    text += "en-de\tgold\t1\tZwei.\t-1\t-1\tno-error\n"
    judge(written(tmp_path, "T2.tsv", text), pair="", annotator="gold", system="MT")
    assert spans() == [("Ein", 0, 3, "minor"), ("Feler", 12, 17, "major")]
    assert {key for _, key, _ in scores()} == {"0", "1"}
