"""A backup made while people write, restored elsewhere: every row, code, number and file."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.utils.crypto import get_random_string

from config.backups import BackupError, restore
from tests.metrics.sites import database_url, on_server
from tests.refusals import refused, tells

ROOT = Path(__file__).parents[2]
# What only the key of the site makes: pseudonyms of everybody, and the stamp of an open page.
CODES = """
from django.contrib.auth.models import User
from django.core.signing import Signer
from annotation.access import pseudonym
print(Signer(salt="page").sign("1"), *(pseudonym(user) for user in User.objects.order_by("pk")))
"""
PAIR = "INSERT INTO auth_group (name) VALUES ('{}')"


@dataclass
class Site:
    """An installation with its own folder and database."""

    var: Path
    database_url: str | None

    def manage(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        unset = ("DATABASE_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "CELERY_BROKER_URL")
        own = {name: value for name, value in os.environ.items() if name not in unset}
        own |= {"TOUCHSTONE_VAR": str(self.var), "CELERY_EAGER": "no"} | variables
        if self.database_url:
            own = {"DATABASE_URL": self.database_url, "SECRET_KEY": KEY} | own
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=own, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def good(self, *words: str, **variables: str) -> str:
        done = self.manage(*words, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def connect(self) -> Any:
        if self.database_url:
            return psycopg.connect(self.database_url)
        return sqlite3.connect(self.var / "touchstone.sqlite3", timeout=60)

    def rows(self) -> dict[str, list[str]]:
        """Every row of every table, and where each sequence is."""
        listing = "SELECT name FROM sqlite_master WHERE type = 'table'"
        if self.database_url:
            listing = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        with closing(self.connect()) as database:
            tables = [name for (name,) in database.execute(listing).fetchall()]
            found = {
                name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"').fetchall()))  # noqa: S608
                for name in tables
            }
            if self.database_url:
                places = "SELECT sequencename, last_value FROM pg_sequences"
                found["sequences"] = sorted(map(repr, database.execute(places).fetchall()))
        return found

    def files(self) -> dict[str, bytes]:
        folders = ("media", "trained", "uploads")
        paths = [path for name in folders for path in (self.var / name).rglob("*")]
        return {str(p.relative_to(self.var)): p.read_bytes() for p in paths if p.is_file()}


KEY = get_random_string(50)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    made: list[str] = []

    def site(name: str) -> Site:
        var = tmp_path / name
        var.mkdir()
        url = database_url(f"touchstone_{uuid4().hex[:12]}")
        if url:
            made.append(url.rpartition("/")[2])
            on_server(f"CREATE DATABASE {made[-1]} ENCODING 'UTF8' TEMPLATE template0")
        return Site(var, url)

    yield site
    for name in made:
        on_server(f"DROP DATABASE {name}")


@pytest.fixture
def site(make: Any, migrated: Path) -> Site:
    """The demo, with files of every kind."""
    site: Site = make("here")
    if not site.database_url:
        shutil.copy(migrated, site.var / "touchstone.sqlite3")
    site.good("demo", "--load-only")
    for name in ("media/ab/recording.wav", "trained/7/model.safetensors", "uploads/1/draft.json"):
        path = site.var / name
        path.parent.mkdir(parents=True)
        path.write_bytes(os.urandom(100_000))
    return site


def write_pairs(site: Site, started: Event, stop: Event) -> None:
    """Store one transaction with two rows after the other."""
    number = 0
    with closing(site.connect()) as database:
        while not stop.is_set():
            database.execute(PAIR.format(f"first {number}"))
            database.execute(PAIR.format(f"second {number}"))
            database.commit()
            number += 1
            started.set()


def test_a_restored_site_is_the_same(site: Site, make: Any, tmp_path: Path) -> None:
    saved = tmp_path / "site.tar.gz"
    started, stop = Event(), Event()
    annotator = Thread(target=write_pairs, args=(site, started, stop))
    annotator.start()
    try:
        assert started.wait(60)
        site.good("backup", str(saved))
    finally:
        stop.set()
        annotator.join()
    assert saved.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob("*.part"))
    other = make("there")
    other.good("restore", str(saved))

    before, after = site.rows(), other.rows()
    # Where the writer has gone on since.
    changing = {"auth_group", "sqlite_sequence", "sequences"}
    assert {name: rows for name, rows in before.items() if name not in changing} == {
        name: rows for name, rows in after.items() if name not in changing
    }
    assert before["annotation_judgment"]
    names = [row.split("'")[1] for row in after["auth_group"]]
    firsts, seconds = (
        {name.split()[1] for name in names if name.startswith(f"{half} ")}
        for half in ("first", "second")
    )
    assert firsts == seconds != set()
    ignored = lambda rows: [row for row in rows if "auth_group" not in row]  # noqa: E731
    for name in ("sqlite_sequence", "sequences"):
        assert ignored(before.get(name, [])) == ignored(after.get(name, []))
    assert site.files() == other.files() != {}
    for words in (
        ("shell", "--no-imports", "-v0", "-c", CODES),
        ("check",),
        ("migrate", "--check"),
    ):
        assert site.good(*words) == other.good(*words)
    with closing(site.connect()) as database:
        [(slug,), *_] = database.execute("SELECT slug FROM annotation_campaign").fetchall()
    exported = [one.good("export_judgments", slug) for one in (site, other)]
    assert exported[0] == exported[1]
    assert exported[0].count("\n") > 100

    again = other.manage("restore", str(saved))
    assert again.returncode == 1
    assert tells(again.stderr, "backup.has-tables")
    kept = site.manage("backup", str(saved))
    assert kept.returncode == 1
    assert "exists already" in kept.stderr


def archive(path: Path, **manifest: Any) -> Path:
    """A backup without a database."""
    usual = {"format": 1, "version": "0.9.0", "database": "sqlite", "made_at": "2026"}
    with tarfile.open(path, "w:gz") as file:
        for name, text in (("manifest.json", json.dumps(usual | manifest)), ("secret_key", "k")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            file.addfile(member, BytesIO(text.encode()))
    return path


def damaged(path: Path) -> Path:
    path.write_bytes(archive(path).read_bytes()[:60])
    return path


@pytest.mark.parametrize(
    ("made", "code", "named"),
    [
        (lambda path: archive(path, version="99.0.0"), "newer-than-this", {"version": "99.0.0"}),
        (lambda path: archive(path, format=2), "newer", {}),
        (lambda path: archive(path, version="new"), "damaged", {"name": "manifest.json"}),
        (lambda path: archive(path, database="oracle"), "other-database", {"database": "oracle"}),
        (lambda path: path, "no-file", {}),
        (damaged, "not-restored", {}),
    ],
)
def test_what_cannot_be_restored_is_refused(
    tmp_path: Path, made: Any, code: str, named: dict[str, str]
) -> None:
    with refused(f"backup.{code}", kind=BackupError, **named):
        restore(made(tmp_path / "site.tar.gz"))


def test_another_key_and_files_that_are_there_are_refused(tmp_path: Path) -> None:
    site = Site(tmp_path / "var", None)
    saved = str(archive(tmp_path / "site.tar.gz"))
    assert tells(site.manage("restore", saved, SECRET_KEY=KEY).stderr, "backup.other-key")
    (site.var / "media").mkdir()
    (site.var / "media" / "old.wav").touch()
    assert "media" in site.manage("restore", saved).stderr
