"""Pages and API: preview, confirm, archive, restore."""

import uuid

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Assignment, Campaign, ChangeEntry, Judgment
from tests.refusals import refused
from tests.world import World, make_campaign
from training.models import ParallelCorpus


def test_what_is_archived_leaves_lists_and_stays_readable(as_admin: Client, world: World) -> None:
    address = world.campaign.get_absolute_url()
    response = as_admin.post("/manage/campaign/harbour-80/archive/", follow=True)
    assert [each.level_tag for each in response.context["messages"]] == ["success"]
    assert address not in as_admin.get("/campaigns/").text
    assert as_admin.get(address).status_code == 200
    assert "/manage/campaign/harbour-80/" in as_admin.get("/archive/").text
    as_admin.post("/manage/campaign/harbour-80/restore/")
    assert address in as_admin.get("/campaigns/").text


def test_deleting_names_what_goes_and_leaves_an_entry(as_admin: Client, world: World) -> None:
    address = "/manage/campaign/harbour-80/delete/"
    page = as_admin.get(address)
    assert page.context["staying"].parameters == {"test_set": "Harbour"}
    assert as_admin.post(address, {"seen": "something else"}).status_code == 422
    as_admin.post(address, {"seen": page.context["seen"], "reason": "a trial"})
    assert not Campaign.objects.exists()
    assert "a trial" in as_admin.get("/changes/").text


def test_judgments_go_under_the_name_of_their_campaign(as_admin: Client, world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    first = Assignment.objects.first()
    Judgment.objects.create(assignment=first, score=1, submit_key=uuid.uuid4())
    Campaign.objects.update(status="closed")
    address = "/manage/campaign/harbour-80/delete/"
    refused = as_admin.get(address).context["blocks_deletion"]
    assert refused.code == "lifecycle.campaign-judged"
    as_admin.post("/manage/campaign/harbour-80/archive/")
    page = as_admin.get(address)
    assert [each.parameters["n"] for each in page.context["judgments"]] == [1]
    assert 'name="typed"' in page.text
    assert "/campaigns/harbour-80/export/" in page.text
    sent = {"seen": page.context["seen"], "typed": "harbour", "reason": "a pilot"}
    refused = as_admin.post(address, sent)
    assert refused.status_code == 422
    assert 'value="harbour"' in refused.text
    assert 'value="a pilot"' in refused.text
    as_admin.post(address, sent | {"typed": "Harbour-80"})
    assert not Judgment.objects.exists()


def test_a_private_campaign_is_in_nobody_elses_archive(as_researcher: Client, world: World) -> None:
    hidden = make_campaign(world.test_set, "hidden", is_private=True)
    as_researcher.force_login(world.admin)
    as_researcher.post("/manage/campaign/hidden/archive/", follow=True)
    as_researcher.force_login(world.researcher)
    assert hidden.name not in as_researcher.get("/archive/").text
    assert as_researcher.get("/api/things/campaign/hidden/").status_code == 404


def test_programs_do_the_same(as_admin: Client, world: World) -> None:
    address = "/api/things/campaign/harbour-80/"
    thing = as_admin.get(address).json()
    assert thing["may"] == {
        "rename": True, "archive": True, "restore": False, "copy": True, "delete": True,
        "study": True, "title": True, "project": True,
    }  # fmt: skip
    sent = {"name": "Pier"}
    renamed = as_admin.post(f"{address}rename/", sent, content_type="application/json").json()
    assert renamed["name"] == "Pier"
    body = {"seen": thing["seen"]}
    assert as_admin.delete(address, body, content_type="application/json").status_code == 409
    body = {"seen": renamed["seen"]}
    assert as_admin.delete(address, body, content_type="application/json").status_code == 204
    assert [entry.action for entry in ChangeEntry.objects.all()] == ["deleted", "renamed"]


def test_who_may_read_may_not_therefore_delete(as_researcher: Client, world: World) -> None:
    corpus = ParallelCorpus.objects.create(
        name="port", source_language="de", target_language="en", n_pairs=1, sha256="",
        report={"left_out": {}, "examples": {}}, created_by=world.admin,
    )  # fmt: skip
    assert as_researcher.post(f"/manage/corpus/{corpus.name}/delete/").status_code == 403
    assert as_researcher.post("/manage/corpus/port/rename/", {"name": "x"}).status_code == 403
    assert "<form" not in as_researcher.get("/manage/corpus/port/").text.partition("<main")[2]
    assert as_researcher.get("/manage/nothing/1/").status_code == 404
    assert as_researcher.get("/manage/run/x/").status_code == 404
    assert as_researcher.get(f"/manage/run/{'9' * 5000}/").status_code == 404


def test_a_campaign_is_put_into_a_study_and_taken_out(as_admin: Client, world: World) -> None:
    make_campaign(world.test_set, "other", study="port")
    page = as_admin.get("/manage/campaign/harbour-80/").text
    assert '<option value="port">' in page
    address = "/manage/campaign/harbour-80/study/"
    as_admin.post(address, {"study": "port"})
    assert Campaign.objects.filter(study="port").count() == 2
    assert "the study, before: none, now: port" in as_admin.get("/campaigns/harbour-80/setup/").text
    as_admin.post(address, {"study": " "})
    assert Campaign.objects.get(slug="harbour-80").study == ""


def test_a_study_needs_a_name_that_an_address_takes(as_admin: Client, world: World) -> None:
    address = "/manage/campaign/harbour-80/study/"
    page = as_admin.post(address, {"study": "my port"}, follow=True)
    assert [each.level_tag for each in page.context["messages"]] == ["error"]
    assert Campaign.objects.get(slug="harbour-80").study == ""


def test_only_who_runs_a_campaign_changes_its_study(as_researcher: Client, world: World) -> None:
    sent = {"study": "port"}
    assert as_researcher.post("/manage/campaign/harbour-80/study/", sent).status_code == 403
    assert as_researcher.post("/manage/test-set/harbour/study/", sent).status_code == 403


def test_commands_and_programs_change_the_study_too(
    as_admin: Client, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("lifecycle", "study", "campaign", "harbour-80", "--study", "port")
    assert "port" in capsys.readouterr().out
    call_command("lifecycle", "study", "campaign", "harbour-80")
    assert Campaign.objects.get(slug="harbour-80").study == ""
    with refused("lifecycle.not-in-study", kind=CommandError):
        call_command("lifecycle", "study", "test-set", "harbour", "--study", "port")
    sent = {"study": "port"}
    address = "/api/things/campaign/harbour-80/study/"
    assert as_admin.post(address, sent, content_type="application/json").status_code == 200
    assert Campaign.objects.get(slug="harbour-80").study == "port"
    answer = as_admin.post(address, {"study": "a b"}, content_type="application/json")
    assert answer.status_code == 409
    (said,) = answer.json()["messages"]
    assert (said["code"], said["parameters"]) == ("lifecycle.study-name", {"study": "a b"})
