"""Fixtures shared by all tests."""

import gc
import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django import conf
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.db.backends.sqlite3.base import DatabaseOperations as SQLiteOperations
from django.test import Client
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from benchmarks.leftovers import end_with_this_process
from core import caching
from core.caching import clear_caches
from dashboards.bundle import archive
from dashboards.charts.files import draw
from dashboards.documents import computing
from dashboards.report import document, parts
from metrics.runs import scoring
from tests.needing import needs
from tests.shared import RUN, SharedRows, count_from_far, emptied_quickly, once_a_run, share
from tests.small_disk import SmallDisk, full_disk, limited_files
from tests.world import World, make_world

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


# What gives a test the database, or processes with a database of their own (`site`); `migrated` is
# SQLite whatever the database of the run. Tests in the browser say themselves what may differ.
NEEDS_DATABASE = {"db", "transactional_db", "shared_rows", "live_server", "site"}
NOT_FOR_ITSELF = {"migrated", "browser"}
# What takes half of the time of all tests: `make test-long` runs it, and `make test` the rest.
LONG = (
    # Every address, with every role, form, name and language.
    *("annotation/blindness", "annotation/test_access.py", "browser", "dashboards/addresses"),
    *("fuzz", "house/test_hostile_names.py", "house/test_messages.py", "lifecycle/projects"),
    "house/test_readers_language.py",
    # Whole files, reports, bundles and studies.
    *("dashboards/documents", "dashboards/taking", "extensions/paper/test_seed_study.py"),
    *(
        "annotation/uploads/test_large_tables.py",
        "extensions/formats/test_format_values.py",
        "files/test_round_trip.py",
        "metaeval/wmt/test_tasks.py",
    ),
    # Many samples, judgments and models.
    *("metaeval/correlation/test_coverage.py", "metaeval/significance/test_significance.py"),
    *("annotation/adjudication", "dashboards/panel/test_imported.py"),
    *("annotation/test_added_up.py", "annotation/test_human_systems.py", "house/test_numbers.py"),
    *("dashboards/panel/test_human_systems.py", "extensions/studies/test_wmt.py"),
    "extensions/neural/test_truncation.py",
    # Installations, and processes that die and go on.
    *("benchmarks", "config/test_backups.py", "config/test_health.py", "config/test_migrations.py"),
    "config/test_checks.py",
    *("config/test_worker_command.py", "extensions/test_extensions.py", "metrics/workers"),
    "touchstone",
    "training",
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Skip the tests of extensions that are not installed, with folders that prepare them."""
    if collection_path.is_dir():
        collection_path /= "conftest.py"
    if collection_path.suffix != ".py" or not collection_path.exists():
        return None
    return bool(needs(collection_path) - set(conf.settings.EXTENSIONS)) or None


def pytest_configure() -> None:
    end_with_this_process()
    gc.disable()  # what is imported is no garbage


def pytest_collection_finish() -> None:
    """Modules stay: to look through torch's at every collection of garbage takes 0.4 s.

    What comes later is looked through more seldom than after every 700 objects: that took a
    twelfth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    gc.freeze()  # pytest looks for garbage five times over before it ends


def _needed_by(item: pytest.Item) -> set[str]:
    return {name for mark in item.iter_markers("needs") for name in mark.args}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what may differ between databases; `-m` chooses afterwards.

    Skip what needs an extension that is not installed, though it imports nothing of it.
    """
    lacking = [item for item in items if _needed_by(item) - set(conf.settings.EXTENSIONS)]
    config.hook.pytest_deselected(items=lacking)
    items[:] = [item for item in items if item not in lacking]
    long = tuple(Path(__file__).parent / path for path in LONG)
    for item in items:
        if any(item.path.is_relative_to(path) for path in long):
            item.add_marker("long")
        names = set(getattr(item, "fixturenames", ()))
        if names & NOT_FOR_ITSELF:
            continue
        if names & NEEDS_DATABASE or any(item.iter_markers("django_db")):
            item.add_marker("database")


@pytest.fixture(scope="session")
def shared_rows(django_db_setup: None, django_db_blocker: Any, run_folder: Path) -> SharedRows[Any]:
    """For fixtures of a module: `with shared_rows(make) as made: yield made`.

    What `make` stores is there for all tests of the module, each of which has its own changes
    rolled back as always. Not beside transactional tests.
    """

    def rows(make: Callable[[], Any]) -> Any:
        _remember_nothing()
        return share(django_db_blocker, make)

    return rows


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of a run share (`tests.shared.once_a_run`)."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    RUN.append(folder)
    return folder


@pytest.fixture(scope="session")
def migrated(django_db_blocker: Any, run_folder: Path) -> Path:
    """An SQLite file as migrations leave it, made once a run: databases are copied from it."""

    def make(folder: Path) -> Path:
        file = folder / "touchstone.sqlite3"
        if connection.vendor == "sqlite":
            with django_db_blocker.unblock():
                _migrate_here(str(file))
        else:
            environment = os.environ | {"DATABASE_URL": "", "TOUCHSTONE_VAR": str(folder)}
            command = [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"]
            subprocess.run(command, cwd=Path(__file__).parents[1], env=environment, check=True)
        return file

    return once_a_run(run_folder / "migrated", make)


def _migrate_here(name: str) -> None:
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        call_command("migrate", verbosity=0)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """SQLite's file is there before the tests, with all its tables."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    django_db_blocker: Any,
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """Copy what migrations leave, in place of each process migrating a database of its own."""
    settings = connection.settings_dict["TEST"]
    settings["MIGRATE"] = False
    if connection.vendor == "sqlite":
        file = Path(settings["NAME"])
        _remove_log(file)
        file.write_bytes(request.getfixturevalue("migrated").read_bytes())
        yield
        file.unlink()
        _remove_log(file)
        return
    made_here: list[str] = []
    folder = request.getfixturevalue("run_folder")
    with django_db_blocker.unblock():
        settings["TEMPLATE"] = once_a_run(folder / "template", partial(_template, made_here))
    yield
    with django_db_blocker.unblock():
        for name in made_here:
            _of_server(f'DROP DATABASE "{name}"')


def _remove_log(file: Path) -> None:
    """Remove what connections that were never closed left: SQLite would read it into a new file."""
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)


def _template(made_here: list[str], folder: Path) -> str:
    """A migrated database of PostgreSQL; who makes it removes it after its last test."""
    name = f"test_template_{os.getpid()}"
    _of_server(f'DROP DATABASE IF EXISTS "{name}"')
    _of_server(f'CREATE DATABASE "{name}"')
    made_here.append(name)
    _migrate_here(name)
    return name


def _of_server(statement: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock(), emptied_quickly():
        count_from_far()
        yield


@pytest.fixture(scope="session", autouse=True)
def _json_as_postgresql_keeps_it() -> Iterator[None]:
    """PostgreSQL's `jsonb` gives keys back by length, then by bytes, not as they were stored: what
    relies on their order fails on SQLite, too."""

    def ordered(value: Any) -> Any:
        if isinstance(value, list):
            return [ordered(each) for each in value]
        if isinstance(value, dict):
            return {key: ordered(value[key]) for key in sorted(value, key=_rank_in_jsonb)}
        return value

    def adapt(self: SQLiteOperations, value: Any, encoder: Any) -> str:
        return json.dumps(ordered(json.loads(json.dumps(value, cls=encoder))))

    with patch.object(SQLiteOperations, "adapt_json_value", adapt):
        yield


def _rank_in_jsonb(key: str) -> tuple[int, bytes]:
    encoded = key.encode("utf-8", "surrogatepass")
    return len(encoded), encoded


@pytest.fixture(scope="session", autouse=True)
def _seeded_secrets() -> Iterator[None]:
    """Campaigns without a secret of their own get one from the seed of the test."""
    seeded = SimpleNamespace(token_hex=lambda n: random.randbytes(n).hex())
    with patch("annotation.models.campaign.secrets", seeded):
        yield


@pytest.fixture(scope="module", autouse=True)
def _no_garbage_of_others() -> None:
    """What a module collects is its own; what was imported or is shared costs nothing."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _as_new() -> None:
    """Nothing is remembered, and a request leaves its language to whatever comes next in its
    thread. Draws are random in earnest; here a seed keeps rare ones from failing a test."""
    _remember_nothing()
    translation.deactivate()
    random.seed(7)


def _remember_nothing() -> None:
    """A rolled-back database gives the same keys again, with other contents."""
    cache.clear()
    clear_caches()
    caching.clear_ttl_cache()
    scoring.forget()


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests of other processes write uploads and trainings meanwhile, of users and jobs with the
    same keys, and delete old ones."""
    with TemporaryDirectory(prefix="touchstone-test-") as folder:
        # Without the fixture `settings`, which tells all of Django of each change.
        monkeypatch.setattr(conf.settings, "VAR_DIR", Path(folder))
        monkeypatch.setattr(conf.settings, "TRAINED_DIR", Path(folder) / "trained")
        yield


@pytest.fixture(params=[full_disk, limited_files], ids=["full disk", "limit on files"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmallDisk]:
    """A folder where the kernel refuses to write, once a test has taken the room away."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with request.param(folder) as disk:
        yield disk


@pytest.fixture(scope="session", autouse=True)
def _quick() -> Iterator[None]:
    """What a test changes counts and makes documents old at once, not in a moment; a process that
    draws and a PDF, which take two seconds of the processor, are omitted from reports."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caching, "SECONDS", 0)
        patch.setattr(parts, "drawings", _drawn_here)
        patch.setattr(document, "pdf_of", lambda _: (b"%PDF-", None))
        for module in (document, archive, computing):
            patch.setattr(module, "give_back", lambda: None)
        yield


@pytest.fixture
def kept_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at once, for tests that ask for hundreds of pages and change nothing meanwhile."""
    monkeypatch.setattr(caching, "SECONDS", 3600)


# Before they are replaced for all tests.
DRAWINGS, PDF_OF = parts.drawings, document.pdf_of


def _drawn_here(specs: Sequence[dict[str, Any]]) -> list[str]:
    padded = (spec | {"padding": parts.PADDING} for spec in specs)
    return [parts.address(draw(spec, "svg").decode()) for spec in padded]


@pytest.fixture
def true_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the report itself."""
    monkeypatch.setattr(parts, "drawings", DRAWINGS)
    monkeypatch.setattr(document, "pdf_of", PDF_OF)


@pytest.fixture
def unlogged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of refusals are expected: their tracebacks need not be written."""
    monkeypatch.setattr(logging.getLogger("django.request"), "disabled", True)


@pytest.fixture
def logged() -> Iterator[StringIO]:
    """What is logged at any level. pytest's own plugin watches all loggers in every test: that took
    an eightieth of the time."""
    handler, root = logging.StreamHandler(StringIO()), logging.getLogger()
    level = root.level
    known = [each for each in root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    watched = [root, *(each for each in known if not each.propagate)]
    for logger in watched:
        logger.addHandler(handler)
    root.setLevel(logging.NOTSET + 1)
    yield handler.stream
    root.setLevel(level)
    for logger in watched:
        logger.removeHandler(handler)


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
