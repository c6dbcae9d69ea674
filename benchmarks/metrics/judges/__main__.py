"""`python -m benchmarks.metrics.judges [texts] [connections] [milliseconds]`, on SQLite.

A run of a judge over a server that answers after 50 ms or as many: the share of the time that the
connections were busy, measured by the server, and the processor time of a call. Then the same texts
again: replies read a second, from the rows. Where other work has the processors, slow answers (500)
show what the scheduling loses, and the processor time what fast ones would need.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

TEXTS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
CONNECTIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 32
DELAY = sys.argv[3] if len(sys.argv) > 3 else "50"
ROOT = Path(__file__).parents[3]
BODY = json.dumps({"messages": [{"role": "user", "content": "x" * 1000}]})


def main() -> None:
    """Serve, fill a database, run twice, print."""
    command = [sys.executable, "-m", "benchmarks.metrics.judges.server", DELAY]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            measure(int(server.stdout.readline()))
        finally:
            server.kill()


def measure(port: int) -> None:
    """Run over all texts, then again from what is stored."""
    os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-bench-")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["JUDGE_ENDPOINTS"] = json.dumps(
        [
            {
                "name": "bench",
                "url": f"http://127.0.0.1:{port}/v1",
                "allow_private": True,
                "connections": CONNECTIONS,
            }
        ]
    )
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from metrics import catalogue

    options = {"endpoint": "bench", "model": "bench", "template": "direct-assessment@1"}
    catalogue.configure(family="judge", name="bench", label="Bench", options=options)
    test_set = fill()
    seconds, processor = score(test_set)
    wall, busy, n, served = busy_times(port)
    print(f"{n:,} questions in {seconds:.1f} s, {wall:.1f} s of them between first and last")
    print(f"processor: {1e3 * processor / TEXTS:.2f} ms a call, server {1e3 * served / n:.2f}")
    print(f"connections busy: {busy / (CONNECTIONS * wall):.1%} of {CONNECTIONS}")
    print(f"bare threads of http.client, nothing stored: {peer(port, threads):.1%}")
    print(f"bare tasks of aiohttp, nothing stored: {peer(port, tasks):.1%}")
    from metrics.models import SegmentScore

    SegmentScore.objects.all().delete()
    seconds, processor = score(test_set)
    print(f"read again: {TEXTS / seconds:,.0f} replies a second, scores stored")
    print(f"processor: {1e3 * processor / TEXTS:.2f} ms a reply")


def peer(port: int, ask: Callable[[int, int], None]) -> float:
    """Return how busy the same server is kept by who stores nothing: a quarter of the calls."""
    before, began = busy_times(port), time.monotonic()
    ask(port, TEXTS // CONNECTIONS // 4)
    return (busy_times(port)[1] - before[1]) / (CONNECTIONS * (time.monotonic() - began))


def threads(port: int, n: int) -> None:
    """Ask `n` questions in each of as many threads."""

    def ask() -> None:
        connection = HTTPConnection("127.0.0.1", port)
        for _ in range(n):
            connection.request("POST", "/v1/chat/completions", BODY)
            json.load(connection.getresponse())

    started = [Thread(target=ask) for _ in range(CONNECTIONS)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def tasks(port: int, n: int) -> None:
    """Ask `n` questions in each of as many tasks of one loop."""
    import aiohttp

    async def ask(session: aiohttp.ClientSession) -> None:
        for _ in range(n):
            url = f"http://127.0.0.1:{port}/v1/chat/completions"
            async with session.post(url, data=BODY) as response:
                json.loads(await response.read())

    async def ask_all() -> None:
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(ask(session) for _ in range(CONNECTIONS)))

    asyncio.run(ask_all())


def busy_times(port: int) -> tuple[float, float, int, float]:
    """Ask the server: seconds from first to last, of answers, their number, processor seconds."""
    with urlopen(f"http://127.0.0.1:{port}/busy") as answer:
        wall, busy, n, processor = json.load(answer)
    return wall, busy, n, processor


def fill() -> "object":
    """Store a test set of as many segments, one system."""
    from annotation.models import Output, Segment, System, TestSet
    from annotation.models.corpus import content_key

    test_set = TestSet.objects.create(
        name="bench", slug="bench", source_language="de", target_language="en"
    )
    system = System.objects.create(test_set=test_set, name="one")
    segments = Segment.objects.bulk_create(
        Segment(test_set=test_set, key=str(n), position=n, source=f"Satz {n}. " * 12)
        for n in range(TEXTS)
    )
    Output.objects.bulk_create(
        Output(
            system=system,
            segment=segment,
            text=(text := f"Sentence {n}. " * 12),
            content_key=content_key(segment.source, (), text),
        )
        for n, segment in enumerate(segments)
    )
    return test_set


def score(test_set: object) -> tuple[float, float]:
    """Start a run and work it off in this process; return the seconds, and those of processors."""
    from metrics.runs import scoring, starting

    scoring.forget()
    run = starting.start(test_set=test_set, metrics=["bench"], enqueue=False).runs[0]  # type: ignore[arg-type]
    began, spent = time.monotonic(), time.process_time()
    scoring.drain(run.pk)
    seconds = time.monotonic() - began, time.process_time() - spent
    run.refresh_from_db()
    assert (run.status, run.done) == ("done", TEXTS), (run.status, run.done, run.message)
    return seconds


main()
