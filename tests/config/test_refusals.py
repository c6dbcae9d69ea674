"""Requests that no view can answer: without a database, with NUL or numbers beyond every column."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from config.refusals import is_unavailable
from tests.refusals import tells
from tests.world import World

HUGE = "9" * 30


@pytest.fixture
def careful(client: Client) -> Client:
    """A client that sees what a browser sees where a view fails."""
    client.raise_request_exception = False
    return client


@contextmanager
def no_database() -> Iterator[None]:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("connection to server failed: Connection refused")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "cursor", fail)
        yield


@pytest.mark.parametrize("language", ["en", "zh-hans", "de", "cs", "ar"])
def test_a_page_says_so_in_the_browsers_language(
    world: World, careful: Client, language: str
) -> None:
    careful.force_login(world.admin)
    for address in ("/", "/login/", "/campaigns/", "/testsets/"):
        with no_database():
            answer = careful.get(address, headers={"Accept-Language": language})
        assert (answer.status_code, answer["Retry-After"]) == (503, "10"), address
        assert f'<html lang="{language}"' in answer.content.decode(), address


def test_scripts_get_json(world: World, careful: Client) -> None:
    careful.force_login(world.annotators[0])
    with no_database():
        answers = (
            careful.get("/api/campaigns/"),
            careful.post(
                f"/item/{uuid.uuid4()}/", {"score": 5}, headers={"Accept": "application/json"}
            ),
        )
    for answer in answers:
        assert (answer.status_code, answer["Retry-After"]) == (503, "10")
        assert answer.json()["error"]


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_ERROR])
def test_faults_of_ours_stay_faults(code: int) -> None:
    error = OperationalError("database is locked, or there is no such table")
    error.__cause__ = sqlite3.OperationalError(*error.args)
    error.__cause__.sqlite_errorcode = code
    assert is_unavailable(error) is (code == sqlite3.SQLITE_BUSY)
    assert not is_unavailable(ValueError("x"))


@pytest.mark.parametrize(
    "address",
    [
        "/login/?next=%00",
        "/enter/%00/",
        "/campaigns/%00/",
        "/campaigns/?q=%00",
        "/api/judgments/?campaign=%00",
        "/api/test-sets/?%00=1",
    ],
)
def test_nul_is_refused_with_a_sentence(world: World, careful: Client, address: str) -> None:
    careful.force_login(world.admin)
    answer = careful.get(address)
    assert answer.status_code == 400
    assert "NUL character" in answer.content.decode()
    as_json = careful.get(address, headers={"Accept": "application/json"})
    assert as_json.status_code == 400
    assert "NUL character" in as_json.json()["error"]


@pytest.mark.django_db
def test_nul_is_refused_before_sign_in(careful: Client) -> None:
    assert careful.get("/login/?next=%00").status_code == 400


@pytest.mark.django_db
def test_what_libraries_take_from_an_address_is_no_failure(careful: Client) -> None:
    """A header is made of the version of a schema, and a field looked up in Django's admin."""
    schema = careful.get("/api/schema/?version=a%0D%0AX-Injected%3A%201")
    assert (schema.status_code, "X-Injected" in str(schema.headers)) == (200, False)
    user = User.objects.create_superuser("superuser")
    careful.force_login(user)
    assert careful.get(f"/admin/auth/user/{user.pk}/change/?_to_field=").status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        f"/api/judgments/{HUGE}/",
        f"/api/runs/{HUGE}/",
        f"/api/jobs/{HUGE}/",
        f"/api/judgments/?limit={HUGE}&offset={HUGE}",
        f"/runs/{HUGE}/",
        f"/training/{HUGE}/",
        f"/admin/annotation/campaign/{HUGE}/change/",
    ],
)
def test_numbers_beyond_every_column_are_no_failure(
    world: World, careful: Client, address: str
) -> None:
    careful.force_login(world.admin)
    assert careful.get(address).status_code < 500


def test_too_many_files_or_fields_are_refused_with_a_sentence(
    world: World, careful: Client
) -> None:
    careful.force_login(world.admin)
    files = {f"file-{number}": SimpleUploadedFile("a.txt", b"a") for number in range(201)}
    answer = careful.post("/testsets/upload/", files)
    assert answer.status_code == 400
    assert tells(answer.text, "request.too-many-files", limit=200)
    answer = careful.post("/testsets/upload/", {f"field-{n}": "1" for n in range(5001)})
    assert (answer.status_code, "most 5,000 values" in answer.text) == (400, True)
    query = "&".join(f"p{number}=1" for number in range(5001))
    answer = careful.get(f"/api/judgments/?{query}")
    assert (answer.status_code, "most 5,000" in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"test_set": "a\\u0000"}', "NUL character"),
        (b'{"options": {"a\\u0000": 1}}', "NUL character"),
        (b'{"options": {"a": ["\\ud800"]}}', "half a character"),
        (b'{"options": {"a": [1e400]}}', "larger than any"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{", "JSON parse error"),
    ],
)
@pytest.mark.needs("training")
def test_json_that_nothing_here_can_hold(
    world: World, careful: Client, body: bytes, sentence: str
) -> None:
    careful.force_login(world.admin)
    answer = careful.post("/api/jobs/", body, "application/json")
    assert (answer.status_code, sentence in answer.json()["detail"]) == (400, True)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("limit=0", "from 1 to 1000"),
        ("limit=1001", "from 1 to 1000"),
        ("limit=-1", "from 1 to"),
        ("limit=ten", "from 1 to"),
        ("limit=\u0663", "from 1 to"),
        ("offset=-1", "from 0 to"),
        (f"offset={2**31}", "from 0 to"),
    ],
)
def test_pages_of_a_list_are_numbers(
    world: World, careful: Client, query: str, sentence: str
) -> None:
    careful.force_login(world.admin)
    answer = careful.get(f"/api/judgments/?{query}")
    assert answer.status_code == 400
    assert sentence in answer.json()[query.partition("=")[0]][0]


def test_the_api_refuses_in_json_whatever_is_accepted(world: World, careful: Client) -> None:
    for address in ("/api/nowhere/", "/api/judgments/?campaign=%00"):
        assert "error" in careful.get(address, headers={"Accept": "text/html"}).json()
