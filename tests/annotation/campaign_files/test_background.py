"""Large campaigns, campaign files and gold items: a worker stores them, and links reach people."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.accounts import tokens
from annotation.imports import background
from annotation.models import Annotator, Campaign, FileImport, Item
from core.work import working
from tests.annotation.campaign_files.test_round_trip import smallest
from tests.annotation.imports.test_imports_gold import GOLD, HEAD, PRACTICE
from tests.world import World, make_user

PAGE, API, JOBS = "/campaigns/import/", "/api/campaigns/", "/api/imports/files/"
State = FileImport.State


@pytest.fixture(autouse=True)
def everything_is_large(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.IMPORT_IN_REQUEST_BYTES = 10


def as_upload(name: str, values: Any) -> SimpleUploadedFile:
    text = values if isinstance(values, str) else json.dumps(values)
    return SimpleUploadedFile(name, text.encode())


def work() -> FileImport:
    working.drain(background.file_imports)
    return FileImport.objects.get()


@pytest.mark.needs("extensions.formats")
def test_a_campaign_of_pearmut_is_shown_and_stored_by_workers(
    world: World, as_admin: Client
) -> None:
    items = [{"item_id": key, "src": key, "tgt": {"A": f"A {key}"}} for key in "ab"]
    info = {"assignment": "task-based", "protocol": "ESA"}
    values = {"campaign_id": "wmt25", "info": info, "data": [[items], [items[:1]]]}
    data = {
        "tool": "pearmut",
        "pearmut-campaign": as_upload("p.json", values),
        "pearmut-source_language": "en",
        "pearmut-target_language": "cs",
    }
    address = as_admin.get(as_admin.post(PAGE, data)["Location"])["Location"]
    assert address == work().get_absolute_url()
    preview = as_admin.get(address)["Location"]
    assert as_admin.get(preview).status_code == 200
    n_before = Campaign.objects.count()
    assert as_admin.post(preview)["Location"] == address
    row = work()
    assert (row.state, Campaign.objects.count()) == (State.STORED, n_before + 1)
    stored = Campaign.objects.latest("pk")
    n_links = Annotator.objects.filter(campaign=stored).exclude(token_hash=None).count()
    assert n_links > 0
    # The row has no token in clear, and no links once the sender has them.
    sealed = row.stored["links"][stored.slug]
    assert len(sealed) == n_links
    other = Client()
    site = make_user("site", "campaign admin")
    site.is_superuser = True
    site.save()
    other.force_login(site)
    assert other.get(address).status_code == 200
    assert "links" in FileImport.objects.get().stored
    assert other.get(f"{JOBS}{row.pk}/").json()["links"] == []
    assert f'data-links="{n_links}"' in as_admin.get(address).text
    assert "links" not in FileImport.objects.get().stored
    assert f'data-links="{n_links}"' in as_admin.get(address).text


def test_a_campaign_file_is_opened_by_a_worker(world: World, as_admin: Client) -> None:
    sent = {"file": as_upload("c.json", smallest()), "open": "true"}
    begun = as_admin.post(API, sent)
    assert (begun.status_code, Campaign.objects.count()) == (202, 1)
    row = work()
    assert row.state == State.STORED, row.report
    stored = Campaign.objects.latest("pk")
    assert (stored.status, stored.created_by) == (Campaign.Status.OPEN, world.admin)
    answer = as_admin.get(begun["Location"])
    links = answer.json()["links"]
    for scopes, n in ((["read"], 0), (["read", "annotate-admin"], len(links))):
        token = tokens.make(user=world.admin, name="script", scopes=scopes, days=1)
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        shown = Client().get(begun["Location"], headers=headers).json()
        assert (shown["state"], len(shown["links"])) == ("stored", n)
    assert (len(links), answer["Cache-Control"]) == (smallest()["people"], "no-store")
    for each in links:
        path = each["link"].removeprefix("http://testserver")
        assert Client().get(path, follow=True).status_code == 200
        token = path.strip("/").rpartition("/")[2]
        assert token not in json.dumps(row.stored)


def test_what_is_wrong_in_a_campaign_file_has_its_place(world: World, as_admin: Client) -> None:
    wrong = smallest()
    wrong["task"]["slug"] = world.campaign.slug
    data = {"campaign_file": as_upload("c.json", wrong)}
    address = as_admin.post(reverse("campaign-from-file"), data)["Location"]
    row = work()
    assert [each.code for each in background.report_of(row).problems] == [
        "campaign-file.slug-taken"
    ]
    assert background.report_of(row).problems[0].place.file == "c.json"
    assert 'data-case="refused"' in as_admin.get(address).text
    assert Campaign.objects.count() == 1


def test_a_dry_run_of_a_campaign_file_stores_nothing(world: World, as_admin: Client) -> None:
    sent = {"file": as_upload("c.json", smallest()), "dry_run": "true"}
    begun = as_admin.post(API, sent)
    row = work()
    found = as_admin.get(begun["Location"]).json()
    assert (row.state, found["stored"]["n_annotators"]) == (State.CHECKED, smallest()["people"])
    assert as_admin.get(row.get_absolute_url()).status_code == 200
    assert (Campaign.objects.count(), found["links"]) == (1, [])


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_gold_items_are_added_by_a_worker(
    world: World, as_admin: Client, *, is_cancelled: bool
) -> None:
    page = reverse("campaign-items", args=[world.campaign.slug])
    before = Item.objects.count()
    sent = as_admin.post(page, {"table": as_upload("g.tsv", HEAD + GOLD + PRACTICE)})
    address = as_admin.get(sent["Location"])["Location"]
    work()
    preview = as_admin.get(address)["Location"]
    assert "All is there." in as_admin.get(preview).text
    assert as_admin.post(preview)["Location"] == address
    if is_cancelled:
        as_admin.post(f"{address}cancel/")
    work()
    assert Item.objects.count() == before + (0 if is_cancelled else 2)
    assert as_admin.get(address).status_code == 200


def test_gold_items_of_a_campaign_that_was_opened_are_refused(
    world: World, as_admin: Client
) -> None:
    page = reverse("campaign-items", args=[world.campaign.slug])
    before = Item.objects.count()
    sent = as_admin.post(page, {"table": as_upload("g.tsv", HEAD + GOLD)})
    as_admin.get(sent["Location"])
    Campaign.objects.update(status=Campaign.Status.OPEN)
    row = work()
    assert [each.code for each in background.report_of(row).problems] == ["campaign.not-draft"]
    assert (row.state, Item.objects.count()) == (State.REFUSED, before)


def test_links_that_nobody_fetched_are_deleted(
    world: World, as_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_admin.post(API, {"file": as_upload("c.json", smallest())})
    row = work()
    assert row.stored["links"]
    page = reverse("campaign-items", args=[world.campaign.slug])
    as_admin.post(page, {"table": as_upload("g.tsv", HEAD + GOLD)}, follow=True)
    row.refresh_from_db()
    assert row.stored["links"]
    monkeypatch.setattr(background, "EXPIRES", -background.EXPIRES)
    as_admin.post(page, {"table": as_upload("g.tsv", HEAD + PRACTICE)}, follow=True)
    row.refresh_from_db()
    assert (row.state, "links" in row.stored) == (State.STORED, False)
