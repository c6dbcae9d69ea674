"""Formats are recognised by their contents, whoever declares them."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver, reverse

from annotation.forms.tables import HumanScoresForm, JudgmentsForm
from annotation.forms.uploads import UploadForm
from annotation.models import FileImport, TestSet
from annotation.uploads.formats.base import (
    GOLD,
    HUMAN_SCORES,
    JUDGMENTS,
    TABLES,
    TEST_SET,
    Format,
)
from annotation.uploads.formats.registry import declared, doors
from annotation.uploads.problems import Report
from core import extensions
from core.extensions import Extension
from tests.files import samples
from tests.files.doors import judge, refuses, run, texts, upload
from tests.files.test_cases import scores
from tests.files.test_rules import read
from tests.world import World

pytestmark = pytest.mark.django_db
KEYS = ("test set", "judgments", "human scores", "metric scores", "spans")
NAMES = {str(door): name for door, name in zip(TABLES, KEYS, strict=True)}
DECLARED = {each.name: each for each in declared()}
SAMPLES = [each for each in samples.FORMATS if each[0] in DECLARED]


def written(tmp_path: Path, name: str, content: Any) -> Path:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(rows: list[Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def codes(report: Report) -> set[str]:
    return {problem.code for problem in report.problems}


@pytest.mark.parametrize(("name", "file", "text"), SAMPLES)
def test_a_format_is_recognised_in_each_import_that_it_suits(
    name: str, file: str, text: str
) -> None:
    for door in [each for each in DECLARED[name].doors if each in TABLES]:
        _, report = read(NAMES[str(door)], file, text)
        notes = [each for each in report.notes if each.code == "format.read"]
        assert [each.message.parameters["format"] for each in notes] == [name]


def test_every_declared_format_has_a_sample() -> None:
    folders = {"mt-metrics-eval folder", "published data set"}
    assert {name for name, *_ in SAMPLES} == set(DECLARED) - folders


@pytest.mark.parametrize(("form", "door"), [
    (UploadForm, TEST_SET), (JudgmentsForm, JUDGMENTS), (HumanScoresForm, HUMAN_SCORES),
])  # fmt: skip
@pytest.mark.parametrize("installed", [True, False])
def test_forms_name_the_formats_of_installed_extensions_alone(
    settings: Any, form: Any, door: Any, installed: bool
) -> None:
    every = {each.name for each in declared() if door in each.doors and each.read}
    if not installed:
        settings.EXTENSIONS = []
    known = {each.name for each in declared()}
    text = str(form().fields["tables"].help_text)
    assert {name for name in every if name in text} == every & known


def test_every_import_of_the_settings_has_formats() -> None:
    assert {door.code.removeprefix("import.") for door in doors()} == set(settings.IMPORT_DOORS)
    read_by = {door for each in declared() for door in each.doors}
    assert set(doors()) - read_by == {GOLD}  # plain tables


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [each for each in SAMPLES if each[2].startswith("<") or not DECLARED[each[0]].read],
)
@pytest.mark.parametrize("door", ["judgments", "human scores", "metric scores", "spans"])
def test_a_file_of_another_import_is_named_and_nothing_else_is_said(
    door: str, name: str, file: str, text: str
) -> None:
    _, report = read(door, file, text)
    (error,) = report.errors
    assert error.code == "format.other-import"
    assert error.message.parameters == {"format": name, "imports": list(DECLARED[name].doors)}


@pytest.mark.parametrize("text", ["source,target\nOne,Eins\n", '[{"text": "a", "label": "b"}]'])
def test_other_tables_have_no_format(text: str) -> None:
    for door in NAMES.values():
        _, report = read(door, "t.json" if text[0] == "[" else "t.csv", text)
        assert "format.read" not in codes(report)


def test_two_tables_without_keys_number_their_texts_alike(tmp_path: Path) -> None:
    head = "annotator,source,output,system,score\n"
    files = [
        written(tmp_path, "a.csv", head + "a,One,Eins,S,1\na,Two,Zwei,S,2\n"),
        written(tmp_path, "b.csv", head + "b,Two,Zwei,S,3\nb,One,Eins,S,4\n"),
    ]
    judge(*files)
    assert scores() == {("a", "1", "S"): 1, ("a", "2", "S"): 2, ("b", "2", "S"): 3,
                        ("b", "1", "S"): 4}  # fmt: skip


def test_tables_separated_by_blanks(tmp_path: Path) -> None:
    """As R writes them, and Google the means of MQM, whose rows have a tab too."""
    judge(written(tmp_path, "r.txt", samples.BLANKS), column=["human_score="])
    assert scores() == {("R", "1", "Nemo"): 80, ("R", "2", "Nemo"): 70}
    means = "system mqm_avg_score seg_id\nNemo\t-1.000000 1\nNemo\t-0.000000 2\n"
    words = ("--source-language", "en", "--target-language", "de")
    output = run("import_human_scores", written(tmp_path, "ted.avg_seg_scores.tsv", means), *words)
    assert "2 published scores" in output


@pytest.mark.parametrize(
    "text", ["source segment\nOne two three\nTwo\n", "Hello dear world\na b c\n"]
)
def test_a_column_of_sentences_is_not_separated_by_blanks(text: str) -> None:
    _, report = read("test set", "t.csv", text)
    assert "format.read" not in codes(report)


def test_the_reference_lists_every_format_with_its_imports() -> None:
    from config.reference.data import formats_page

    page = formats_page()
    for each in declared():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {each.name} |")]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert [bool(cell) for cell in cells[2:]] == [door in each.doors for door in doors()]


def test_a_column_with_one_text_in_all_rows_is_not_the_output(tmp_path: Path) -> None:
    rows = [
        {"source": f"S {n}", "target": f"T {n}", "mt": "Nemo", "annotator": "R", "score": 70}
        for n in (1, 2)
    ]
    judge(written(tmp_path, "t.jsonl", lines(rows)), system="Nemo")
    assert [outputs for *_, outputs in texts("t")] == [{"Nemo": "T 1"}, {"Nemo": "T 2"}]


def test_numbers_are_no_output_beside_equal_texts(tmp_path: Path) -> None:
    """MetricX writes its scores as `prediction`; short texts may be equal in all rows."""
    rows = [
        {"source": f"S {n}", "hypothesis": "Ja.", "reference": "R", "prediction": n / 3}
        for n in (1, 2)
    ]
    upload(written(tmp_path, "Nemo.jsonl", lines(rows)))
    assert [outputs for *_, outputs in texts()] == [{"Nemo": "Ja."}] * 2


def test_names_of_human_scores_are_made_of_words(tmp_path: Path) -> None:
    rows = [
        {"segment": n, "system": "Nemo", "da_norm_score": n / 2, "adequacy_score": n,
         "full_score": n, "mqm_std": n, "score_GPT_EA": -n, "edit_distance": n}
        for n in (1, 2)
    ]  # fmt: skip
    output = run(
        "import_human_scores", written(tmp_path, "t.jsonl", lines(rows)), "--dry-run",
        source_language="en", target_language="de",
    )  # fmt: skip
    scored = [line.split(" = ")[0].strip() for line in output.splitlines() if " = score" in line]
    assert scored == ["da_norm_score", "adequacy_score", "full_score"]


def test_hits_of_several_language_pairs_are_a_campaign_each(tmp_path: Path) -> None:
    """WMT's direct assessments on Mechanical Turk name the languages in `Input.src`."""
    head = "HITId\tWorkerId\tInput.src\tInput.trg\tsys_id\tsid\tscore\n"
    rows = "h\tw\ten\tde\tNemo\t1\t70\nh\tw\ten\tcs\tNemo\t1\t80\n"
    judge(written(tmp_path, "hits.tsv", head + rows), pair="")
    codes = TestSet.objects.values_list("source_language", "target_language")
    assert sorted(codes) == [("en", "cs"), ("en", "de")]


# Formats of extensions ---------------------------------------------------------------------------

NOTES = (Format("notes", "`#notes`", (JUDGMENTS,), begins=lambda name, text: text[:6] == "#notes",
                read=lambda contents, to: [], before="one score per line"),)  # fmt: skip


@pytest.fixture
def loaded() -> None:
    """Import what asks for all extensions once in a process, before a test leaves some out."""
    assert get_resolver().url_patterns


def test_a_format_of_an_extension_is_tried_before_the_one_that_it_names(
    loaded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Extension(app="notes", formats=f"{__name__}.NOTES")
    monkeypatch.setattr(extensions, "installed", lambda: [record])
    names = [each.name for each in declared()]
    assert names[names.index("notes") + 1] == "one score per line"
    _, report = read("judgments", "n.txt", "#notes\n")
    assert [each.message.parameters["format"] for each in report.notes] == ["notes"]


def test_the_core_alone_names_no_other_tools(
    loaded: None, settings: Any, tmp_path: Path, world: World, as_admin: Client
) -> None:
    settings.EXTENSIONS, settings.IMPORT_DOORS = [], {"judgments": "annotation.doors.campaigns"}
    words = ("--source-language", "en", "--target-language", "de")
    with refuses("json.keys-unknown", "json.missing-key"):
        run("open", written(tmp_path, "c.json", samples.PEARMUT), *words)
    _, report = read("judgments", "project.json", json.dumps(samples.TASKS))
    assert "format.read" not in codes(report)
    addresses = (reverse("campaign-import"), reverse("export", args=[world.campaign.slug]))
    pages = [as_admin.get(address).text for address in addresses]
    assert not [tool for tool in ("Appraise", "Pearmut") for page in pages if tool in page]
    row = FileImport.objects.create(door="pearmut", created_by=world.admin, queue="slow")
    assert as_admin.get(row.get_absolute_url()).status_code == 404
