"""Requests while the database is away: an answer that needs none."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from config.refusals import is_unavailable
from tests.world import World


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
