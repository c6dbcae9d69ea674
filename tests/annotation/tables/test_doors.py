"""The doors for tables: the page with its preview, the commands, and the API."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from annotation.imports.sources import tools
from annotation.models import Campaign, Judgment, PublishedScore
from tests.house.templates.seen import seen
from tests.refusals import refused, tells
from tests.world import World, make_user

IMPORT, API = "/campaigns/import/", "/api/imports/judgments/"
SCORES_API = "/api/imports/human-scores/"
TABLE = "wer\tSeg\tSystem\tScore\nR1\t1\tstrong\t80\nR2\t1\tstrong\t60\n"
SCORES = "segment\tsystem\tda\n1\tstrong\t0.5\n"


def sent(text: str, name: str = "own.tsv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def send(client: Client, *tables: SimpleUploadedFile, tool: str = "judgments", **words: str) -> Any:
    data = {f"{tool}-{name}": value for name, value in words.items()}
    return client.post(IMPORT, {"tool": tool, f"{tool}-tables": list(tables), **data})


def test_the_person_says_what_a_column_holds(world: World, as_admin: Client) -> None:
    checked = send(as_admin, sent(TABLE), test_set="harbour", name="Later")
    page = as_admin.get(checked.url)
    assert page.status_code == 422
    assert as_admin.post(checked.url).status_code == 422
    changes = {"change": "1", "words-test_set": "harbour", "words-name": "Later"}
    columns = {"column-0": "annotator", "column-1": "segment", "column-2": "system"}
    read = as_admin.post(checked.url, {**changes, **columns, "column-3": "score"})
    assert read.status_code == 302
    assert "expired" in as_admin.get(checked.url, follow=True).text
    page = as_admin.get(read.url)
    assert page.status_code == 200
    assert "data-first-rows" in page.text
    shown = page.text
    assert 'data-case="judgments"' in shown
    assert 'data-n="2"' in shown
    assert '<option value="annotator" selected>' in page.text
    assert not Campaign.objects.filter(slug="later").exists()
    done = as_admin.post(read.url)
    assert "Stored: 2 annotators, 1 system, 1 segment, 1 item, 2 judgments." in done.text
    campaign = Campaign.objects.get(slug="later")
    assert campaign.created_by == world.admin
    for name in (
        "campaign-setup",
        "results",
        "quality",
        "correlations",
        "monitor",
        "export",
    ):
        assert as_admin.get(reverse(name, args=["later"])).status_code == 200, name


@pytest.mark.parametrize("shown_text", ["source", "reference"])
def test_the_preview_has_the_question_that_is_asked(
    world: World, as_admin: Client, shown_text: str
) -> None:
    asked = "How accurately does the translation express the meaning of the source?"
    words = {"test_set": "harbour", "name": "Later", "question": asked, "shown_text": shown_text}
    table = TABLE.replace("wer", "annotator")
    checked = send(as_admin, sent(table), **words)
    (draft,) = as_admin.get(checked.url).context["drafts"]
    assert as_admin.post(checked.url).status_code == 200
    assert draft.question == Campaign.objects.get(slug="later").question_text
    assert draft.question == asked.replace("source", shown_text)


def test_reading_again_renames_no_campaign(db: None, as_admin: Client) -> None:
    """A name that only the files suggest is not stated by sending the form with it."""
    rows = [f"en-de\tR1\t1\tstrong\t80\tfirst {ratio}\t{ratio}" for ratio in ("0.8", "0.5")]
    head = "language_pair\trater\tseg\tsystem\tscore\tcampaign\tlength_ratio"
    texts = "language_pair\tseg\tsystem\tlength_ratio\tsource\tmt\n" + "".join(
        f"en-de\t1\tstrong\t{ratio}\tOne\tEins\n" for ratio in ("0.8", "0.5")
    )
    table = "\n".join([head, *rows])
    checked = send(as_admin, sent(table), sent(texts, "texts.tsv"), study="lengths")
    page = as_admin.get(checked.url)
    form = page.context["correction"]["words"]
    columns = page.context["correction"]["columns"]

    def again(**changes: str) -> Any:
        words = {f"words-{name}": form.initial.get(name, "") for name in form.fields}
        chosen = {field.html_name: field.initial for field in columns if field.initial}
        answers = {"change": "1", **words, **chosen, **changes}
        return as_admin.get(as_admin.post(checked.url, answers).url).context["drafts"]

    before = page.context["drafts"]
    assert [each.name for each in before] == ["first 0.8", "first 0.5"]
    assert [each.systems for each in before] == [["strong"]] * 2
    question = {"words-question": "How much?"}
    assert [each.name for each in again(**question)] == ["first 0.8", "first 0.5"]
    checked = send(as_admin, sent(table), sent(texts, "texts.tsv"), study="lengths")
    named = again(**{"words-name": "ours"})
    assert [each.name for each in named] == ["ours first 0.8", "ours first 0.5"]


def test_a_table_without_column_names_is_read_as_the_person_says(
    world: World, as_admin: Client
) -> None:
    rows = "R1\t1\tstrong\t80\nR2\t1\tstrong\t60\n"
    checked = send(as_admin, sent(rows), test_set="harbour", name="Later")
    assert as_admin.get(checked.url).status_code == 422
    answers = {"words-test_set": "harbour", "words-name": "Later", "column-headless": "on"}
    read = as_admin.post(checked.url, {"change": "1", **answers})
    page = as_admin.get(read.url)
    assert tells(page.text, "columns.without-names")
    fields = ("annotator", "segment", "system", "score")
    answers |= {f"column-{number}": field for number, field in enumerate(fields)}
    read = as_admin.post(read.url, {"change": "1", **answers})
    done = as_admin.post(read.url, answers)
    assert "Stored: 2 annotators, 1 system, 1 segment, 1 item, 2 judgments." in done.text
    assert set(Judgment.objects.values_list("score", flat=True)) == {80, 60}


def test_scores_without_column_names_are_read_as_the_person_says(
    world: World, as_admin: Client
) -> None:
    words = {"test_set": "harbour", "name": "Seen", "headless": "on"}
    checked = send(as_admin, sent(SCORES.partition("\n")[2]), tool="human-scores", **words)
    answers = {f"words-{name}": value for name, value in words.items() if name != "headless"}
    answers["column-headless"] = words["headless"]
    fields = ("segment", "system", "score")
    answers |= {f"column-{number}": field for number, field in enumerate(fields)}
    read = as_admin.post(checked.url, {"change": "1", **answers})
    as_admin.post(read.url, answers)
    assert PublishedScore.objects.get().value == 0.5


def test_two_columns_for_one_field_are_refused_on_the_page(world: World, as_admin: Client) -> None:
    checked = send(as_admin, sent(TABLE), test_set="harbour")
    columns = {"change": "1", "column-0": "segment", "column-1": "segment"}
    page = as_admin.post(checked.url, columns)
    assert page.status_code == 422
    assert tells(page.text, "columns.meaning-taken")


def test_several_tables_and_a_rule_chosen_afterwards(world: World, as_admin: Client) -> None:
    table = TABLE.replace("wer", "rater") + "R1\t1\tstrong\t70\n"
    texts = "seg\tsource\tmt\tsystem\n1\tEins\tOne\tstrong\n"
    words = {"source_language": "de", "target_language": "en", "name": "Two"}
    checked = send(as_admin, sent(table), sent(texts, "texts.tsv"), **words)
    page = as_admin.get(checked.url)
    assert "own.tsv, row" in page.text
    changes = {f"words-{name}": value for name, value in words.items()}
    fields = ("annotator", "segment", "system", "score", "source", "output")
    changes |= {f"column-{number}": field for number, field in enumerate(fields)}
    read = as_admin.post(checked.url, {"change": "1", "words-ties": "last", **changes})
    as_admin.post(read.url)
    rows = Judgment.objects.order_by("pk").values_list("score", "is_current")
    assert list(rows) == [(80, False), (70, True), (60, True)]


def test_published_scores_on_the_page(world: World, as_admin: Client) -> None:
    checked = send(as_admin, sent(SCORES), tool="human-scores", test_set="harbour", name="Seen")
    page = as_admin.get(checked.url)
    shown = page.text
    assert 'data-case="scores"' in shown
    assert 'data-n="1"' in shown
    assert "Stored: 1 system, 1 segment, 1 published score." in as_admin.post(checked.url).text
    assert PublishedScore.objects.get().value == 0.5


def test_a_further_column_of_scores_is_chosen_beside_the_others(
    world: World, as_admin: Client
) -> None:
    table = "segment\tsystem\tda\tmy view\n1\tstrong\t0.5\t-2\n"
    checked = send(as_admin, sent(table), tool="human-scores", test_set="harbour", name="Seen")
    fields = ("segment", "system", "score", "score")
    changes = {f"column-{number}": field for number, field in enumerate(fields)}
    words = {"change": "1", "words-test_set": "harbour", "words-name": "Seen"}
    read = as_admin.post(checked.url, {**words, **changes})
    as_admin.post(read.url)
    values = PublishedScore.objects.order_by("value").values_list("value", flat=True)
    assert list(values) == [-2, 0.5]


def test_languages_are_codes_or_names(db: None, as_admin: Client) -> None:
    words = {"source_language": "Chinese", "target_language": "deutsch", "name": "Own"}
    page = as_admin.get(send(as_admin, sent(TABLE.replace("wer", "rater")), **words).url)
    assert "<dt>Languages</dt><dd>zh–de</dd>" in seen(page.text)
    assert 'list="known-languages"' in page.text
    assert '<datalist id="known-languages"' in page.text


def test_columns_are_called_as_in_the_file(db: None, as_admin: Client) -> None:
    named = TABLE.replace("wer", "Bewerterin").replace("Seg", "Satz-ID")
    page = as_admin.get(send(as_admin, sent(named)).url)
    assert "Satz-ID" in seen(page.text)
    assert "Bewerterin" in seen(page.text)


def test_what_is_read_is_told_before(world: World, as_admin: Client) -> None:
    page = as_admin.get(IMPORT).text
    for name in ("judgments", "human-scores", *tools()):
        assert f'id="from-{name}"' in page
    assert "/static/examples/judgments.tsv" in page
    missing = as_admin.post(IMPORT, {"tool": "judgments"})
    assert missing.status_code == 422
    assert "This field is required." in missing.text
    wrong = send(as_admin, sent(TABLE), source_language="xx-1", scale="6", time_zone="Nowhere")
    page = as_admin.get(wrong.url)
    for value in ("“xx-1”", "“6”", "“Nowhere”"):
        assert value in page.text


def test_the_command_with_its_dry_run(world: World, tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(TABLE)
    out = StringIO()
    options = {"test_set": "harbour", "name": "Later", "column": ["wer=annotator"]}
    call_command("import_judgments", path, dry_run=True, stdout=out, **options)
    assert "later: 1 item, 2 judgments." in out.getvalue()
    assert not Judgment.objects.exists()
    call_command("import_judgments", path, stdout=out, **options)
    contents = "2 annotators, 1 system, 1 segment, 1 item, 2 judgments"
    assert f"later: {contents}: imported." in out.getvalue()
    with refused("command.errors", kind=CommandError, n=1):
        call_command("import_judgments", path, test_set="harbour", stderr=StringIO())
    with refused("command.pair", kind=CommandError, text="wer"):
        call_command("import_judgments", path, column=["wer"])
    scores = tmp_path / "scores.tsv"
    scores.write_text(SCORES)
    call_command("import_human_scores", scores, test_set="harbour", stdout=out)
    assert "harbour-zh-en: 1 system, 1 segment, 1 published score: imported." in out.getvalue()


def post(client: Client, address: str = API, text: str = TABLE, **fields: str) -> Any:
    columns = json.dumps({"wer": "annotator"})
    return client.post(address, {"tables": [sent(text)], "columns": columns, **fields})


def test_a_program_looks_first_and_stores_then(world: World, as_admin: Client) -> None:
    words = {"test_set": "harbour", "name": "Later"}
    dry = post(as_admin, dry_run="true", **words)
    assert dry.status_code == 200
    assert dry.json()["stored"] is False
    assert dry.json()["columns"]["wer"] == "annotator"
    assert not Judgment.objects.exists()
    made = post(as_admin, **words)
    assert made.status_code == 201
    (campaign,) = made.json()["campaigns"]
    assert (campaign["slug"], campaign["test_set"]) == ("later", "harbour")
    assert (campaign["n_judgments"], campaign["kinds"]) == (2, {"target": 1})
    again = post(as_admin, **words)
    assert (again.status_code, again.json()["stored"]) == (200, True)
    assert Judgment.objects.count() == 2


def test_a_program_is_told_every_error_with_its_place(world: World, as_admin: Client) -> None:
    refused = post(as_admin, text=TABLE.replace("60", "x"), test_set="harbour")
    assert refused.status_code == 400
    (problem,) = [p for p in refused.json()["problems"] if p["severity"] == "error"]
    text = "“x” is not a number."
    assert problem == {
        "severity": "error", "file": "own.tsv", "row": 3, "field": "Score",
        "code": "cell.not-a-number", "text": text, "message": text,
        "pattern": "“{text}” is not a number.", "parameters": {"text": "x"}, "more": None,
    }  # fmt: skip
    unread = as_admin.post(API, {"protocol": "guess"})
    assert unread.status_code == 400
    assert {p["field"] for p in unread.json()["problems"]} == {"tables", "protocol"}
    assert post(as_admin, columns="[1]").status_code == 400
    broken = as_admin.post(API, b"--x", content_type="multipart/form-data; boundary=")
    assert broken.status_code == 400
    assert broken.json()["problems"] == []
    assert as_admin.post(API, {}, content_type="application/json").status_code == 415


def test_scores_by_program(world: World, as_admin: Client) -> None:
    made = as_admin.post(
        SCORES_API, {"tables": [sent(SCORES)], "test_set": "harbour", "name": "Seen"}
    )
    assert made.status_code == 201
    assert made.json()["campaigns"][0]["n_published"] == 1
    refused = as_admin.post(SCORES_API, {"tables": [sent("system\tx\na\t1\n")]})
    assert refused.status_code == 400


@pytest.mark.parametrize("address", [API, SCORES_API])
def test_only_campaign_admins_import(world: World, client: Client, address: str) -> None:
    assert client.post(address, {}).status_code == 401
    client.force_login(world.researcher)
    assert post(client, address).status_code == 403
    client.force_login(make_user("creator", "campaign admin"))
    assert post(client, address).status_code == 400


@override_settings(MAX_UPLOAD_BYTES=-(2**21))
def test_large_bodies_are_refused_unread(world: World, as_admin: Client) -> None:
    refused = post(as_admin)
    assert refused.status_code == 413
    assert "larger than" in refused.json()["error"]


def test_the_schema_describes_the_answers(client: Client, db: None) -> None:
    schema = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    for address in (API, SCORES_API):
        described = schema["paths"][address]["post"]
        assert set(described["responses"]) >= {"200", "201", "400", "403", "413", "415", "507"}
        assert "multipart/form-data" in described["requestBody"]["content"]


@pytest.mark.parametrize("word", ["t", "y", "True", "on", "1", "maybe", "yes please"])
def test_a_dry_run_in_any_word_stores_nothing(world: World, as_admin: Client, word: str) -> None:
    answers = [
        post(as_admin, dry_run=word, test_set="harbour"),
        as_admin.post(
            SCORES_API, {"tables": [sent(SCORES)], "test_set": "harbour", "dry_run": word}
        ),
    ]
    is_understood = word not in ("maybe", "yes please")
    for answer in answers:
        assert answer.status_code == (200 if is_understood else 400)
        if not is_understood:
            assert [each["field"] for each in answer.json()["problems"]] == ["dry_run"]
    assert not Judgment.objects.exists()
    assert not PublishedScore.objects.exists()
    assert post(as_admin, dry_run="f", test_set="harbour").status_code == 201


@pytest.mark.parametrize(("word", "end"), [("f", 3), ("0", 3), ("y", 4), ("", 3)])
def test_whether_ends_are_included_is_read_as_the_schema_says(
    world: World, as_admin: Client, word: str, end: int
) -> None:
    span = json.dumps([{"start": 0, "end": 3, "severity": "minor"}])
    text = f"wer\tSeg\tSystem\tScore\terrors\nR1\t1\tstrong\t80\t{span}\n"
    made = post(as_admin, text=text, test_set="harbour", ends_included=word)
    assert made.status_code == 201, made.json()
    assert Judgment.objects.get().spans.get().end == end
    refused = post(as_admin, text=text, test_set="harbour", ends_included="perhaps")
    assert [each["field"] for each in refused.json()["problems"]] == ["ends_included"]
