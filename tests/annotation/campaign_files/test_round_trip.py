"""A campaign as one file: read, opened, written, read again; and what is refused."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator

from annotation.campaign_files import open_file, to_values
from annotation.campaign_files.parsing import SCHEMA
from annotation.campaign_files.storing import Wish
from annotation.campaigns import add_annotators, open_campaign
from annotation.imports.gold import KINDS
from annotation.models import Annotator, Assignment, Campaign, Instructions, Item, TestSet
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Problem
from tests.refusals import refused, tells
from tests.world import World


def smallest() -> dict[str, Any]:
    return {
        "touchstone": 1,
        "texts": {
            "name": "Towns",
            "source_language": "Deutsch",
            "target_language": "en",
            "segments": [
                {"id": "a", "source": "Guten Morgen.", "references": {"A": "Good morning."}},
                {"id": "b", "source": "Gute Nacht.", "references": {"A": "Good night."}},
            ],
            "systems": [{"name": "X", "outputs": {"a": "Good day.", "b": "Night."}}],
        },
        "task": {"preset": "esa"},
        "people": 3,
    }


def run(folder: Path, values: Any, *options: str) -> str:
    path, out = folder / "campaign.json", StringIO()
    text = values if isinstance(values, str) else json.dumps(values)
    path.write_text(text, encoding="utf-8")
    call_command("open", str(path), *options, stdout=out, stderr=out)
    return out.getvalue()


def test_one_command_opens_and_prints_links_that_work(db: None, tmp_path: Path) -> None:
    out = run(tmp_path, smallest(), "--address", "https://rate.example/")
    campaign = Campaign.objects.get()
    assert (campaign.status, campaign.protocol) == (Campaign.Status.OPEN, "esa")
    assert (campaign.test_set.source_language, campaign.annotators_per_item) == ("de", 2)
    links = [line.split("\t")[1] for line in out.splitlines() if "\t" in line]
    assert len(links) == 3
    for link in links:
        path = link.removeprefix("https://rate.example")
        assert Client().get(path, follow=True).status_code == 200


def test_links_have_the_address_of_the_site(db: None, tmp_path: Path, settings: Any) -> None:
    settings.SITE_URL = "https://mt.acme.org"
    assert run(tmp_path, smallest()).count("\thttps://mt.acme.org/a/") == 3


def test_what_is_written_makes_the_same_campaign(world: World, tmp_path: Path) -> None:
    campaign = world.campaign
    Campaign.objects.update(
        question="Is {percent} of it there?",
        consent="Agreed?",
        goodbye="Hand in ${TOKEN}.",
        edit_minutes=30,
        speed_rule="stop",
        seed=11,
    )
    segment = world.test_set.segments.first()
    for kind in KINDS.values():
        Item.objects.create(
            campaign=campaign, kind=kind, segment=segment, text=f"A {kind}.", low=10, high=20
        )
    Instructions.objects.create(campaign=campaign, language="de", instructions="Lesen.")
    add_annotators(campaign=campaign, links=3)
    campaign = open_campaign(campaign=campaign)
    written = to_values(campaign, with_secret=True)
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(written)
    run(tmp_path, written, "--slug", "copy")
    copy = Campaign.objects.get(slug="copy")
    assert (copy.consent, copy.goodbye) == ("Agreed?", "Hand in ${TOKEN}.")
    again = to_values(copy, with_secret=True)
    again_task, task = again.pop("task"), written.pop("task")
    assert (again_task.pop("slug"), task.pop("slug")) == ("copy", campaign.slug)
    assert (again_task, again) == (task, written)
    assert task["speed_rule"] == "stop"
    assert TestSet.objects.count() == 1
    # Secret, seed and labels are the same, so each annotator gets the same texts in one order.
    assert orders(copy) == orders(campaign)
    assert written.pop("secret") == campaign.secret
    run(tmp_path, written | {"task": {**again_task, "slug": "another"}})
    another = Campaign.objects.get(slug="another")
    assert another.secret not in (campaign.secret, "")
    assert orders(another) != orders(campaign)


def orders(campaign: Campaign) -> list[list[tuple[str, str | None]]]:
    rows = Assignment.objects.filter(annotator__campaign=campaign).order_by("position")
    return [
        list(rows.filter(annotator=person).values_list("item__text", "item__output__text"))
        for person in Annotator.objects.filter(campaign=campaign).order_by("label")
    ]


def changed(path: str, value: Any) -> dict[str, Any]:
    values = smallest()
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place: Any = values
    for step in steps:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    place[last] = value
    return values


def place_and_code(problem: Problem) -> tuple[str, str]:
    """Problems of a test set have their place within the message."""
    if problem.code == "problem.at":
        parameters = problem.message.parameters
        return str(parameters["place"]), parameters["problem"].code
    return str(problem.place).removeprefix("c.json").lstrip(", "), problem.code


@pytest.mark.parametrize(
    ("values", "place", "code"),
    [
        ("{", "row 1", "json.invalid"),
        pytest.param(
            *([], "", "campaign-file.no-languages"), marks=pytest.mark.needs("extensions.formats")
        ),
        (changed("touchstone", 2), "touchstone", "campaign-file.version"),
        (changed("texts/segments/1/source", 5), "texts.segments[1].source", "json.wrong-type"),
        (changed("texts/segments/1", {"id": "b"}), "texts.segments[1]", "json.missing-key"),
        (changed("texts/segments/1/id", "a"), "texts.segments[1].id", "campaign-file.id"),
        (
            changed("texts/source_language", "Elvish"),
            "texts.source_language",
            "language.unknown-near",
        ),
        (
            changed("texts/systems/0/length_ratio", "long"),
            "system X@NaN",
            "ratio.not-a-number",
        ),
        (changed("texts/systems/0/outputs/c", "No."), "system X, segment c", "segment.unknown"),
        (changed("task/colour", "red"), "task", "json.keys-unknown"),
        (changed("task/speed_rule", "fast"), "task.speed_rule", "json.choice"),
        (changed("task/protocol", "guess"), "task.protocol", "json.choice"),
        (changed("task/systems", ["Y"]), "task.systems", "form.invalid_choice"),
        (changed("task/shown_text", "reference"), "task.shown_text", "design.omissions"),
        (changed("task/annotators_per_item", 99), "task.annotators_per_item", "form.max_value"),
        (
            changed("checks/traps_per_annotator", 9),
            "checks.traps_per_annotator",
            "controls.too-few-traps",
        ),
        (changed("instructions/xx", {}), "instructions.xx", "campaign-file.language"),
        (changed("items", [{"kind": "gold", "segment": "z"}]), "", "import.item-without-segment"),
        (
            changed("items", [{"kind": "target", "segment": "a", "system": "Y"}]),
            "",
            "import.item-without-output",
        ),
        (changed("people", 1), "", "design.too-few-annotators"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    db: None, values: Any, place: str, code: str
) -> None:
    text = values if isinstance(values, str) else json.dumps(values)
    report = Report()
    open_file(InputFile.holding("c.json", text.encode()), report, Wish())
    assert (place, code) in [*map(place_and_code, report.errors)]
    assert (Campaign.objects.count(), TestSet.objects.count()) == (0, 0)


def test_each_missing_key_is_named_once(db: None) -> None:
    values = changed("texts/segments/1", {"colour": "red"})
    values["texts"]["segments"][0] = {}
    report = Report()
    open_file(InputFile.holding("c.json", json.dumps(values).encode()), report, Wish())
    missing = [each for each in report.errors if each.code == "json.missing-key"]
    named = {(each.place.field, each.message.parameters["key"]) for each in missing}
    places = ("texts.segments[0]", "texts.segments[1]")
    assert named == {(place, key) for place in places for key in ("id", "source")}
    assert len(missing) == 4


def test_a_table_is_told_where_tables_go(db: None, tmp_path: Path) -> None:
    out, path = StringIO(), tmp_path / "Mine.CSV"
    path.write_text("segment,system,score\n1,A,50\n", encoding="utf-8")
    with refused("command.errors", kind=CommandError):
        call_command("open", str(path), stdout=out, stderr=out)
    assert "Mine.CSV, row 1: " in out.getvalue()
    assert tells(out.getvalue(), "json.is-table")


def test_a_dry_run_and_a_draft(db: None, tmp_path: Path) -> None:
    assert "3 personal links" in run(tmp_path, smallest(), "--dry-run")
    assert Campaign.objects.count() == TestSet.objects.count() == Annotator.objects.count() == 0
    run(tmp_path, smallest(), "--draft")
    assert Campaign.objects.get().status == Campaign.Status.DRAFT


def test_the_same_short_name_is_refused(db: None, tmp_path: Path) -> None:
    values = changed("task/slug", "towns")
    run(tmp_path, values)
    with pytest.raises(CommandError):
        run(tmp_path, values)
    assert Campaign.objects.count() == 1


@pytest.mark.needs("extensions.formats")
def test_a_file_of_pearmut_opens_as_it_is(db: None, tmp_path: Path) -> None:
    item = {"item_id": "s1", "src": "Hello.", "tgt": {"m1": "Ahoj."}}
    values = {
        "campaign_id": "pilot",
        "info": {"assignment": "task-based", "protocol": "ESA"},
        "data": [[[item]]],
    }
    out = run(tmp_path, values, "--source-language", "English", "--target-language", "cs")
    assert "pilot: open, 1 personal link" in out
    assert Assignment.objects.count() == 1


def test_the_pages_and_the_api_give_and_take_the_file(world: World, as_admin: Client) -> None:
    answer = as_admin.get(reverse("campaign-file", args=[world.campaign.slug]))
    assert "harbour-80.campaign.json" in answer["Content-Disposition"]
    of_api = as_admin.get(reverse("api-campaign-file", args=[world.campaign.slug]))
    assert answer.json() == of_api.json() == to_values(world.campaign)
    sent = {"campaign_file": SimpleUploadedFile("c.json", answer.content), "slug": ""}
    page = as_admin.post(reverse("campaign-from-file"), sent)
    assert (page.status_code, tells(page.text, "campaign-file.slug-taken")) == (422, True)
    sent = {"campaign_file": SimpleUploadedFile("c.json", answer.content), "slug": "copy"}
    page = as_admin.post(reverse("campaign-from-file"), sent, follow=True)
    assert page.request["PATH_INFO"] == reverse("access", args=["copy"])
    assert Campaign.objects.get(slug="copy").status == Campaign.Status.DRAFT


@pytest.mark.parametrize(
    "address", ["/campaigns/harbour-80/campaign.json", "/api/campaigns/harbour-80/file/"]
)
def test_only_who_runs_a_campaign_is_given_its_secret(
    world: World, client: Client, address: str
) -> None:
    secret, wanted = world.campaign.secret, {"secret": "included"}
    client.force_login(world.researcher)
    assert secret not in client.get(address).text
    assert client.get(address, wanted).status_code == 403
    client.force_login(world.admin)
    assert secret not in client.get(address).text
    assert client.get(address, {"secret": "1"}).status_code == 400
    assert client.get(address, wanted).json()["secret"] == secret
