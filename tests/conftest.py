"""Fixtures shared by all tests."""

import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django import conf
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from metrics import scoring
from tests.small_disk import SmallDisk, full_disk, limited_files
from tests.world import World, make_world
from training import working

# Settings of other processes, not tests; doctest collection would import them.
collect_ignore = ["settings.py", "metrics/worker_settings.py", "training/worker_settings.py"]

# The same examples in every run, however slow the machine; --hypothesis-profile=search draws
# others.
hypothesis_settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.register_profile("search", deadline=None)
hypothesis_settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """A rolled-back database gives the same keys again, with other contents."""
    cache.clear()


@pytest.fixture(autouse=True)
def _own_folder(settings: Any) -> Iterator[None]:
    """Tests of other processes write uploads and trainings meanwhile, of users and jobs with the
    same keys, and delete old ones."""
    with TemporaryDirectory(prefix="touchstone-test-") as folder:
        settings.VAR_DIR, settings.TRAINED_DIR = Path(folder), Path(folder) / "trained"
        yield


@pytest.fixture(params=[full_disk, limited_files], ids=["full disk", "limit on files"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmallDisk]:
    """A folder where the kernel refuses to write, once a test has taken the room away."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with request.param(folder) as disk:
        yield disk


@pytest.fixture(autouse=True)
def _same_draws() -> None:
    """Draws are random in earnest; here a seed keeps rare ones from failing a test."""
    random.seed(7)


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
    path: Path = conf.settings.DATA_DIR
    assert path.is_dir(), f"TOUCHSTONE_DATA: no folder {path}"
    return path
