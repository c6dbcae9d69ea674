"""An installation of its own for a test: broker, database and worker processes.

The broker is the embedded one, a Redis server of the test's own where CELERY_BROKER_URL names one,
or a queue of the RabbitMQ server that it names; the database is an SQLite file, or a new one on the
server of DATABASE_URL. A heartbeat counts as lost after 15 s here instead of 60 s: a busy machine
may hold one up for a while.
"""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from amqp.exceptions import NotFound
from kombu import Connection
from redis import Redis, RedisError

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 300
# Below the ports that the kernel gives to outgoing connections: nobody takes one meanwhile.
PORTS = range(20_000, 30_000)


class Broker:
    """The embedded broker in a folder."""

    url = ""

    def __init__(self, var: Path) -> None:
        self.var = var

    def restart(self) -> None:
        """Lose every message, as a broker without a disk does."""
        for message in (self.var / "broker" / "queue").glob("*.msg"):
            message.unlink(missing_ok=True)

    def stop(self) -> None:
        """There is no process."""


class RedisBroker(Broker):
    """A Redis server that keeps nothing on disk."""

    def __init__(self, var: Path) -> None:
        super().__init__(var)
        server = None
        while server is None:  # another server may have the port
            self.port = random.SystemRandom().choice(PORTS)
            server = self._start()
        self.server = server
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def _start(self) -> subprocess.Popen[bytes] | None:
        """Start the server and wait until it answers; None where it ends instead."""
        program = shutil.which("redis-server")
        assert program, "redis-server is not installed"
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir"]
        server = subprocess.Popen([program, *options, str(self.var)], stdout=subprocess.DEVNULL)
        while server.poll() is None:
            with suppress(RedisError), Redis(port=self.port) as client:
                if client.info("server")["process_id"] == server.pid:
                    return server
            time.sleep(0.01)
        return None

    def restart(self) -> None:
        self.stop()
        server = self._start()
        assert server, "redis-server does not start again"
        self.server = server

    def stop(self) -> None:
        self.server.kill()
        self.server.wait()


class RabbitBroker(Broker):
    """The RabbitMQ server of CELERY_BROKER_URL; the queue is the test's own."""

    def __init__(self, var: Path, queue: str) -> None:
        super().__init__(var)
        self.url, self.queue = os.environ["CELERY_BROKER_URL"], queue

    def restart(self) -> None:
        """Lose every message that no worker has."""
        with Connection(self.url) as connection, suppress(NotFound):
            connection.default_channel.queue_purge(self.queue)

    def stop(self) -> None:
        with Connection(self.url) as connection, suppress(NotFound):
            connection.default_channel.queue_delete(self.queue)


def make_broker(var: Path, queue: str) -> Broker:
    """The broker of CELERY_BROKER_URL: RabbitMQ, Redis, or else the embedded one."""
    url = os.environ.get("CELERY_BROKER_URL", "")
    if url.startswith("amqp"):
        return RabbitBroker(var, queue)
    return RedisBroker(var) if url.startswith("redis") else Broker(var)


@dataclass
class Site:
    """One installation, seen from outside: commands, workers, and its database by plain SQL."""

    var: Path
    queue: str
    database_url: str | None
    broker: Broker
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        database = {"DATABASE_URL": self.database_url} if self.database_url else {}
        return {
            **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
            **database,
            "CELERY_BROKER_URL": self.broker.url,
            "DJANGO_SETTINGS_MODULE": "tests.metrics.worker_settings",
            "TOUCHSTONE_VAR": str(self.var),
            "TEST_QUEUE": self.queue,
            "RUN_STALE_SECONDS": "15",
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

    def cancel(self, metric: str) -> None:
        """Cancel the run of a metric."""
        run = f"MetricRun.objects.get(metric={metric!r})"
        imports = "from metrics.models import MetricRun; from metrics.runs import starting"
        self.manage("shell", "--no-imports", "-v0", "-c", f"{imports}; starting.cancel({run})")

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker as `make demo` does."""
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency", "1"]
        options = ["-Q", self.queue, "-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
        with (self.var / f"{name}.log").open("wb") as log:
            worker = subprocess.Popen(
                [*command, *options], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        self.workers[name] = worker
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
        """The newest run of a metric: status, done, worker."""
        sql = "SELECT status, done, worker FROM metrics_metricrun WHERE metric = '{}'"
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

    def wait_for_done(self, metric: str, n: int) -> None:
        """Let chunks pass, one after the other, until a run has `n` scores."""

        def has_come() -> bool:
            if self.run(metric)[1] >= n:
                return True
            self.let_pass()
            return False

        self.wait_for(f"{n} scores of {metric}", has_come)

    def close_gate(self) -> None:
        """From now on a chunk of the metric "slower" needs a token (`fakes.Slower`)."""
        (self.var / "gate").mkdir()

    def let_pass(self) -> None:
        """Put one token into the gate, unless one is there."""
        (self.var / "gate" / "token").touch()

    def open_gate(self) -> None:
        """Let everybody pass."""
        (self.var / "gate").rename(self.var / "open")

    def at_work(self, metric: str) -> list[str]:
        """The workers, by their short names, that have a slice of a run in hand."""
        sql = (
            "SELECT w.name FROM metrics_slice s JOIN metrics_runworker w ON w.id = s.worker_id "
            "JOIN metrics_metricrun r ON r.id = s.run_id "
            "WHERE s.status = 'running' AND metric = '{}' ORDER BY w.id"
        )
        return [name.split("@")[0] for (name,) in self.query(sql.format(metric))]

    def lost(self) -> set[str]:
        """The workers that count as dead."""
        rows = self.query("SELECT name FROM metrics_runworker WHERE is_lost")
        return {name.split("@")[0] for (name,) in rows}

    def drop_connections(self) -> None:
        """End every connection to the database, as a server that restarts does."""
        if self.database_url:
            self.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def scores(self, metric: str) -> tuple[int, int]:
        """How many scores a metric has, and of how many contents."""
        sql = (
            "SELECT count(*), count(DISTINCT content_key) FROM metrics_segmentscore s "
            "JOIN metrics_metricsignature m ON m.id = s.signature_id WHERE metric = '{}'"
        )
        return self.query(sql.format(metric))[0]


def database_url(name: str) -> str | None:
    """The address of a database beside that of DATABASE_URL; None where SQLite is used."""
    url = os.environ.get("DATABASE_URL")
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}")) if url else None


def on_server(sql: str) -> None:
    """Make or drop a database, once the connections of processes that have ended are gone."""
    deadline = time.monotonic() + DEADLINE
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        while True:
            try:
                server.execute(sql)  # type: ignore[arg-type]
                return
            except psycopg.errors.ObjectInUse:
                assert time.monotonic() < deadline, sql
