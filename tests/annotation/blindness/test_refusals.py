"""Requests that Django refuses before any view reads them get a sentence on every page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import TestSet
from tests.refusals import tells
from tests.world import World

PAGES = [
    "testset-upload",
    "campaign-import",
    pytest.param("corpus-upload", marks=pytest.mark.needs("training")),
]


def files(number: int) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(f"system-{i}.txt", b"Ein Haus.\n") for i in range(number)]


@pytest.mark.parametrize("page", PAGES)
def test_too_many_files_are_refused_in_words(world: World, as_admin: Client, page: str) -> None:
    before = TestSet.objects.count()
    answer = as_admin.post(reverse(page), {"name": "x", "systems": files(201)})
    assert answer.status_code == 400
    assert tells(answer.text, "request.too-many-files", limit=200)
    assert TestSet.objects.count() == before


def test_the_gold_page_too(world: World, as_admin: Client) -> None:
    address = reverse("campaign-items", args=[world.campaign.slug])
    answer = as_admin.post(address, {"table": files(201)})
    assert answer.status_code == 400
    assert tells(answer.text, "request.too-many-files", limit=200)


def test_the_limit_itself_is_allowed(world: World, as_admin: Client) -> None:
    sent = {"name": "x", "systems": files(200)}
    answer = as_admin.post(reverse("testset-upload"), sent, follow=True)
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("values", "status", "words"),
    [
        (lambda: {f"field-{i}": "x" for i in range(5_001)}, 400, "at most 5,000 values"),
        (lambda: {"name": "x" * 10_600_000}, 413, "at most 10,485,760 bytes"),
    ],
)
def test_too_much_else(
    world: World, as_admin: Client, values: Callable[[], Any], status: int, words: str
) -> None:
    answer = as_admin.post(reverse("testset-upload"), values())
    assert answer.status_code == status
    assert words in answer.text


def test_scripts_get_json(world: World, as_admin: Client) -> None:
    answer = as_admin.post(
        reverse("testset-upload"), {"systems": files(201)}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 400
    refusal = answer.json()["message"]
    assert (refusal["code"], refusal["parameters"]["limit"]) == ("request.too-many-files", 200)


def test_another_host_is_refused_in_words(world: World, client: Client) -> None:
    answer = client.get("/", headers={"host": "other.example"})
    assert answer.status_code == 400
    assert tells(answer.text, "request.unreadable")
