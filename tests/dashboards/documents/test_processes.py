"""Workers whose processes end: the document in progress is computed by another one."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copyfile

import pytest

from dashboards.documents.computing import QUICK

ROOT = Path(__file__).resolve().parents[3]
DEADLINE = 300
ASK = """
import django
django.setup()
from annotation.filters import Filters
from dashboards.documents.results import latest
from tests.dashboards.documents import gate
latest("gate", None, Filters())
"""


class Site:
    """A database, an embedded broker and a worker of documents in a folder of their own."""

    def __init__(self, var: Path, migrated: Path) -> None:
        self.var = var
        own = {"DATABASE_URL": "", "CELERY_BROKER_URL": "", "TOUCHSTONE_VAR": str(var)}
        settings = "tests.dashboards.documents.worker_settings"
        self.environment = os.environ | own | {"DJANGO_SETTINGS_MODULE": settings}
        copyfile(migrated, var / migrated.name)
        self.start()

    def start(self) -> None:
        options = ["-Q", QUICK, "-n", "documents@%h", "--concurrency", "1"]
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", *options]
        self.worker = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, start_new_session=True
        )

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.worker.pid, signal.SIGKILL)
        self.worker.wait()

    def python(self, *arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=self.environment, check=True)

    def entered(self) -> set[int]:
        """The processes that began to compute."""
        return {int(path.name.partition("-")[2]) for path in self.var.glob("entered-*")}

    def row(self) -> tuple[str, int, bool]:
        """Status, attempts, and whether there is a document."""
        file = sqlite3.connect(self.var / "touchstone.sqlite3", timeout=30)
        try:
            found: tuple[str, int, bool] = file.execute(
                "SELECT status, attempts, length(payload) > 0 FROM dashboards_analysis"
            ).fetchone()
            return found
        finally:
            file.close()

    def wait_for(self, what: str, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE
        while not is_true():
            assert time.monotonic() < deadline, what
            assert self.worker.poll() is None, "the worker ended"
            time.sleep(0.05)


@pytest.fixture
def site(tmp_path: Path, migrated: Path) -> Iterator[Site]:
    found = Site(tmp_path, migrated)
    try:
        yield found
    finally:
        found.kill()


def test_a_document_outlives_its_processes(site: Site) -> None:
    """One is killed while it computes the document; a worker told to stop leaves it to others."""
    site.python("-c", ASK)
    site.wait_for("a child computes", lambda: len(site.entered()) == 1)
    [first] = site.entered()
    os.kill(first, signal.SIGKILL)
    site.wait_for("another child computes", lambda: len(site.entered()) == 2)
    assert site.row() == ("running", 1, 0)
    site.worker.terminate()
    assert site.worker.wait(DEADLINE) == 0
    assert site.row() == ("queued", 1, 0)
    (site.var / "open").touch()
    site.start()
    site.wait_for("the document", lambda: bool(site.row()[2]))
    assert site.row() == ("done", 1, 1)
