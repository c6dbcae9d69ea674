"""Imported campaigns join a study, carry its question, and have the name that somebody gives."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from tests.annotation.tables.test_doors import SCORES, SCORES_API, TABLE, post, send, sent
from tests.extensions.formats.appraise.batches import item, manifest, tasks
from tests.extensions.formats.pearmut import test_pearmut as pearmut
from tests.refusals import refused
from tests.world import World

QUESTION = "How much of the meaning is kept?"
STATED = {"study": "port", "question": QUESTION, "name": "Pier"}


def described(slug: str = "pier") -> tuple[str, str, str]:
    found = Campaign.objects.get(slug=slug)
    return found.study, found.question, found.name


def page_of_judgments(client: Client, path: Path) -> None:
    checked = send(client, sent(TABLE.replace("wer", "annotator")), test_set="harbour", **STATED)
    client.post(checked.url)


def page_of_scores(client: Client, path: Path) -> None:
    table = sent(SCORES)
    checked = send(client, table, tool="human-scores", test_set="harbour", **STATED)
    client.post(checked.url)


def page_of_appraise(client: Client, path: Path) -> None:
    sent_files = {
        "appraise-batches": sent(json.dumps(tasks([item(1)])), "batches.json"),
        "appraise-manifest": sent(json.dumps(manifest()), "manifest.json"),
    }
    words = {f"appraise-{name}": value for name, value in STATED.items()}
    checked = client.post("/campaigns/import/", {"tool": "appraise", **sent_files, **words})
    client.post(checked.url)


def command_of_judgments(client: Client, path: Path) -> None:
    path.write_text(TABLE)
    options = {"test_set": "harbour", "column": ["wer=annotator"]}
    call_command("import_judgments", path, stdout=StringIO(), **options, **STATED)


def command_of_scores(client: Client, path: Path) -> None:
    path.write_text(SCORES)
    options = {"test_set": "harbour"}
    call_command("import_human_scores", path, stdout=StringIO(), **options, **STATED)


def command_of_pearmut(client: Client, path: Path) -> None:
    path.write_text(json.dumps(pearmut.campaign([[pearmut.item()]])), encoding="utf-8")
    options = {"source_language": "en", "target_language": "cs"}
    call_command("import_pearmut", path, stdout=StringIO(), **options, **STATED)


def program_of_judgments(client: Client, path: Path) -> None:
    assert post(client, test_set="harbour", **STATED).json()["campaigns"][0]["study"] == "port"


def program_of_scores(client: Client, path: Path) -> None:
    client.post(SCORES_API, {"tables": [sent(SCORES)], "test_set": "harbour", **STATED})


DOORS: tuple[Callable[[Client, Path], None], ...] = (
    page_of_judgments, page_of_scores, page_of_appraise,
    command_of_judgments, command_of_scores, command_of_pearmut,
    program_of_judgments, program_of_scores,
)  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_study_question_and_name(
    world: World, as_admin: Client, tmp_path: Path, door: Callable[[Client, Path], None]
) -> None:
    door(as_admin, tmp_path / "own.tsv")
    made = Campaign.objects.exclude(pk=world.campaign.pk).get()
    assert described(made.slug) == ("port", QUESTION, made.name)
    assert "pier" in made.name.lower()


def test_a_study_that_no_address_takes_is_refused(
    world: World, as_admin: Client, tmp_path: Path
) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(TABLE.replace("wer", "annotator"))
    output = StringIO()
    with refused("command.errors", kind=CommandError, n=1):
        call_command("import_judgments", path, test_set="harbour", study="my port", stderr=output)
    assert "“my port”" in output.getvalue()
    answer = post(as_admin, test_set="harbour", study="my port")
    assert answer.status_code == 400
    assert {problem["field"] for problem in answer.json()["problems"]} == {"study"}


@pytest.mark.needs("extensions.studies")
def test_the_end_of_an_import_says_what_was_stored_and_where_to_go_on(
    world: World, as_admin: Client
) -> None:
    table = sent(TABLE.replace("wer", "annotator"))
    checked = send(as_admin, table, test_set="harbour", **STATED)
    done = as_admin.post(checked.url)
    assert "Stored: 2 annotators, 1 system, 1 segment, 1 item, 2 judgments." in done.text
    links: list[Any] = [
        *(reverse(name, args=["pier"]) for name in ("results", "quality")),
        reverse("run-start", args=["harbour"]),
        reverse("study", args=["port"]),
        reverse("manage", args=["campaign", "pier"]),
    ]
    for link in links:
        assert f'href="{link}"' in done.text
        assert as_admin.get(link).status_code == 200
