"""Real worker processes, killed, stopped and outpaced, on a database and a queue of their own.

The broker is the embedded one, or CELERY_BROKER_URL; the database is an SQLite file, or a new
one on the server of DATABASE_URL. A heartbeat counts as lost after 5 s here instead of 60 s.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 60
SEGMENTS = 100  # with two systems 200 outputs, each of them another text


@dataclass
class Site:
    """One installation, seen from outside: commands, workers, and its database by plain SQL."""

    var: Path
    queue: str
    database_url: str | None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        database = {"DATABASE_URL": self.database_url} if self.database_url else {}
        return {
            **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
            **database,
            "DJANGO_SETTINGS_MODULE": "tests.metrics.worker_settings",
            "TOUCHSTONE_VAR": str(self.var),
            "TEST_QUEUE": self.queue,
            "RUN_STALE_SECONDS": "5",
            "PYTHONPATH": str(ROOT),
        }

    def manage(self, *arguments: str) -> str:
        """Run `manage.py`."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, timeout=DEADLINE
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker as `make demo` does."""
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--pool", "solo"]
        options = ["-Q", self.queue, "-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
        with (self.var / f"{name}.log").open("wb") as log:
            worker = subprocess.Popen(
                [*command, *options], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        self.workers.append(worker)
        return worker

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Read the database as a stranger."""
        if self.database_url:
            with psycopg.connect(self.database_url) as server:
                return server.execute(sql).fetchall()
        file = sqlite3.connect(self.var / "touchstone.sqlite3", timeout=30)
        try:
            return file.execute(sql).fetchall()
        finally:
            file.close()

    def run(self, metric: str) -> tuple[Any, ...]:
        """The newest run of a metric: status, done, attempts, worker."""
        sql = "SELECT status, done, attempts, worker FROM metrics_metricrun WHERE metric = '{}'"
        return self.query(sql.format(metric) + " ORDER BY id DESC LIMIT 1")[0]

    def wait_for(self, what: str, is_true: Callable[[], bool]) -> None:
        """Poll until something is true; fails with the workers' logs after DEADLINE seconds."""
        deadline = time.monotonic() + DEADLINE
        while not is_true():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text() for path in self.var.glob("*.log"))
                pytest.fail(f"{what}: not within {DEADLINE} s\n{logs}")
            time.sleep(0.05)

    def wait_for_end(self, metric: str) -> None:
        ends = ("done", "failed", "cancelled")
        self.wait_for(f"{metric} ends", lambda: self.run(metric)[0] in ends)

    def wait_for_middle(self, metric: str) -> None:
        self.wait_for(f"{metric} is under way", lambda: self.run(metric)[1] > 0)

    def scores(self, metric: str) -> tuple[int, int]:
        """How many scores a metric has, and of how many contents."""
        sql = (
            "SELECT count(*), count(DISTINCT content_key) FROM metrics_segmentscore s "
            "JOIN metrics_metricsignature m ON m.id = s.signature_id WHERE metric = '{}'"
        )
        return self.query(sql.format(metric))[0]


def _new_database(name: str) -> str | None:
    """Create a database beside that of DATABASE_URL; None where SQLite is used."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        return None
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    name = f"touchstone-{uuid4().hex[:12]}"
    site = Site(tmp_path, name, _new_database(name))
    try:
        site.manage("migrate", "-v0")
        make = f"from tests.world import make_test_set; make_test_set(segments={SEGMENTS})"
        site.manage("shell", "-v0", "-c", make)
        yield site
    finally:
        for worker in site.workers:
            worker.kill()
            worker.wait()
        if site.database_url:
            with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
                server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_the_run_of_a_killed_worker_is_finished_by_the_next(site: Site) -> None:
    first = site.start_worker("first")
    site.manage("score", "harbour", "--metric", "slow")
    site.wait_for_middle("slow")
    first.send_signal(signal.SIGKILL)
    first.wait()
    status, done, attempts, _ = site.run("slow")
    assert (status, attempts) == ("running", 1)
    assert 0 < done < 2 * SEGMENTS
    site.start_worker("second")
    site.wait_for_end("slow")
    status, done, attempts, worker = site.run("slow")
    assert (status, done, attempts) == ("done", 2 * SEGMENTS, 2)
    assert worker.startswith("second@")
    assert site.scores("slow") == (2 * SEGMENTS, 2 * SEGMENTS)


def test_messages_that_a_killed_worker_held_are_sent_again(site: Site) -> None:
    """The worker takes messages ahead; those are gone with it on the embedded broker."""
    first = site.start_worker("first")
    metrics = ["slow", "counting", "chrf"]
    site.manage("score", "harbour", *(f"--metric={metric}" for metric in metrics))
    site.wait_for_middle("slow")
    first.kill()
    first.wait()
    site.start_worker("second")
    for metric in metrics:
        site.wait_for_end(metric)
        assert site.run(metric)[0] == "done"
        assert site.scores(metric) == (2 * SEGMENTS, 2 * SEGMENTS)


def test_a_worker_that_is_stopped_hands_its_run_on_at_once(site: Site) -> None:
    first = site.start_worker("first")
    site.manage("score", "harbour", "--metric", "slow")
    site.wait_for_middle("slow")
    first.terminate()
    assert first.wait(DEADLINE) == 0
    status, done, attempts, _ = site.run("slow")
    assert (status, attempts) == ("queued", 0)
    assert 0 < done < 2 * SEGMENTS
    site.start_worker("second")
    site.wait_for_end("slow")
    assert site.run("slow")[:3] == ("done", 2 * SEGMENTS, 1)
    assert site.scores("slow") == (2 * SEGMENTS, 2 * SEGMENTS)


def test_a_long_chunk_is_not_taken_over(site: Site) -> None:
    """One chunk takes 7 s, a worker may be silent for 5 s: the heartbeat makes the difference."""
    site.start_worker("first")
    site.manage("score", "harbour", "--metric", "longchunk", "--system", "strong")
    site.wait_for("a claim", lambda: site.run("longchunk")[0] == "running")
    site.start_worker("second")
    seen = set()

    def is_over() -> bool:
        status, _, attempts, _ = site.run("longchunk")
        seen.add(attempts)
        return attempts > 1 or status != "running" or site.scores("longchunk")[0] > 0

    site.wait_for("the first chunk", is_over)
    assert seen == {1}
    assert site.run("longchunk")[:1] == ("running",)
    assert site.scores("longchunk")[0] > 0


def test_a_cancelled_run_frees_its_worker(site: Site) -> None:
    site.start_worker("only")
    site.manage("score", "harbour", "--metric", "slow", "--metric", "counting")
    site.wait_for_middle("slow")
    cancel = "from metrics import models, runs; runs.cancel({})".format(
        "models.MetricRun.objects.get(metric='slow')"
    )
    site.manage("shell", "-v0", "-c", cancel)
    site.wait_for_end("counting")
    status, done, _, _ = site.run("slow")
    assert (status, site.run("counting")[0]) == ("cancelled", "done")
    assert done < 2 * SEGMENTS
    assert site.scores("slow")[0] < 2 * SEGMENTS


def test_two_workers_share_the_runs(site: Site) -> None:
    site.start_worker("first")
    site.manage("score", "harbour", "--metric", "longchunk")
    site.wait_for("a claim", lambda: site.run("longchunk")[0] == "running")
    site.start_worker("second")
    site.manage("score", "harbour", "--metric", "counting")
    site.wait_for_end("counting")
    assert site.run("longchunk")[0] == "running"
    assert site.run("longchunk")[3].startswith("first@")
    assert site.run("counting")[3].startswith("second@")
