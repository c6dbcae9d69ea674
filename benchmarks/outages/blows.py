"""What befalls a part of a site: each blow strikes before its `yield`, and is undone after it."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

import psycopg

from benchmarks.outages.servers import BROKER, BUCKET, DATABASE, WORKERS, address, silent, slowed
from benchmarks.outages.site import World
from benchmarks.processes import family


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


@blow("worker's host suspended while it holds a run", holds_run=True)
def host_suspended(site: World) -> Iterator[tuple[str, int]]:
    """Scores are stored and the run's row is locked: the longest that a transaction holds."""
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND query LIKE '%metrics_metricrun%FOR UPDATE%'"
    )
    held, first = NOBODY, site.pids("first")
    others = [pid for host in WORKERS[1:] for pid in site.pids(host)]
    while held == NOBODY:
        send(others, signal.SIGSTOP)  # so that it is the first who waits
        with suppress(psycopg.Error), psycopg.connect(str(site.database_url)) as other:
            _, run = site.struck("first")
            other.execute(f"SELECT FROM metrics_metricrun WHERE id = {run} FOR UPDATE NOWAIT")
            deadline = time.monotonic() + 10
            while held == NOBODY and time.monotonic() < deadline:
                time.sleep(0.05)
                if site.query(waiting) == [(1,)]:
                    send(first, signal.SIGSTOP)
                    held = site.struck("first")
        send(others, signal.SIGCONT)
    yield held
    send(first, signal.SIGCONT)


@blow("worker's host cut off from database and broker")
def host_cut_off(site: World) -> Iterator[tuple[str, int]]:
    found = site.struck("second")
    with silent(f"to {address('second')}"):
        yield found


@blow("worker's host on a slow line")
def host_slowed(site: World) -> Iterator[tuple[str, int]]:
    """It keeps its work: nothing is to be taken over."""
    with slowed("second"):
        yield NOBODY


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
    with silent(f"from {BROKER}"):
        yield NOBODY


@blow("broker killed (-9)", returns=True)
def broker_killed(site: World) -> Iterator[tuple[str, int]]:
    site.services.stop()
    yield NOBODY
    site.services.start()


@blow("PostgreSQL stopped at once", returns=True)
def database_stopped(site: World) -> Iterator[tuple[str, int]]:
    site.server.stop()
    yield NOBODY
    site.server.start()


@blow("PostgreSQL silent", returns=True)
def database_silent(site: World) -> Iterator[tuple[str, int]]:
    with silent(f"from {DATABASE}"):
        yield NOBODY


@blow("bucket silent", returns=True)
def bucket_silent(site: World) -> Iterator[tuple[str, int]]:
    with silent(f"from {BUCKET}"):
        yield NOBODY


@blow("one of two processes of a web host killed (-9)")
def web_process_killed(site: World) -> Iterator[tuple[str, int]]:
    os.kill(family(site.web["web1"].process.pid)[-1], signal.SIGKILL)
    yield NOBODY


@blow("web host suspended", returns=True)
def web_suspended(site: World) -> Iterator[tuple[str, int]]:
    pids = family(site.web["web1"].process.pid)
    send(pids, signal.SIGSTOP)
    yield NOBODY
    send(pids, signal.SIGCONT)


@blow("web host cut off from everybody", returns=True)
def web_cut_off(site: World) -> Iterator[tuple[str, int]]:
    with silent(f"to {address('web1')}"):
        yield NOBODY


@blow("web host on a slow line", returns=True)
def web_slowed(site: World) -> Iterator[tuple[str, int]]:
    with slowed("web1"):
        yield NOBODY


@blow("web host without power", returns=True)
def web_lost(site: World) -> Iterator[tuple[str, int]]:
    with silent(f"to {address('web1')}"):
        site.web["web1"].kill()
        yield NOBODY
    site.web["web1"].start()


@blow("both web hosts killed (-9)", returns=True)
def web_killed(site: World) -> Iterator[tuple[str, int]]:
    for web in site.web.values():
        web.kill()
    yield NOBODY
    for web in site.web.values():
        web.start()
