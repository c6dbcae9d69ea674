"""Fixtures shared by all tests."""

from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from metrics import scoring
from tests.world import World, make_world
from training import working

# Settings of other processes, not tests; doctest collection would import them.
collect_ignore = ["settings.py", "metrics/worker_settings.py", "training/worker_settings.py"]


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """A rolled-back database gives the same keys again, with other contents."""
    cache.clear()


@pytest.fixture(autouse=True)
def _no_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's transaction holds SQLite's lock: a beat from another thread would wait for it."""
    monkeypatch.setattr(scoring, "BEAT_SECONDS", 3600.0)
    monkeypatch.setattr(working, "BEAT_SECONDS", 3600.0)


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def as_admin(world: World, client: Client) -> Client:
    client.force_login(world.admin)
    return client


@pytest.fixture
def as_researcher(world: World, client: Client) -> Client:
    client.force_login(world.researcher)
    return client


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Real evaluation data; its absence is an error, not a skip."""
    path: Path = settings.DATA_DIR
    assert path.is_dir(), f"TOUCHSTONE_DATA: no folder {path}"
    return path
