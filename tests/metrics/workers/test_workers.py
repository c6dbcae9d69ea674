"""Real worker processes, killed, stopped and outpaced, on a database and a queue of their own."""

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.metrics.sites import DEADLINE, Broker, Site, database_url, make_broker, on_server

SEGMENTS = 100  # with two systems 200 outputs, each of them another text


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with a test set, from which the others are copied."""
    var, name = tmp_path_factory.mktemp("template"), f"touchstone-{uuid4().hex[:12]}"
    template = Site(var, name, database_url(name), Broker(var))
    if template.database_url:
        on_server(f'CREATE DATABASE "{name}"')
    try:
        make = f"from tests.world import make_test_set; make_test_set(segments={SEGMENTS})"
        migrate = "from django.core.management import call_command; call_command('migrate', '-v0')"
        template.manage("shell", "--no-imports", "-v0", "-c", f"{migrate}; {make}")
        yield template
    finally:
        if template.database_url:
            on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def site(tmp_path: Path, template: Site) -> Iterator[Site]:
    name = f"touchstone-{uuid4().hex[:12]}"
    if template.database_url:
        on_server(f'CREATE DATABASE "{name}" TEMPLATE "{template.queue}"')
    else:
        shutil.copy(template.var / "touchstone.sqlite3", tmp_path)
    broker = make_broker(tmp_path, name)
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
    """Seeded misfortune: each blow falls once the run has come a little further."""

    def __init__(self, site: Site, metric: str, seed: int) -> None:
        self.site, self.metric, self.rng = site, metric, random.Random(seed)
        self.killed: set[str] = set()
        self.stopped: set[str] = set()
        self.goal = 0

    def wait_for_progress(self) -> None:
        self.goal += self.rng.randint(8, 20)
        self.site.wait_for_done(self.metric, self.goal)

    def kill_one(self) -> None:
        """Kill -9 a worker that has a slice in hand."""
        self.wait_for_progress()
        hands: list[str] = []

        def is_busy() -> bool:
            gone = self.killed | self.stopped
            hands[:] = [name for name in self.site.at_work(self.metric) if name not in gone]
            return bool(hands)

        self.site.wait_for("a worker at work", is_busy)
        name = self.rng.choice(hands)
        self.site.workers[name].kill()
        self.site.workers[name].wait()
        self.killed.add(name)

    def stop_one(self) -> subprocess.Popen[bytes]:
        """Ask a worker to end, as an upgrade does."""
        gone = self.killed | self.stopped
        name = self.rng.choice(sorted(set(self.site.workers) - gone))
        self.site.workers[name].terminate()
        self.stopped.add(name)
        return self.site.workers[name]


def test_a_run_survives_whatever_befalls_its_workers(site: Site) -> None:
    """Three workers and more, three of them killed, one stopped; broker and database restart."""
    metrics = ["slower", "counting", "chrf"]
    site.close_gate()
    for name in ("a", "b", "c"):
        site.start_worker(name)
    site.manage("score", "harbour", *(f"--metric={metric}" for metric in metrics))
    site.wait_for_done("slower", 1)  # nobody joins before there is a rate
    site.wait_for("three workers at work", lambda: len(site.at_work("slower")) == 3)
    fate = Fate(site, "slower", seed=20261121)
    fate.kill_one()
    site.start_worker("d")
    fate.wait_for_progress()
    site.broker.restart()
    fate.kill_one()
    site.start_worker("e")
    fate.wait_for_progress()
    site.drop_connections()
    stopped = fate.stop_one()
    fate.kill_one()
    site.open_gate()
    for metric in metrics:
        site.wait_for_end(metric)
        assert site.run(metric)[:2] == ("done", 2 * SEGMENTS)
        assert site.scores(metric) == (2 * SEGMENTS, 2 * SEGMENTS)
    assert stopped.wait(DEADLINE) == 0
    assert site.lost() == fate.killed
    assert site.query("SELECT count(*) FROM metrics_slice") == [(0,)]


def test_a_worker_that_is_stopped_hands_its_run_on_and_cancelling_frees_one(site: Site) -> None:
    site.close_gate()
    first = site.start_worker("first")
    site.manage("score", "harbour", "--metric", "slower", "--metric", "counting")
    site.wait_for_done("slower", 1)
    first.terminate()
    site.let_pass()  # what it may have in hand
    assert first.wait(DEADLINE) == 0
    status, done, _ = site.run("slower")
    assert status == "queued"
    assert 0 < done < 2 * SEGMENTS
    site.start_worker("second")
    site.wait_for_done("slower", done + 1)
    assert site.run("slower")[2].startswith("second@")
    site.cancel("slower")
    site.open_gate()
    site.wait_for_end("counting")
    status, done, _ = site.run("slower")
    assert (status, site.run("counting")[0]) == ("cancelled", "done")
    assert done < 2 * SEGMENTS
    assert site.scores("slower")[0] < 2 * SEGMENTS


def test_a_long_chunk_is_not_taken_over(site: Site) -> None:
    """One chunk takes 20 s, a worker may be silent for 15 s: the heartbeat makes the difference."""
    site.start_worker("first")
    site.manage("score", "harbour", "--metric", "longchunk", "--system", "strong")
    site.wait_for("a slice", lambda: site.at_work("longchunk") == ["first"])
    site.start_worker("second")
    site.wait_for("the first chunk", lambda: site.scores("longchunk")[0] > 0 or bool(site.lost()))
    assert site.lost() == set()
    assert site.run("longchunk")[0] == "running"


def test_a_child_that_dies_is_replaced_and_its_text_recorded(site: Site) -> None:
    """One text kills the child that scores it: all others are scored, and the worker goes on."""
    worker = site.start_worker("first")
    site.manage("score", "harbour", "--metric", "deadly", "--metric", "counting")
    site.wait_for_end("deadly")
    site.wait_for_end("counting")
    assert site.run("deadly")[:2] == ("done", 2 * SEGMENTS - 1)
    assert site.run("counting")[:2] == ("done", 2 * SEGMENTS)
    assert site.query("SELECT attempts, error FROM metrics_failedtext") == [
        (3, f"{site.run('deadly')[2]} stopped answering.")
    ]
    assert worker.poll() is None


def test_cancelling_ends_what_is_in_hand(site: Site) -> None:
    """A slice that would never end gives way to the next run within seconds."""
    site.start_worker("first")
    site.manage("score", "harbour", "--metric", "endless")
    site.wait_for("a slice", lambda: site.at_work("endless") == ["first"])
    site.cancel("endless")
    site.manage("score", "harbour", "--metric", "counting")
    site.wait_for_end("counting")
    assert (site.run("endless")[0], site.run("counting")[0]) == ("cancelled", "done")
