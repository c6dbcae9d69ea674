"""From files to an open campaign by programs alone, refused where the pages refuse."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Annotator, Campaign, Membership, Output, TestSet
from annotation.presets import PRESETS
from tests.world import World, make_campaign, make_user

SOURCE = "一\n二\n三\n四\n五\n六\n"
WORDS = {"name": "News 25", "source_language": "Chinese", "target_language": "en"}


def files(**changed: str) -> dict[str, Any]:
    texts = {
        "source.txt": SOURCE,
        "ref.txt": "".join(f"The harbour was {'very ' * n}quiet all morning.\n" for n in range(6)),
        "one.txt": "".join(f"This morning the harbour was {'so ' * n}quiet.\n" for n in range(6)),
        "two.txt": "".join(f"Quiet {'and calm ' * n}was the harbour.\n" for n in range(6)),
    } | {name.replace("_", "."): text for name, text in changed.items()}
    made = {name: SimpleUploadedFile(name, text.encode()) for name, text in texts.items()}
    return {
        "source": made["source.txt"], "references": [made["ref.txt"]],
        "systems": [made["one.txt"], made["two.txt"]],
    }  # fmt: skip


def send(client: Client, **changed: Any) -> Any:
    return client.post("/api/test-sets/", {**WORDS, **files(), **changed})


def test_an_upload_is_tried_stored_and_known(world: World, as_admin: Client) -> None:
    tried = send(as_admin, dry_run="true")
    assert tried.status_code == 200, tried.json()["errors"]
    assert tried.json()["stored"] is False
    assert not TestSet.objects.filter(slug="news-25").exists()
    (plan,) = tried.json()["test_sets"]
    assert (plan["n_segments"], plan["outputs_added"]) == (6, 12)
    assert plan["preview"]["systems"][0]["observed"] > 0
    stored = send(as_admin)
    assert stored.status_code == 201, stored.json()
    test_set = TestSet.objects.get(slug="news-25")
    assert (test_set.source_language, test_set.created_by) == ("zh", world.admin)
    assert Output.objects.filter(system__test_set=test_set).count() == 12
    again = send(as_admin)
    assert (again.status_code, again.json()["test_sets"][0]["systems_unchanged"]) == (
        200, ["one", "two"],
    )  # fmt: skip


def test_columns_of_a_table_can_be_named(world: World, as_admin: Client) -> None:
    table = "id\tChinese text\tmt\n1\t一\tone\n2\t二\ttwo\n".encode()
    data = {**WORDS, "tables": SimpleUploadedFile("t.tsv", table), "dry_run": "1"}
    refused = as_admin.post("/api/test-sets/", data)
    assert refused.status_code == 400
    columns = '{"t.tsv": {"Chinese text": "source", "mt": "system:mt", "id": "segment"}}'
    data["tables"] = SimpleUploadedFile("t.tsv", table)
    tried = as_admin.post("/api/test-sets/", {**data, "columns": columns})
    assert tried.status_code == 200, tried.json()["errors"]
    assert tried.json()["columns"]["t.tsv"]["Chinese text"] == "source"


@pytest.mark.parametrize(
    ("changed", "file", "code"),
    [
        ({"one_txt": "too short\n"}, "one.txt", "outputs.line-count"),
        ({"source_txt": ""}, "source.txt", "file.empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_as_on_the_page(
    world: World, as_admin: Client, changed: dict[str, str], file: str, code: str
) -> None:
    body = as_admin.post("/api/test-sets/", {**WORDS, **files(**changed)}).json()
    pages = as_admin.post("/testsets/upload/", {**WORDS, **files(**changed)})
    shown = as_admin.get(pages["Location"], headers={"Accept": "application/json"}).json()
    own = [each for each in body["problems"] if each["severity"] == "error"]
    theirs = [each for each in shown["problems"] if each["severity"] == "error"]
    assert [each["code"] for each in own] == [each["code"] for each in theirs]
    assert file in {each["file"] for each in body["errors"]}
    assert not TestSet.objects.filter(slug="news-25").exists()


def test_wrong_fields_are_named(world: World, as_admin: Client) -> None:
    body = send(as_admin, source_language="Klingonisch!", skip="all", columns="[1]").json()
    fields = {each["field"] for each in body["errors"]}
    assert {"source_language", "skip", "columns"} <= fields


def make(client: Client, **settings: Any) -> Any:
    return client.post("/api/campaigns/", settings, content_type="application/json")


def test_the_whole_way(world: World, as_admin: Client) -> None:
    """Upload, campaign, annotators, opening, judging, excluding and closing."""
    send(as_admin)
    given = {"test_set": "news-25", "name": "By script", "annotators_per_item": 2,
             "traps_per_annotator": 0}  # fmt: skip
    tried = make(as_admin, **given, dry_run=True)
    assert (tried.status_code, Campaign.objects.filter(name="By script").exists()) == (200, False)
    made = make(as_admin, **given)
    assert made.status_code == 201, made.json()
    slug = made.json()["slug"]
    assert (made.json()["status"], made.json()["annotators_per_item"]) == ("draft", 2)
    address = f"/api/campaigns/{slug}/"
    early = as_admin.post(f"{address}open/")
    assert (early.status_code, early["Content-Type"]) == (409, "application/problem+json")
    people = as_admin.post(
        f"{address}people/", {"count": 2, "addresses": ["a@example.org"]}, "application/json"
    )
    assert people.status_code == 201, people.json()
    links = people.json()["links"]
    assert [each["annotator"] for each in links] == ["A1", "A2"]
    assert people["Cache-Control"] == "no-store"
    opened = as_admin.post(f"{address}open/")
    assert (opened.status_code, opened.json()["status"]) == (200, "open")
    assert opened.json()["n_assigned"] >= 24
    assert Client().get(links[0]["link"]).status_code == 302
    listed = as_admin.get(f"{address}people/").json()["results"]
    assert [(row["annotator"], row["n_completed"]) for row in listed] == [("A1", 0), ("A2", 0)]
    assert "link" not in listed[0]
    first = f"{address}people/{links[0]['id']}/"
    assert as_admin.post(f"{first}exclude/", {}, "application/json").status_code == 400
    done = as_admin.post(f"{first}exclude/", {"reason": "too fast"}, "application/json")
    assert (done.status_code, done.json()["is_excluded"]) == (200, True)
    back = as_admin.post(f"{first}include/", {"reason": "was right"}, "application/json")
    assert back.json()["is_excluded"] is False
    renewed = as_admin.post(f"{first}renew/", {}, "application/json").json()
    assert renewed["link"] not in (None, links[0]["link"])
    assert Client().get(links[0]["link"]).status_code == 404
    closed = as_admin.post(f"{address}close/")
    assert closed.json()["status"] == "closed"
    assert as_admin.post(f"{address}close/").json()["errors"][0]["code"] == "campaign.not-open"


def test_a_campaign_from_a_file_and_its_links(world: World, as_admin: Client) -> None:
    values = as_admin.get("/api/campaigns/harbour-80/file/").content
    file = SimpleUploadedFile("c.json", values)
    made = as_admin.post("/api/campaigns/", {"file": file, "slug": "copy"})
    assert (made.status_code, made.json()["slug"]) == (201, "copy")
    broken = SimpleUploadedFile("c.json", values.replace(b'"protocol"', b'"protokoll"'))
    refused = as_admin.post("/api/campaigns/", {"file": broken, "slug": "other"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["file"] == "c.json"
    assert not Campaign.objects.filter(slug="other").exists()


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"test_set": "none"}, "test_set"),
        ({"protocol": "none"}, "protocol"),
        ({"systems": ["none"]}, "systems"),
        ({"annotators_per_item": 0}, "annotators_per_item"),
        ({"anotators": 2}, "anotators"),
        ({"question": "{nothing}"}, "question"),
    ],
)
def test_a_wrong_setting_is_named(
    world: World, as_admin: Client, settings: dict[str, Any], field: str
) -> None:
    answer = make(as_admin, **{"test_set": world.test_set.slug} | settings)
    assert answer.status_code == 400
    assert field in {each["field"] for each in answer.json()["errors"]}


def test_who_may(world: World, as_researcher: Client, client: Client) -> None:
    """Researchers read; members with the role admin run their campaign; others see nothing."""
    address = f"/api/campaigns/{world.campaign.slug}/"
    assert send(as_researcher).status_code == 403
    assert make(as_researcher, test_set="harbour").status_code == 403
    assert as_researcher.post(f"{address}close/").status_code == 403
    assert as_researcher.post(f"{address}people/", {"count": 1}).status_code == 403
    Membership.objects.create(
        campaign=world.campaign, user=world.researcher, role=Membership.Role.ADMIN
    )
    assert as_researcher.post(f"{address}people/", {"count": 1}).status_code == 201
    hidden = make_campaign(world.test_set, "hidden", is_private=True)
    client.force_login(make_user("other", "researcher"))
    assert client.get("/api/campaigns/hidden/people/").status_code == 404
    assert client.post("/api/campaigns/hidden/open/").status_code == 404
    assert hidden.annotators.count() == 0


def test_access_links(world: World, as_admin: Client) -> None:
    address = f"/api/campaigns/{world.campaign.slug}/links/"
    made = as_admin.post(address, {"provider": "open", "quota": 5}, "application/json")
    assert made.status_code == 201, made.json()
    (row,) = as_admin.get(address).json()["results"]
    assert (row["quota"], row["n_entered"], "link" in row) == (5, 0, False)
    revoked = as_admin.post(f"{address}{row['id']}/revoke/")
    assert (revoked.status_code, revoked.json()["revoked_at"] is None) == (200, False)
    assert as_admin.post(address, {"provider": "none"}, "application/json").status_code == 400


def test_a_repeated_request_gets_the_same_links(world: World, as_admin: Client) -> None:
    def add() -> Any:
        return as_admin.post(
            f"/api/campaigns/{world.campaign.slug}/people/", {"count": 2}, "application/json",
            headers={"Idempotency-Key": "again"},
        ).json()  # fmt: skip

    assert add()["links"] == add()["links"]
    assert Annotator.objects.filter(campaign=world.campaign).count() == 2


def change(client: Client, slug: str, **settings: Any) -> Any:
    return client.patch(f"/api/campaigns/{slug}/", settings, content_type="application/json")


def file_of(client: Client, slug: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/campaigns/{slug}/file/").json()
    return found


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_change_of_a_draft_leaves_what_it_does_not_name(
    world: World, as_admin: Client, preset: str
) -> None:
    made = make(as_admin, test_set="harbour", preset=preset)
    assert made.status_code == 201, made.json()
    slug = made.json()["slug"]
    before = file_of(as_admin, slug)
    assert change(as_admin, slug).status_code == 200
    assert file_of(as_admin, slug) == before
    changed = change(as_admin, slug, name="Another", annotators_per_item=7)
    assert (changed.status_code, changed.json()["annotators_per_item"]) == (200, 7)
    task = before["task"] | {"name": "Another", "annotators_per_item": 7}
    after = file_of(as_admin, slug)
    assert after["task"] == task
    assert {**after, "task": task} == {**before, "task": task}


def test_a_draft_is_changed_as_on_its_page(world: World, as_admin: Client) -> None:
    slug = make(as_admin, test_set="harbour").json()["slug"]
    (kept, *_) = file_of(as_admin, slug)["task"]["systems"]
    changed = change(as_admin, slug, systems=[kept], sample={"size": 2}, traps_per_annotator=0)
    assert changed.status_code == 200, changed.json()
    assert [each["name"] for each in changed.json()["systems"]] == [kept]
    assert changed.json()["sample"]["size"] == 2
    for wrong, field in (
        ({"colour": "red"}, "colour"), ({"systems": ["none"]}, "systems"),
        ({"trap_ratio": "2"}, "trap_ratio"), ({"annotators_per_item": 0}, "annotators_per_item"),
    ):  # fmt: skip
        refused = change(as_admin, slug, name="Not this", **wrong)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, field)
    address = f"/api/campaigns/{slug}/"
    assert as_admin.patch(address, "[1]", content_type="application/json").status_code == 400
    assert Campaign.objects.get(slug=slug).name != "Not this"


def test_only_drafts_are_changed_and_only_by_those_who_run_them(
    world: World, as_admin: Client
) -> None:
    Campaign.objects.filter(pk=world.campaign.pk).update(status=Campaign.Status.OPEN)
    refused = change(as_admin, world.campaign.slug, name="Later")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (
        409, "campaign.not-draft",
    )  # fmt: skip
    slug = make(as_admin, test_set="harbour").json()["slug"]
    as_researcher = Client()
    as_researcher.force_login(world.researcher)
    assert change(as_researcher, slug, name="Mine").status_code in {403, 404}
    assert change(Client(), slug, name="Mine").status_code in {401, 403}
