"""What others notice when a part of a site fails: recovery times, and a count of everything.

    python -m benchmarks.outages [--broker rabbitmq] [--away 15] [NAME ...]

Starts PostgreSQL, Redis or RabbitMQ, gunicorn and two workers, each a host with process numbers of
its own. In a trial they score two test sets with TER while an annotator rates, one part is struck,
`Cancel` of a run is clicked, and a server comes back after `--away` seconds. At the end every text
must have one score, and every answer that was acknowledged must be stored once: the exit status
says so. Needs root, on Linux.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.annotation.browsing import Browser, Server
from benchmarks.processes import family
from benchmarks.servers import Postgres, RabbitServer
from metaeval.repeats import refuse_repeats
from tests.metrics.proxy import SilentProxy
from tests.metrics.sites import ROOT, RedisBroker, Site

# Segments of the two test sets, of ten systems each.
SEGMENTS, SYSTEMS = (400, 20), 10
METRIC, PASSWORD = "ter", "a benchmark's reader"
HOST = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
COLUMNS = (
    "struck",
    "no new score for",
    "after its return",
    "work in hand taken over after",
    "Cancel answered after",
    "annotator waited for an answer, until stored",
    "wrong at the end",
)


class World(Site):
    """A site with two hosts for workers: `first`, which shares its network with the web, `second`.

    `lines` lead each of the two networks to database and broker.
    """

    server: Postgres
    web: Server
    lines: dict[str, tuple[SilentProxy, SilentProxy]]

    def reach(self, host: str) -> dict[str, str]:
        """The settings of a host: where it reaches database and broker."""
        database, broker = self.lines[host]
        urls = {"redis": "redis://127.0.0.1:{}/0", "rabbitmq": "amqp://guest:guest@127.0.0.1:{}//"}
        return {
            "DATABASE_URL": self.server.url(port=database.port),
            "CELERY_BROKER_URL": urls[self.queue].format(broker.port),
        }

    def start_worker(self, name: str, *queues: str, **environment: str) -> Any:
        """Start the worker of a host."""
        celery = [*HOST, sys.executable, "-W", "ignore", "-m", "celery", "-A", "config", "worker"]
        options = ["-c", "1", "-Q", "cpu", "-n", f"cpu@{name}", "--without-gossip"]
        variables = os.environ | self.reach(name) | environment
        with (self.var / f"{name}.log").open("ab") as log:
            worker = subprocess.Popen(
                [*celery, *options, "--without-mingle"], cwd=ROOT, env=variables, stdout=log,
                stderr=log,
            )  # fmt: skip
        self.workers[name] = worker
        return worker

    def pids(self, host: str) -> list[int]:
        """The processes of a worker; its child, which works, comes last."""
        return family(self.workers[host].pid)[1:]

    def hands(self) -> dict[str, tuple[str, int]]:
        """The process and the run of each host that has a slice in hand."""
        sql = (
            "SELECT w.name, w.process, s.run_id FROM metrics_slice s "
            "JOIN metrics_runworker w ON w.id = s.worker_id WHERE s.status = 'running'"
        )
        return {name.split("@")[1]: (process, run) for name, process, run in self.query(sql)}

    def struck(self, host: str) -> tuple[str, int]:
        """Wait until a host has work in hand, and return whose and of which run."""
        self.wait_for(f"{host} at work", lambda: host in self.hands())
        return self.hands().get(host) or self.struck(host)


@dataclass
class Watch:
    """Looks ten times a second at how many scores there are and who has work in hand."""

    site: World
    process: str = ""
    scored: list[float] = field(default_factory=list)
    held_until: float = 0.0
    _is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def pause(self, since: float) -> float:
        """Return the longest time without a new score."""
        times = [since, *(moment for moment in self.scored if moment > since)]
        return max((b - a for a, b in pairwise(times)), default=0.0)

    def next_after(self, since: float) -> float:
        """Return the seconds until the next score."""
        return next((moment - since for moment in self.scored if moment > since), 0.0)

    def _watch(self) -> None:
        known = 0
        while not self._is_over.wait(0.1):
            with suppress(psycopg.Error):
                [(n,)] = self.site.query("SELECT count(*) FROM metrics_segmentscore")
                if n > known:
                    self.scored.append(time.monotonic())
                known = n
                if self.process and self.process in dict(self.site.hands().values()):
                    self.held_until = time.monotonic()


@dataclass(frozen=True)
class Blow:
    """What befalls a part; what `strike` does behind its `yield` undoes it.

    It yields the process and the run of a worker that was struck. `returns`: the part is away for
    some seconds only. `holds_run`: the run of the worker that was struck is the one to cancel.
    """

    title: str
    strike: Callable[[World], AbstractContextManager[tuple[str, int]]]
    returns: bool = False
    holds_run: bool = False


BLOWS: dict[str, Blow] = {}
NOBODY = ("", 0)


def blow(
    title: str, **options: bool
) -> Callable[[Callable[[World], Iterator[tuple[str, int]]]], None]:
    """Register a blow under the name of its function."""

    def register(strike: Callable[[World], Iterator[tuple[str, int]]]) -> None:
        name = strike.__name__.replace("_", "-")
        BLOWS[name] = Blow(title, contextmanager(strike), **options)

    return register


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@blow("worker's host suspended while it stores scores", holds_run=True)
def host_suspended(site: World) -> Iterator[tuple[str, int]]:
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND query LIKE 'INSERT INTO metrics_segmentscore%'"
    )
    found, first, second = NOBODY, site.pids("first"), site.pids("second")
    while found == NOBODY:
        send(second, signal.SIGSTOP)  # so that it is the first who stores
        with psycopg.connect(str(site.database_url)) as other:
            other.execute("LOCK TABLE metrics_segmentscore IN SHARE MODE")
            for _ in range(40):
                if site.query(waiting) == [(1,)]:
                    send(first, signal.SIGSTOP)
                    found = site.struck("first")
                    break
                time.sleep(0.05)
        send(second, signal.SIGCONT)
    yield found
    send(first, signal.SIGCONT)


@blow("worker's host cut off from database and broker")
def host_cut_off(site: World) -> Iterator[tuple[str, int]]:
    found = site.struck("second")
    for line in site.lines["second"]:
        line.silence()
    yield found
    for line in site.lines["second"]:
        line.resume()


@blow("worker killed (-9)")
def worker_killed(site: World) -> Iterator[tuple[str, int]]:
    found = site.struck("first")
    site.workers["first"].kill()
    yield found
    site.workers["first"].wait()
    site.start_worker("first")


@blow("worker's child killed (-9)")
def child_killed(site: World) -> Iterator[tuple[str, int]]:
    found = site.struck("first")
    os.kill(site.pids("first")[-1], signal.SIGKILL)
    yield found


@blow("broker silent", returns=True)
def broker_silent(site: World) -> Iterator[tuple[str, int]]:
    for _, line in site.lines.values():
        line.silence()
    yield NOBODY
    for _, line in site.lines.values():
        line.resume()


@blow("broker killed (-9)", returns=True)
def broker_killed(site: World) -> Iterator[tuple[str, int]]:
    site.broker.stop()
    yield NOBODY
    site.broker.restart()


@blow("PostgreSQL stopped at once", returns=True)
def database_stopped(site: World) -> Iterator[tuple[str, int]]:
    site.server.stop("immediate")
    yield NOBODY
    site.server.start()


@blow("PostgreSQL silent", returns=True)
def database_silent(site: World) -> Iterator[tuple[str, int]]:
    for line, _ in site.lines.values():
        line.silence()
    yield NOBODY
    for line, _ in site.lines.values():
        line.resume()


@blow("one of two web processes killed (-9)")
def web_process_killed(site: World) -> Iterator[tuple[str, int]]:
    os.kill(family(site.web.process.pid)[1], signal.SIGKILL)
    yield NOBODY


@blow("web server killed (-9)", returns=True)
def web_killed(site: World) -> Iterator[tuple[str, int]]:
    site.web.kill()
    yield NOBODY
    site.web.start()


@dataclass
class Annotator(Browser):
    """Rates as long as a trial goes on; notes when it asked and how long an answer took."""

    answers: list[tuple[float, float]] = field(default_factory=list)
    stored: list[tuple[float, float]] = field(default_factory=list)

    def ask(
        self, method: str, address: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        began = time.monotonic()
        answer = super().ask(method, address, fields)
        self.answers.append((began, time.monotonic() - began))
        return answer

    def fetch_ahead(self) -> None:
        """Fetch screens where the site answers; without them the next comes with the answer."""
        with suppress(OSError, HTTPException, ValueError, KeyError):
            super().fetch_ahead()

    def work_until(self, is_over: threading.Event) -> None:
        while not (is_over.is_set() or self.is_done):
            began = time.monotonic()
            self.rate()
            self.stored.append((began, time.monotonic() - began))
            self.connection.close()
            time.sleep(0.3)


def longest(waits: list[tuple[float, float]], since: float) -> float:
    return max((seconds for began, seconds in waits if began + seconds > since), default=0.0)


def cancel(reader: Browser, run: int) -> str:
    """Click on Cancel until there is an answer: how long that took, and a status that is bad."""
    began = time.monotonic()
    while True:
        with suppress(OSError, HTTPException):
            status, _, _ = reader.ask("POST", f"/runs/{run}/cancel/", {"cancel": "yes"})
            code = "" if status == 302 else f" ({status})"
            return f"{time.monotonic() - began:.1f} s{code}"
        time.sleep(0.1)


def sign_in(port: int) -> Browser:
    """A researcher's browser."""
    browser = Browser(port, "reader")
    browser.ask("GET", "/login/")
    status, _, body = browser.ask("POST", "/login/", {"username": "reader", "password": PASSWORD})
    assert status == 302, body[:300]
    return browser


def is_scored(test_set: Any) -> bool:
    """Return True once the newest run is done; start one again that was cancelled."""
    from metrics.models import MetricRun
    from metrics.runs import starting

    run = MetricRun.objects.filter(test_set=test_set).latest("pk")
    if run.status == MetricRun.Status.CANCELLED:
        starting.start(test_set=test_set, metrics=[METRIC])
    return bool(run.status == MetricRun.Status.DONE)


def trial(site: World, name: str, away: float) -> tuple[str, int]:
    """Strike once: the row of the table, and how much is wrong at the end."""
    from django.db import connection

    from benchmarks.annotation.load import faults
    from benchmarks.planting import plant_scored, planted
    from metrics.runs import starting

    struck = BLOWS[name]
    sets = [plant_scored(segments, SYSTEMS) for segments in SEGMENTS]
    campaign, [token] = planted(
        f"trial-{name}", mode="static", segments=200, systems=10, annotators=1, per_item=1
    )
    annotator, reader = Annotator(site.web.port, token), sign_in(site.web.port)
    annotator.enter()
    _, other = (starting.start(test_set=one, metrics=[METRIC]).runs[0].pk for one in sets)
    site.wait_for("both at work", lambda: len(site.hands()) == 2)
    is_over, watch = threading.Event(), Watch(site)
    rating = threading.Thread(target=annotator.work_until, args=[is_over])
    rating.start()
    with watch.watching():
        with struck.strike(site) as (watch.process, held):
            began = time.monotonic()
            cancelled = cancel(reader, held if struck.holds_run else other)
            if struck.returns:
                time.sleep(max(0.0, began + away - time.monotonic()))
            else:
                site.wait_for("the end of the runs", lambda: all(map(is_scored, sets)))
        back = time.monotonic()
        connection.close()  # it may have broken
        site.wait_for("the end of all runs", lambda: all(map(is_scored, sets)))
        time.sleep(2)
    is_over.set()
    rating.join()
    scored = site.query("SELECT count(*), count(DISTINCT content_key) FROM metrics_segmentscore")
    [(expected,)] = site.query(
        "SELECT count(DISTINCT content_key) FROM annotation_output JOIN annotation_system s "
        "ON s.id = system_id JOIN annotation_testset t ON t.id = s.test_set_id "
        "WHERE t.slug LIKE 'scored-%'"
    )
    wrong = [n - expected for n in scored[0]] + list(faults(campaign, [annotator]).values())
    connection.close()
    cells = (
        struck.title,
        f"{watch.pause(began):.1f} s",
        f"{watch.next_after(back):.1f} s" if struck.returns else "",
        f"{watch.held_until - began:.1f} s" if watch.process else "",
        cancelled,
        f"{longest(annotator.answers, began):.1f}, {longest(annotator.stored, began):.1f} s",
        f"0 of {scored[0][0]:,} scores, {len(annotator.sent):,} answers"
        if not any(wrong)
        else f"**{wrong}**",
    )
    return f"| {' | '.join(cells)} |", sum(map(abs, wrong))


@contextmanager
def running(broker: str) -> Iterator[World]:
    """A site with web and workers at work, in a folder that is gone afterwards."""
    with ExitStack() as stack:
        var = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="touchstone-outages-")))
        var.chmod(0o755)
        server = Postgres(var / "postgresql")
        stack.callback(server.stop)
        made = RedisBroker(var) if broker == "redis" else RabbitServer(var / "rabbitmq")
        stack.callback(made.stop)
        ports = (server.port, made.port)
        lines = {
            host: tuple(stack.enter_context(SilentProxy(port)) for port in ports)
            for host in ("first", "second")
        }
        site = World(var, broker, server.url(), made)
        site.server, site.lines = server, lines
        set_up(site)
        site.web = Server()
        stack.callback(site.web.stop)
        for host in lines:
            site.start_worker(host)
            stack.callback(lambda host=host: site.workers[host].kill())
        yield site


def set_up(site: World) -> None:
    """Make the tables, by the direct way; what is started from now on takes the host's."""
    os.environ |= {"TOUCHSTONE_VAR": str(site.var), "DATABASE_URL": site.server.url()}
    os.environ |= {"SECRET_KEY": "benchmark", "DJANGO_SETTINGS_MODULE": "config.settings"}
    os.environ["CELERY_BROKER_URL"] = site.reach("first")["CELERY_BROKER_URL"]
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    User.objects.create_superuser("reader", password=PASSWORD)
    os.environ |= site.reach("first")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BLOWS)}")
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--away", type=float, default=15.0)
    given = refuse_repeats(parser).parse_args()
    n_wrong = 0
    with running(given.broker) as site:
        print(f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS), sep="\n", flush=True)
        for name in given.names or BLOWS:
            row, wrong = trial(site, name, given.away)
            n_wrong += wrong
            print(row, flush=True)
    sys.exit(bool(n_wrong))


if __name__ == "__main__":
    main()
