"""Pages of imports and exports: who may, what is shown, what is stored."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from annotation.exports.formats import declared
from annotation.models import Annotator, Campaign, Judgment, TestSet
from annotation.uploads import waiting
from tests.extensions.formats.appraise.batches import item, manifest, tasks
from tests.extensions.formats.appraise.test_scores import plain
from tests.extensions.formats.pearmut.test_pearmut import campaign as pearmut
from tests.extensions.formats.pearmut.test_pearmut import item as pearmut_item
from tests.house.templates.seen import seen
from tests.refusals import tells
from tests.world import World

IMPORT = "/campaigns/import/"


def file(name: str, value: Any) -> SimpleUploadedFile:
    text = value if isinstance(value, str) else json.dumps(value)
    return SimpleUploadedFile(name, text.encode())


def send(client: Client, batches: Any, scores: str | None = None) -> Any:
    data: dict[str, Any] = {
        "tool": "appraise",
        "appraise-batches": file("batches.json", batches),
        "appraise-manifest": file("manifest.json", manifest()),
    }
    if scores is not None:
        data["appraise-scores"] = file("scores.csv", scores)
    return client.post(IMPORT, data)


def test_look_first_then_import(world: World, as_admin: Client) -> None:
    checked = send(as_admin, tasks([item(1), item(1, "BAD")]))
    assert checked.status_code == 302
    page = as_admin.get(checked.url)
    assert 'data-case="draft"' in page.text
    assert "Bad reference 1" in seen(page.text)
    assert not Campaign.objects.filter(slug="harbour2026").exists()
    done = as_admin.post(checked.url)
    assert "Stored: 1 annotator, 1 system, 1 segment, 2 items." in done.text
    campaign = Campaign.objects.get(slug="harbour2026")
    assert campaign.created_by == world.admin
    assert campaign.annotators.count() == 1
    assert 'data-links="1"' in done.text
    people = as_admin.get(reverse("access", args=[campaign.slug]))
    assert "<code>http://testserver/a/" in people.text
    again = as_admin.post(checked.url, follow=True)
    assert tells(again.text, "import.expired")


def test_errors_are_all_shown_and_nothing_can_be_confirmed(world: World, as_admin: Client) -> None:
    broken = {key: value for key, value in item(8).items() if key != "targetText"}
    address = send(as_admin, tasks([item(1), broken, item(9, "NEW")])).url
    page = as_admin.get(address)
    assert page.status_code == 422
    assert 'data-n="2"' in page.text
    assert "task 1, item 2 (itemID 8), targetText" in page.text
    assert as_admin.post(address).status_code == 422
    assert TestSet.objects.count() == 1
    assert "task 1, item 3 (itemID 9), itemType" in as_admin.get(f"{address}&problems").text


def test_scores_come_with_the_campaign(world: World, as_admin: Client) -> None:
    address = send(as_admin, tasks([item(1)]), plain()).url
    shown = as_admin.get(address).text
    assert 'data-case="judgments"' in shown
    assert 'data-n="1"' in shown
    as_admin.post(address)
    assert Judgment.objects.get().score == 70


def test_pearmut(world: World, as_admin: Client) -> None:
    data = {
        "tool": "pearmut",
        "pearmut-campaign": file("esa.json", pearmut([[pearmut_item()]])),
        "pearmut-source_language": "eng",
        "pearmut-target_language": "cs",
    }
    checked = as_admin.post(IMPORT, data)
    assert as_admin.post(checked.url).status_code == 200
    test_set = TestSet.objects.get(slug="wmt25__en-cs")
    assert (test_set.source_language, test_set.target_language) == ("en", "cs")
    missing = as_admin.post(IMPORT, {"tool": "pearmut", "pearmut-source_language": "xx-1"})
    assert missing.status_code == 422
    assert "Choose a file." in missing.text


def test_an_import_is_for_the_one_who_sent_it(world: World, as_admin: Client) -> None:
    address = send(as_admin, tasks([item(1)])).url
    world.researcher.groups.set(world.admin.groups.all())
    as_admin.force_login(world.researcher)
    assert "has expired" in as_admin.get(address, follow=True).text
    with pytest.raises(waiting.ExpiredError):
        waiting.recall(address.partition("check=")[2] + "x", world.admin.pk)


@override_settings(MAX_UPLOAD_BYTES=-(2**21))
def test_large_imports_are_refused_unread(world: World, as_admin: Client) -> None:
    assert send(as_admin, tasks([item(1)])).status_code == 413


def test_only_admins_import(world: World, as_researcher: Client) -> None:
    assert as_researcher.get(IMPORT).status_code == 403


def test_every_format_is_a_download(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("export", args=[world.campaign.slug]))
    for name, chosen in declared().items():
        address = reverse("export-file", args=[world.campaign.slug, name])
        assert f'href="{address}"' in page.text
        response = as_researcher.get(address)
        assert (response.status_code, response.streaming) == (200, True)
        assert response.headers["Content-Disposition"] == (
            f'attachment; filename="harbour-80-{chosen.suffix}"'
        )
        assert isinstance(b"".join(response.streaming_content), bytes)
    assert as_researcher.get("/campaigns/harbour-80/export/xlsx/").status_code == 404


def test_annotators_export_nothing(world: World, client: Client) -> None:
    Annotator.objects.create(campaign=world.campaign, user=world.annotators[0], label="A1")
    client.force_login(world.annotators[0])
    for name in declared():
        address = reverse("export-file", args=[world.campaign.slug, name])
        assert client.get(address).status_code == 403
    assert client.get(reverse("export", args=[world.campaign.slug])).status_code == 403
