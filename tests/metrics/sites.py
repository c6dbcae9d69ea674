"""An installation of its own for a test: broker, database and worker processes.

The database is an SQLite file with the embedded broker, or where DATABASE_URL names a server a new
one there. Then the broker is a Redis server of the test's own or a queue of the RabbitMQ server of
RABBITMQ_URL: a service that is not there fails the test. A heartbeat counts as lost after 15 s here
instead of 60 s: a busy machine may hold one up for a while.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from amqp.exceptions import NotFound
from kombu import Connection
from redis import Redis, RedisError

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 300
# The brokers that go with the database of this run; a test that needs just one takes the first.
BROKERS = ("redis", "rabbitmq") if os.environ.get("DATABASE_URL") else ("embedded",)
RABBITMQ_URL = os.environ.get("RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
# Below the ports that the kernel gives to outgoing connections: nobody takes one meanwhile.
PORTS = range(20_000, 30_000)
TOKENS = 3


class Broker:
    """The embedded broker in a folder."""

    url = ""

    def __init__(self, var: Path) -> None:
        self.var = var

    def empty(self) -> None:
        """Lose every message that no worker has."""
        for message in (self.var / "broker" / "queue").glob("*.msg"):
            message.unlink(missing_ok=True)

    def restart(self) -> None:
        """Lose every message and every connection, where the broker is the test's own."""
        self.empty()

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

    def empty(self) -> None:
        """Lose whatever it holds: messages, those that workers have, and who listens where."""
        with Redis(port=self.port) as client:
            client.flushdb()

    def restart(self) -> None:
        self.stop()
        server = self._start()
        assert server, "redis-server does not start again"
        self.server = server

    def stop(self) -> None:
        self.server.kill()
        self.server.wait()


class RabbitBroker(Broker):
    """The server of RABBITMQ_URL; queue and exchange are the test's own."""

    url = RABBITMQ_URL

    def __init__(self, var: Path, queue: str) -> None:
        super().__init__(var)
        self.queue = queue

    def empty(self) -> None:
        with Connection(self.url) as connection, suppress(NotFound):
            connection.default_channel.queue_purge(self.queue)

    def stop(self) -> None:
        with Connection(self.url) as connection:
            connection.default_channel.queue_delete(self.queue)
            connection.default_channel.exchange_delete(self.queue)


def make_broker(kind: str, var: Path, queue: str) -> Broker:
    """Make one of BROKERS ready for a site."""
    if kind == "rabbitmq":
        return RabbitBroker(var, queue)
    return RedisBroker(var) if kind == "redis" else Broker(var)


@dataclass
class Site:
    """One installation, seen from outside: commands, workers, and its database by plain SQL."""

    deadline: ClassVar[int] = DEADLINE
    var: Path
    queue: str
    database_url: str | None
    broker: Broker
    broker_url: str = ""  # where processes reach the broker, if not by its own address
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        database = {"DATABASE_URL": self.database_url} if self.database_url else {}
        return {
            **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
            **database,
            "CELERY_BROKER_URL": self.broker_url or self.broker.url,
            "DJANGO_SETTINGS_MODULE": "tests.metrics.worker_settings",
            "TOUCHSTONE_VAR": str(self.var),
            "TEST_QUEUE": self.queue,
            "RUN_STALE_SECONDS": "15",
            "PYTHONPATH": str(ROOT),
        }

    def manage(self, *arguments: str) -> str:
        """Run `manage.py`."""
        skipped = [] if "shell" in arguments else ["--skip-checks"]
        command = [sys.executable, "manage.py", *arguments, *skipped]
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

    def start_worker(self, name: str, *queues: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker as `make demo` does; it serves other queues, too, where some are named."""
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency", "1"]
        served = ",".join([self.queue, *queues])
        options = ["-Q", served, "-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
        with (self.var / f"{name}.log").open("wb") as log:
            worker = subprocess.Popen(
                [*command, *options],
                cwd=ROOT, env=self.environment | environment, stdout=log, stderr=log,
            )  # fmt: skip
        self.workers[name] = worker
        return worker

    def children(self, worker: subprocess.Popen[bytes]) -> list[int]:
        """The processes in which a worker works."""
        return [
            int(pid)
            for pid in Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        ]

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
        """Poll until something is true; fails with the workers' logs after `deadline` seconds."""
        deadline = time.monotonic() + self.deadline
        while not is_true():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text() for path in self.var.glob("*.log"))
                pytest.fail(f"{what}: not within {self.deadline} s\n{logs}")
            time.sleep(0.05)

    def wait_for_end(self, metric: str) -> None:
        ends = ("done", "failed", "cancelled")
        self.wait_for(f"{metric} ends", lambda: self.run(metric)[0] in ends)

    def wait_for_exit(self, worker: subprocess.Popen[bytes]) -> None:
        """Let texts pass, which a worker that is stopping may be scoring, until it has stopped."""

        def has_ended() -> bool:
            self.let_pass()
            return worker.poll() is not None

        self.wait_for("the worker ends", has_ended)

    def wait_for_done(self, metric: str, n: int) -> None:
        """Let texts pass, a few at a time, until a run has `n` scores."""

        def has_come() -> bool:
            if self.run(metric)[1] >= n:
                return True
            self.let_pass()
            return False

        self.wait_for(f"{n} scores of {metric}", has_come)

    def close_gate(self) -> None:
        """From now on each text of the metric "gated" needs a token (`fakes.Gated`)."""
        (self.var / "gate").mkdir()

    def let_pass(self) -> None:
        """Fill the gate up with a few tokens."""
        for number in range(TOKENS):
            (self.var / "gate" / f"token-{number}").touch()

    def open_gate(self) -> None:
        """Let everybody pass."""
        (self.var / "gate").rename(self.var / "open")

    def at_work(self, metric: str) -> dict[str, int]:
        """Return the children of the workers that are scoring a run, by short names of workers."""
        sql = (
            "SELECT w.name, w.process FROM metrics_slice s "
            "JOIN metrics_runworker w ON w.id = s.worker_id "
            "JOIN metrics_metricrun r ON r.id = s.run_id "
            "WHERE s.status = 'running' AND metric = '{}' ORDER BY w.id"
        )
        found = self.query(sql.format(metric))
        return {name.split("@")[0]: int(process.split(".")[1]) for name, process in found}

    def ends_at(self, metric: str) -> datetime:
        """When the first claim on a slice of a run ends, unless it is extended."""
        sql = (
            "SELECT min(expires_at) FROM metrics_slice s JOIN metrics_metricrun r "
            "ON r.id = s.run_id WHERE s.status = 'running' AND metric = '{}'"
        )
        [(found,)] = self.query(sql.format(metric))
        moment = datetime.fromisoformat(str(found))
        return moment.replace(tzinfo=moment.tzinfo or UTC)

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
