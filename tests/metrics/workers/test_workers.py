"""Real worker processes, killed, stopped and outpaced, on a database and a queue of their own."""

import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest

from core.work.reconciling import ROUND_SECONDS
from tests.metrics.proxy import SilentProxy
from tests.metrics.sites import (
    BROKERS,
    DEADLINE,
    Broker,
    Site,
    database_url,
    make_broker,
    on_server,
)
from tests.metrics.wheel import KEY, NAME, install, needs_setuptools

SEGMENTS = 100  # with two systems 200 outputs, each of them another text


@pytest.fixture(scope="module")
def template(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Site]:
    """A site with a test set, from which the others are copied."""
    var, name = tmp_path_factory.mktemp("template"), f"touchstone-{uuid4().hex[:12]}"
    template = Site(var, name, database_url(name), Broker(var))
    if template.database_url:
        on_server(f'CREATE DATABASE "{name}"')
    try:
        if template.database_url:
            template.manage("migrate", "-v0")
        else:
            shutil.copy(request.getfixturevalue("migrated"), var)
        make = f"from tests.world import make_test_set; make_test_set(segments={SEGMENTS})"
        template.manage("shell", "--no-imports", "-v0", "-c", make)
        yield template
    finally:
        if template.database_url:
            on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def broker_kind() -> str:
    """The broker of a site, where a test does not go through all of them."""
    return BROKERS[0]


@pytest.fixture
def site(tmp_path: Path, template: Site, broker_kind: str) -> Iterator[Site]:
    name = f"touchstone-{uuid4().hex[:12]}"
    if template.database_url:
        on_server(f'CREATE DATABASE "{name}" TEMPLATE "{template.queue}"')
    else:
        shutil.copy(template.var / "touchstone.sqlite3", tmp_path)
    broker = make_broker(broker_kind, tmp_path, name)
    site = Site(tmp_path, name, database_url(name), broker)
    try:
        yield site
    finally:
        for worker in site.workers.values():
            worker.kill()
            worker.wait()
        broker.stop()
        if site.database_url:
            on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


class Fate:
    """Seeded misfortune: each blow falls once the run has come a little further.

    Who was `struck` counts as lost; who was struck or told to stop is left alone afterwards.
    """

    def __init__(self, site: Site, metric: str, seed: int) -> None:
        self.site, self.metric, self.rng = site, metric, random.Random(seed)
        self.struck: set[str] = set()
        self.gone: set[str] = set()
        self.goal = 0

    def find_hand(self) -> tuple[str, int]:
        """Wait for progress and for a worker that is scoring; return its name and its child.

        That one is held: it ends nothing between this look and the blow.
        """
        self.goal += self.rng.randint(8, 20)
        self.site.wait_for_done(self.metric, self.goal)
        found: list[tuple[str, int]] = []

        def is_held() -> bool:
            hands = [
                (n, c) for n, c in self.site.at_work(self.metric).items() if n not in self.gone
            ]
            found[:] = [self.rng.choice(hands)] if hands else []
            for name, child in found:
                os.kill(child, signal.SIGSTOP)
                if self.site.at_work(self.metric).get(name) == child:
                    return True
                os.kill(child, signal.SIGCONT)
            return False

        self.site.wait_for("a worker at work", is_held)
        [(name, child)] = found
        self.gone.add(name)
        return name, child

    def kill_worker(self) -> None:
        """Kill -9 a worker, with its children, while broker and database lose what they hold."""
        name, _ = self.find_hand()
        self.struck.add(name)
        self.site.broker.empty()
        self.site.workers[name].kill()
        self.site.drop_connections()
        self.site.workers[name].wait()

    def kill_child(self) -> None:
        """The same with a child alone, as the kernel does out of memory; the broker restarts."""
        name, child = self.find_hand()
        self.struck.add(name)
        os.kill(child, signal.SIGKILL)
        self.site.drop_connections()
        self.site.broker.restart()

    def stop_worker(self) -> subprocess.Popen[bytes]:
        """Ask a worker to end, as an upgrade does."""
        name, child = self.find_hand()
        os.kill(child, signal.SIGCONT)
        self.site.workers[name].terminate()
        return self.site.workers[name]


@pytest.mark.parametrize("broker_kind", BROKERS)
def test_each_content_has_one_score_whatever_befalls_workers_broker_and_database(
    site: Site, broker_kind: str
) -> None:
    """Of four workers two are killed and one is stopped, and another one's child is killed."""
    metrics = ["gated", "counting", "chrf"]
    site.close_gate()
    for name in ("a", "b", "c"):
        site.start_worker(name)
    site.manage("score", "harbour", *(f"--metric={metric}" for metric in metrics))
    site.wait_for_done("gated", 1)
    site.wait_for("three workers at work", lambda: len(site.at_work("gated")) == 3)
    fate = Fate(site, "gated", seed=20261121)
    fate.kill_worker()
    site.start_worker("d")
    fate.kill_child()
    stopped = fate.stop_worker()
    fate.kill_worker()
    site.open_gate()
    for metric in metrics:
        site.wait_for_end(metric)
        assert site.run(metric)[:2] == ("done", 2 * SEGMENTS)
        assert site.scores(metric) == (2 * SEGMENTS, 2 * SEGMENTS)
    assert stopped.wait(DEADLINE) == 0
    assert site.lost() == fate.struck
    # A killed worker stays to be seen, a stopped one leaves.
    seen = {name.split("@")[0] for (name,) in site.query("SELECT name FROM metrics_worker")}
    killed = {name for name in site.workers if site.workers[name].returncode == -signal.SIGKILL}
    assert (len(killed), killed - seen) == (2, set())
    assert [name for name in site.workers if site.workers[name] is stopped and name in seen] == []
    assert site.query("SELECT count(*) FROM metrics_slice") == [(0,)]
    assert site.query("SELECT count(*) FROM metrics_failedtext") == [(0,)]


def test_runs_go_on_whoever_waits_stops_or_dies(site: Site) -> None:
    """One site for five ways: a child is killed while it waits, a chunk outlasts its claim, a
    worker is stopped, a run is cancelled, and a text kills each child that scores it."""
    site.close_gate()
    first = site.start_worker("first")
    # Celery takes a child that dies before the first message for a start that failed.
    site.manage("score", "harbour", "--metric", "ter")
    site.wait_for_end("ter")
    [idle] = site.children(first)
    os.kill(idle, signal.SIGKILL)
    site.manage("score", "harbour", "--metric", "gated", "--metric", "counting")
    site.wait_for_done("gated", 1)
    # The heartbeat makes the difference: nobody takes a long chunk over.
    site.wait_for("a slice", lambda: list(site.at_work("gated")) == ["first"])
    ends_at = site.ends_at("gated")
    second = site.start_worker("second")
    site.wait_for("another one at work", lambda: len(site.at_work("gated")) == 2)
    both_have_looked = ends_at + timedelta(seconds=2 * ROUND_SECONDS)
    site.wait_for("the claim of then is over", lambda: datetime.now(UTC) > both_have_looked)
    assert site.ends_at("gated") > ends_at
    assert site.lost() == set()

    for worker in (first, second):
        worker.terminate()
    for worker in (first, second):
        site.wait_for_exit(worker)
        assert worker.returncode == 0
    status, done, _ = site.run("gated")
    assert status == "queued"
    assert 0 < done < 2 * SEGMENTS
    third = site.start_worker("third")
    site.wait_for_done("gated", done + 1)
    assert site.run("gated")[2].startswith("third@")

    site.cancel("gated")
    # The current slice would never end, and gives way within seconds.
    site.wait_for_end("counting")
    status, done, _ = site.run("gated")
    assert (status, site.run("counting")[0]) == ("cancelled", "done")
    assert done < 2 * SEGMENTS
    assert site.scores("gated")[0] < 2 * SEGMENTS

    # All other texts are scored, and the worker goes on.
    site.manage("score", "harbour", "--metric", "deadly", "--metric", "chrf")
    site.wait_for_end("deadly")
    site.wait_for_end("chrf")
    assert site.run("deadly")[:2] == ("done", 2 * SEGMENTS - 1)
    assert site.run("chrf")[:2] == ("done", 2 * SEGMENTS)
    ((attempts, error),) = site.query("SELECT attempts, error FROM metrics_failedtext")
    assert (attempts, json.loads(error)["code"]) == (3, "run.worker-lost-scoring")
    assert third.poll() is None


def test_a_worker_that_starts_again_goes_on_with_what_it_held_when_it_was_killed(
    site: Site,
) -> None:
    """Nobody waits for the claim to expire, after an hour. A neighbour that lives keeps its own."""
    site.close_gate()
    patient = {"RUN_STALE_SECONDS": "3600"}
    killed, neighbour = (site.start_worker(name, **patient) for name in ("killed", "neighbour"))
    site.manage("score", "harbour", "--metric", "gated")
    site.wait_for("two workers at work", lambda: len(site.at_work("gated")) == 2)
    child = site.at_work("gated")["killed"]
    os.kill(child, signal.SIGSTOP)
    killed.kill()
    os.kill(child, signal.SIGKILL)
    killed.wait()
    site.start_worker("again", **patient)
    site.wait_for("the loss is noticed", lambda: site.lost() == {"killed"})
    site.open_gate()
    site.wait_for_end("gated")
    assert site.run("gated")[:2] == ("done", 2 * SEGMENTS)
    assert site.scores("gated") == (2 * SEGMENTS, 2 * SEGMENTS)
    assert site.lost() == {"killed"}
    assert neighbour.poll() is None


@pytest.mark.skipif(BROKERS == ("embedded",), reason="SQLite has one lock for all")
def test_a_host_that_falls_silent_while_it_stores_scores_holds_nobody_up(site: Site) -> None:
    """The database ends its transaction; another worker goes on; the first stores nothing more."""
    limit = {"DATABASE_IDLE_SECONDS": "5"}
    silent = site.start_worker("silent", **limit)
    site.wait_for("the report", lambda: site.query("SELECT name FROM metrics_worker") != [])
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO metrics_segmentscore%'"
    )
    with psycopg.connect(str(site.database_url)) as other:
        # Whoever stores scores holds the run and waits here, in the middle of its transaction.
        other.execute("LOCK TABLE metrics_segmentscore IN SHARE MODE")
        site.manage("score", "harbour", "--metric", "counting")
        site.wait_for("scores are being stored", lambda: site.query(waiting) == [(1,)])
        stopped = [silent.pid, *site.children(silent)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
    site.start_worker("other", **limit)
    site.wait_for_end("counting")
    assert site.run("counting")[:2] == ("done", 2 * SEGMENTS)
    assert site.lost() == {"silent"}
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    silent.terminate()
    site.wait_for("the worker ends", lambda: silent.poll() is not None)
    assert site.scores("counting") == (2 * SEGMENTS, 2 * SEGMENTS)
    assert site.run("counting")[:2] == ("done", 2 * SEGMENTS)


@pytest.mark.skipif(BROKERS == ("embedded",), reason="there is no server that could fall silent")
@pytest.mark.parametrize("broker_kind", BROKERS)
def test_a_broker_that_falls_silent_holds_nobody_up(site: Site, broker_kind: str) -> None:
    """Requests for work are answered, and the worker reconnects and finds it automatically."""
    address = urlsplit(site.broker.url)
    user, at, _ = address.netloc.rpartition("@")
    with SilentProxy(address.port or 0) as proxy:
        netloc = f"{user}{at}127.0.0.1:{proxy.port}"
        site.broker_url = urlunsplit(address._replace(netloc=netloc))
        site.start_worker("only")
        site.manage("score", "harbour", "--metric", "chrf")
        site.wait_for_end("chrf")
        proxy.silence()
        site.manage("score", "harbour", "--metric", "counting")
        assert site.run("counting")[0] == "queued"
        proxy.resume()
        site.wait_for_end("counting")
    assert site.run("counting")[:2] == ("done", 2 * SEGMENTS)


@needs_setuptools
def test_a_plugin_is_scored_where_it_is_installed_alone(site: Site, tmp_path: Path) -> None:
    """The commands of the web know it by what a worker reports; one without it takes nothing."""
    paths = os.pathsep.join([site.environment["PYTHONPATH"], str(install(tmp_path / "plugin"))])
    theirs = {"PYTHONPATH": paths, "METRIC_PLUGINS": NAME}
    first = site.start_worker("theirs", "cpu", **theirs)
    reported = "SELECT CAST(plugins AS text) FROM metrics_worker"
    site.wait_for("the report", lambda: KEY in str(site.query(reported)))
    site.manage("add_metric", KEY, "theirs")
    first.terminate()
    site.wait_for("the worker ends", lambda: first.poll() is not None)
    ours = site.start_worker("ours", "cpu")
    site.manage("score", "harbour", "--metric", "theirs", "--metric", "counting")
    site.wait_for_end("counting")
    assert site.run("counting")[0] == "done"
    assert site.run("theirs") == ("queued", 0, "")
    ours.kill()  # it would go on taking messages of which it can do nothing
    site.start_worker("theirs-again", "cpu", **theirs)
    site.wait_for_end("theirs")
    status, done, worker = site.run("theirs")
    assert (status, done, worker.split("@")[0]) == ("done", 2 * SEGMENTS, "theirs-again")
    assert site.scores("theirs") == (2 * SEGMENTS, 2 * SEGMENTS)
    [(signature,)] = site.query(
        "SELECT signature FROM metrics_metricsignature WHERE metric = 'theirs'"
    )
    assert f"|plugin:{NAME}|version:0.1.0|contract:1|" in signature


BEGIN_IMPORT = """
from django.contrib.auth.models import User
from annotation.imports import background
from annotation.uploads import InputFile, waiting
user = User.objects.create_user("ida")
rows = "".join(f"R{n}\\t1\\tamber\\t{n}\\n" for n in range(100))
file = InputFile.holding("own.tsv", ("rater\\tseg\\tsystem\\tscore\\n" + rows).encode())
sent = waiting.Sent("judgments", {"0": file}, {"test_set": "harbour", "name": "Later"})
token = waiting.keep(sent, user.pk)
background.begin(user, token, {"store": True})
"""


@pytest.mark.parametrize("broker_kind", BROKERS)
def test_an_import_whose_child_is_killed_is_stored_once(site: Site, broker_kind: str) -> None:
    """The child dies after it has stored everything, before its transaction ends."""
    site.close_gate()
    site.start_worker("only", "slow")
    [(system,)] = site.query("SELECT name FROM annotation_system ORDER BY id LIMIT 1")
    site.manage("shell", "--no-imports", "-v0", "-c", BEGIN_IMPORT.replace("amber", system))
    n_judgments = "SELECT count(*) FROM annotation_judgment"

    def find_at_gate() -> list[int]:
        return [int(path.name.rpartition("-")[2]) for path in site.var.glob("at-gate-*")]

    site.wait_for("an import at the gate", lambda: len(find_at_gate()) == 1)
    assert site.query(n_judgments) == [(0,)]
    os.kill(find_at_gate()[0], signal.SIGKILL)
    site.wait_for("another child at the gate", lambda: len(find_at_gate()) == 2)
    assert site.query(n_judgments) == [(0,)]
    site.open_gate()
    state = "SELECT state FROM annotation_fileimport"
    site.wait_for("the end", lambda: site.query(state) == [("stored",)])
    assert site.query(n_judgments) == [(100,)]
    assert site.query("SELECT count(*) FROM annotation_campaign WHERE slug = 'later'") == [(1,)]
    site.wait_for("no files", lambda: list((site.var / "uploads").iterdir()) == [])
