"""Import small files that people have, and check that they are read as their authors meant."""

import csv
import io
import json
import time
from pathlib import Path

import pytest

from annotation.exports.judgments import judgment_lines
from annotation.imports.judgments.rows import UNNAMED
from annotation.models import Annotator, Campaign, Judgment, Segment, System, TestSet
from tests.files.doors import RefusedError, case, judge, of_talks, refuses, run, texts, upload
from tests.refusals import tells

pytestmark = pytest.mark.django_db
TWO = [("One", "Eins", "Eins!"), ("Two", "Zwei", "Zwei!")]


@pytest.mark.parametrize("name", ["a09-index.csv", "a09-title-row.csv", "r-write-table-norow.tsv"])
def test_tables_of_pandas_excel_and_r(name: str) -> None:
    upload(case(f"tables/{name}"), column=["mt=system:A"])
    wanted = TWO[:1] if "title" in name else TWO
    assert [(s, r["A"], o["A"]) for _, s, r, o in texts()] == wanted


def test_an_index_without_a_name_is_reported() -> None:
    output = upload(case("tables/a09-index.csv"), column=["mt=system:A"])
    assert tells(output, "table.column-unnamed")


def test_quoted_cells_are_reported() -> None:
    output = upload(case("tables/r-write-table-norow.tsv"), column=["mt=system:A"])
    assert "quotation marks" in output


@pytest.mark.parametrize("name", ["a09-sep.csv", "a09-trailing-empty-cols.csv"])
def test_separators_stated_and_empty_columns_behind(name: str) -> None:
    upload(case(f"tables/{name}"))
    assert [(k, s, o["A"]) for k, s, _, o in texts()] == [
        ("1", "One", "Eins"),
        ("2", "Two", "Zwei"),
    ]


def test_workbook() -> None:
    upload(case("tables/table.xlsx"))
    found = texts()
    assert len(found) == 5
    assert found[0] == (
        "1", "Source 0\nwith a second line", {"A": "Ref 0"}, {"A": "A 0", "B": "B 0"}
    )  # fmt: skip


def test_a_list_in_an_object() -> None:
    upload(case("tables/wrapped-list.json"))
    assert [(key, refs["A"]) for key, _, refs, _ in texts()][:2] == [("0", "R 0"), ("1", "R 1")]


@pytest.mark.parametrize("name", ["a06-absent.jsonl", "a06-null.jsonl"])
def test_some_references_are_missing(name: str) -> None:
    output = upload(case(f"tables/{name}"))
    assert "reference" in output
    assert [refs for _, _, refs, _ in texts()] == [{}, {"A": "R"}]


def test_markup_that_nothing_closes_takes_no_time() -> None:
    before = time.process_time()
    with pytest.raises(RefusedError):
        upload(case("attack/slow.sgm"))
    assert time.process_time() - before < 3


def scores(campaign: str | None = None) -> dict[tuple[str, str, str], int | None]:
    """Score of each current judgment by annotator, segment and system."""
    rows = Judgment.objects.filter(is_current=True)
    if campaign:
        rows = rows.filter(assignment__annotator__campaign__slug=campaign)
    return {
        (
            row.assignment.annotator.label,
            row.assignment.item.segment.key,
            row.assignment.item.output.system.name,
        ): row.score
        for row in rows
    }


def test_judgments_of_r() -> None:
    judge(case("tables/b05-r.csv"))
    assert scores() == {("r1", "1", "A"): 88, ("r2", "1", "A"): 70}


def test_judgments_of_pandas_and_excel() -> None:
    judge(case("tables/index-pd.csv"))
    judge(case("tables/b13-excel.csv"))
    assert scores("index-pd") == {("r1", "1", "A"): 80, ("r1", "2", "A"): 70}
    assert scores("b13-excel") == {("r1", "1", "A"): 88}


def test_percent() -> None:
    judge(case("tables/b06-percent.csv"))
    assert set(scores().values()) == {88, 55}


def test_dates_as_people_write_them() -> None:
    output = judge(case("tables/b07-times-eu.csv"), "--time-zone", "UTC")
    assert "day" in output
    ends = Judgment.objects.values_list("submitted_at", flat=True)
    assert sorted(end.strftime("%m-%d %H:%M") for end in ends) == ["08-04 12:30", "08-13 12:31"]
    judge(case("tables/b07-times-us.csv"), "--time-zone", "UTC", name="us")
    ends = Judgment.objects.filter(assignment__annotator__campaign__slug="us").values_list(
        "submitted_at", flat=True
    )
    assert sorted(end.strftime("%m-%d %H:%M") for end in ends) == ["08-04 12:30", "08-13 12:31"]


def test_hours_that_a_clock_has_twice_or_never() -> None:
    output = judge(case("tables/b07-times-dst.csv"), "--time-zone", "Europe/Berlin")
    assert "Clock changes" in output


def test_a_column_for_each_annotator() -> None:
    judge(case("tables/b14-wide.csv"))
    assert scores() == {
        ("rater1", "1", "A"): 80, ("rater2", "1", "A"): 90,
        ("rater1", "2", "A"): 70, ("rater2", "2", "A"): 60,
    }  # fmt: skip


def test_a_column_for_each_system() -> None:
    judge(case("tables/b15-wide-systems.csv"))
    assert scores() == {
        ("r1", "1", "A"): 80, ("r1", "1", "B"): 90, ("r1", "2", "A"): 70, ("r1", "2", "B"): 60,
    }  # fmt: skip


def test_languages_in_words() -> None:
    judge(case("tables/b16-lp.csv"), pair="")
    pairs = {(s.source_language, s.target_language) for s in TestSet.objects.all()}
    assert pairs == {("en", "de"), ("en", "cs-CZ"), ("en", "da"), ("en", "zh-Hant-TW")}


def test_comets_table_of_judgments() -> None:
    run("import_human_scores", case("tables/comet-da.csv"), "--system", "mt")
    assert TestSet.objects.count() == 2
    german = TestSet.objects.get(target_language="de")
    assert [s.source for s in german.segments.order_by("position")] == [
        "One house", "One house", "Two cats",
    ]  # fmt: skip


def test_names_are_compared_in_nfc() -> None:
    output = judge(case("tables/nfc-nfd-names.csv"))
    labels = set(Annotator.objects.values_list("label", flat=True))
    assert {label for label in labels if label.startswith("Jos")} == {"José"}
    assert "“Ana”" in output  # as well as “ana”, who may be another person


def spans() -> list[tuple[str, int, int, str]]:
    """The marked words of every judgment, with their places."""
    found = []
    for row in Judgment.objects.all():
        item = row.assignment.item
        for span in row.spans.all():
            text = item.segment.source if span.side == "source" else item.output.text
            found.append((text[span.start : span.end], span.start, span.end, span.severity))
    return sorted(found)


@pytest.mark.parametrize("name", ["b20-crlf-spans.jsonl", "b20-crlf-spans.csv"])
def test_line_ends_move_offsets(name: str) -> None:
    judge(case(f"spans/{name}"))
    assert {word for word, *_ in spans()} == {"Fehler"}


def test_wmt24_esa() -> None:
    judge(case("tables/wmt24-esa.jsonl"), pair="")
    test_set = TestSet.objects.get()
    assert (test_set.source_language, test_set.target_language) == ("en", "cs")
    assert Campaign.objects.get().protocol == "esa"
    assert ("GPT-4", 0, 5, "minor") in spans()
    assert set(test_set.segments.values_list("document", flat=True)) >= {"d1"}


@pytest.mark.needs("extensions.formats")
@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("b03-mqm-postedit.tsv", {"blieb", "gut"}),
        ("b31-mqm-quoted.tsv", {'"nein"', "Text"}),
        ("ted_unclosed.tsv", None),
        ("marot_doc_header.tsv", None),
    ],
)
def test_googles_tables_of_mqm(name: str, marked: set[str] | None) -> None:
    output = judge(case(f"tables/{name}"))
    words = {word for word, *_ in spans()}
    assert words
    if marked is not None:
        assert marked <= words
    if name.startswith("b03"):
        assert "post-edited" in output
    if name.startswith("ted"):
        assert "not closed" in output
        assert not any(
            "<v>" in output.text for s in System.objects.all() for output in s.outputs.all()
        )


@pytest.mark.needs("extensions.formats")
def test_wmt25() -> None:
    folder = case("wmt25")
    files = [folder / "wmt25-genmt.jsonl", folder / "CUNI-MH-v2.jsonl", folder / "GPT-4.1.jsonl"]
    output = upload(*files, pair="en-cs_CZ")
    found = texts()
    assert len(found) == 12  # four documents of three paragraphs
    documents = set(Segment.objects.values_list("document", flat=True))
    assert "en-cs_CZ_#_news_#_doc0" in documents
    assert Segment.objects.exclude(domain="news").values_list("domain").distinct().get() == (
        "literary",
    )
    assert found[0][1] == "First paragraph 0 of the news text."
    assert found[0][2] == {"refA": "[cs_CZ] ref news 0 p1."}
    assert found[0][3]["GPT-4.1"] == "[cs_CZ] GPT-4.1 news 0 p1."
    assert set(found[0][3]) == {"GPT-4.1", "CUNI-MH-v2"}
    assert "ar" in output  # the other languages are named


@pytest.mark.needs("extensions.formats")
def test_wmt26() -> None:
    folder = case("wmt26")
    upload(folder / "wmt26.jsonl", folder / "GPT 5.5.jsonl", pair="en-zh_Hant_TW")
    found = texts()
    assert [key for key, *_ in found]
    assert found[0][2] == {"refA": "文本 0。"}


@pytest.mark.parametrize("name", ["b01-wmt25-humeval.jsonl", "humeval-guessed.jsonl"])
def test_wmt25_humeval(name: str) -> None:
    judge(case(f"wmt25/{name}"), pair="")
    test_set = TestSet.objects.get()
    assert (test_set.source_language, test_set.target_language) == ("en", "cs-CZ")
    assert Judgment.objects.count()


def imported(test_set: TestSet) -> dict[str, dict[tuple[str, str], float]]:
    """Imported scores by metric, system and segment."""
    from metrics.imported.held import read
    from metrics.models import MetricImport

    names = dict(test_set.systems.values_list("pk", "name"))
    keys = dict(test_set.segments.values_list("pk", "key"))
    found = {}
    for row in MetricImport.objects.select_related("signature"):
        held = read(row.signature)
        found[row.metric] = {
            (names[system], keys[segment]): score
            for system, scores in held.outputs.items()
            for segment, score in scores.items()
        } | {(names[system], ""): score for system, score in held.systems.items()}
    return found


@pytest.mark.parametrize("name", ["comet-to-json.json", "comet-to-json-paths.json"])
def test_scores_of_comet_as_json(name: str) -> None:
    test_set = of_talks()
    output = run("import_scores", "talks", case(f"scores/{name}"))
    assert tells(output, "scores.rows-in-order")
    (scores,) = imported(test_set).values()
    assert scores["Facebook-AI", "1"] == 0.956
    assert {system for system, _ in scores} == {"Facebook-AI", "HuaweiTSC", "Nemo"}


def test_scores_of_comet_as_it_prints_them() -> None:
    test_set = of_talks(529)
    words = ("import_scores", "talks", case("scores/comet-stdout.txt"))
    assert "comet-stdout: 10 of" in run(*words, "--dry-run")
    run(*words, "--name", "comet-stdout=COMET")
    (scores,) = imported(test_set).values()
    assert len(scores) == 10
    assert scores["Facebook-AI", "3"] == 0.0566
    assert scores["Online-W", "529"] == 0.5314


def test_lines_behind_the_last_segment_are_not_dropped() -> None:
    of_talks(6)
    with refuses("scores.line-outside", line=525, n=6):
        run("import_scores", "talks", case("scores/comet-stdout.txt"))


@pytest.mark.parametrize(
    "name",
    ["metricx-Nemo.jsonl", "metricx-Online-W.jsonl", "bleurt-Online-W.txt", "evaluate-Nemo.json"],
)
def test_scores_of_one_system_that_the_file_names(name: str) -> None:
    test_set = of_talks()
    run("import_scores", "talks", case(f"scores/{name}"))
    ((metric, scores),) = imported(test_set).items()
    system = "Nemo" if "Nemo" in name else "Online-W"
    assert name.partition("-")[0] in metric
    assert scores[system, "1"] in (0.2683, 0.4008)
    assert (system, "4") not in scores if name == "metricx-Nemo.jsonl" else scores[system, "4"]


def test_scores_of_sacrebleu() -> None:
    test_set = of_talks()
    with refuses("scores.system-unknown-of-columns", row=1):
        run("import_scores", "talks", case("scores/sacrebleu.json"))
    run("import_scores", "talks", case("scores/sacrebleu.json"), "--system", "Nemo")
    (scores,) = imported(test_set).values()
    assert scores == {("Nemo", ""): 33.1}


def test_lines_are_not_matched_where_their_order_is_not_known() -> None:
    run(
        "import_judgments", case("scores/shuffled_judgments.tsv"),
        "--source-language", "en", "--target-language", "de",
    )  # fmt: skip
    slug = TestSet.objects.get().slug
    run("import_scores", slug, case("scores/perfect_keys.tsv"))
    with refuses("lines.unknown-order"):
        run("import_scores", slug, case("scores/Perfect.seg.score"))


def test_penalties_are_better_when_lower() -> None:
    run(
        "import_human_scores", case("scores/ted_penalties_sys.tsv"),
        "--source-language", "en", "--target-language", "de",
    )  # fmt: skip
    assert set(Campaign.objects.values_list("lower_is_better", flat=True)) == {True}


@pytest.mark.parametrize(
    "name", ["base.tsv", "nan.tsv", "none.tsv", "inf.tsv", "humanNA.tsv", "csv.csv"]
)
def test_missing_scores_of_pandas_and_r(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from metaeval.commands import main

    assert main(["correlate", str(case(f"scores/{name}")), "--human", "human"]) in (0, None)
    output = capsys.readouterr().out
    assert "good" in output
    assert "poor" in output


@pytest.mark.parametrize(
    ("name", "scale"),
    [("adequacy-fluency", None), ("choices", "-3-3"), ("excluded", None), ("campaign-a", None)],
)
def test_an_export_comes_back_equal(name: str, scale: str | None) -> None:
    """These are of a version whose exports have no keys and no settings."""
    path = case(f"life/{name}-export.csv")
    output = judge(path, scale=scale)
    assert " used." not in output
    with path.open(encoding="utf-8", newline="") as file:
        before = list(csv.DictReader(file))
    lines = "".join(judgment_lines(Campaign.objects.get()))
    found = list(csv.DictReader(io.StringIO(lines)))
    assert len(found) == len(before) > 40
    for own, other in zip(found, before, strict=True):
        for column in other.keys() - {"item", "partner", "judgment", "z_all", "z_targets"}:
            assert own[column] == other[column], column
        # Sums were added in another order.
        assert own["z_all"] == other["z_all"] or float(own["z_all"]) == pytest.approx(
            float(other["z_all"])
        )


def test_own_scales_without_a_stated_scale_are_refused() -> None:
    with refuses(
        "judgments.own-scales", "protocol.greatest", "judgments.score-outside", scales=["Quality"]
    ):
        judge(case("life/choices-export.csv"))


def test_annotators_of_two_exports_are_different() -> None:
    judge(case("life/campaign-a-export.csv"), case("life/campaign-b-export.csv"))
    found = Judgment.objects.values_list("assignment__annotator__campaign", "is_current")
    assert len({campaign for campaign, _ in found}) == 2
    assert all(current for _, current in found)


def test_more_segments() -> None:
    upload(case("life/more-segments.tsv"))
    upload(case("life/more-system.tsv"))
    assert len(texts()) == 16
    assert set(texts()[0][3]) == {"A", "B", "C"}


@pytest.mark.parametrize(
    "name",
    ["life-esa.json", "life-af.json", "life-static.json", "life-static-more.json"],
)
def test_campaign_files_open(name: str) -> None:
    output = run("open", case(f"life/{name}"))
    assert "/" in output
    assert Campaign.objects.get().items.count() > 10


def test_a_campaign_file_of_one_segment_opens() -> None:
    run("open", case("spans/double-click-en.json"))
    assert texts(TestSet.objects.get().slug)[0][1] == "Quelle."


def test_outputs_of_an_unnamed_system_are_stored(tmp_path: Path) -> None:
    """As a published evaluation of one system has them: keys that say what they hold."""
    rows = [
        {"sentence_pair_id": key, "evaluator_id": who, "score": score, "original": f"S {key}",
         "human_translation": f"R {key}", "machine_translation": f"M {key}"}
        for key, scores in {"p1": (45, 52), "p2": (9, 13)}.items()
        for who, score in zip(("e1", "e2"), scores, strict=True)
    ]  # fmt: skip
    path = tmp_path / "evaluation.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert f"“{UNNAMED}”" not in judge(path, system="Ours", dry_run=True)
    assert f"“{UNNAMED}”" in judge(path)
    (campaign,) = Campaign.objects.all()
    found = texts(campaign.test_set.slug)
    assert [(key, refs, list(outputs.values())) for key, _, refs, outputs in found] == [
        (key, {"A": f"R {key}"}, [f"M {key}"]) for key in ("p1", "p2")
    ]
