"""A run through Celery: texts a second, memory of a child along the way, and starts.

    DATABASE_URL=… CELERY_BROKER_URL=redis://… python -m benchmarks.metrics.engine.brokers
        [--texts 40000]

As `benchmarks.metrics.engine` alone, but with a real worker that takes its messages from the
broker: use one that is empty. Prints texts a second from the first slice to the end, the resident
memory of the worker's child when a quarter, a half, three quarters and all are scored, and the
seconds from the start of a run to its end: of a small BERTScore whose model is loaded for it, and
of the same once more, when all of its scores are there, each by a worker that was just started.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.metrics.engine.fake import ROOT, make_texts, scratch_database, set_up
from metaeval.repeats import refuse_repeats

if __name__ != "__main__":  # the worker finds the app and the metric here
    set_up()
    from core.work.brokers import app as app


@contextmanager
def worker() -> Iterator[None]:
    """A worker with one child that has given its first sign of life."""
    from metrics.models.fleet import WorkerChild

    options = ["-Q", "cpu,gpu", "--concurrency", "1", "--without-gossip", "--without-mingle"]
    quiet = ["-W", "ignore:You're running the worker", "-m", "celery", "--quiet"]
    command = [sys.executable, *quiet, "-A", "benchmarks.metrics.engine.brokers", "worker"]
    process = subprocess.Popen([*command, *options, "--loglevel", "ERROR"], cwd=ROOT)
    try:
        while not WorkerChild.objects.filter(worker__pid=process.pid).exists():
            assert process.poll() is None, "the worker ended"
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def resident_of_child() -> int:
    """MiB that the only child holds."""
    from metrics.models.fleet import WorkerChild

    child = WorkerChild.objects.get()
    pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def score(slug: str, metric: str) -> tuple[float, list[int]]:
    """Start a run and wait for its end: the seconds, and the child's memory at each quarter."""
    from annotation.models import TestSet
    from metrics.models import MetricRun
    from metrics.runs import starting

    began, seen = time.monotonic(), list[int]()
    run = starting.start(test_set=TestSet.objects.get(slug=slug), metrics=[metric]).runs[0]
    while run.is_active:
        if run.total and 4 * run.done >= (len(seen) + 1) * run.total:
            seen.append(resident_of_child())
        time.sleep(0.05)
        run = MetricRun.objects.get(pk=run.pk)
    seconds = time.monotonic() - began
    assert (run.status, run.done) == ("done", run.total), run.message
    rate = f"{run.average_rate:,.0f} texts/s, " if run.average_rate else ""
    print(f"{metric} on {slug}: {rate}{seconds:.1f} s from start to end", flush=True)
    return seconds, [*seen, resident_of_child()]


def make_small_bertscore(folder: Path) -> None:
    from benchmarks.gpu import small
    from metrics import catalogue
    from tests.world import make_test_set

    encoder = small.bert(folder / "bert", ["the harbour was quiet all morning"])
    options = {"checkpoint": str(encoder), "layer": 1}
    catalogue.configure(family="bertscore", name="small", label="Small", options=options)
    make_test_set(segments=100)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=40_000)
    texts = refuse_repeats(parser).parse_args().texts
    os.environ["FAKE_SIGNATURE"] = "fake|through a broker"
    with scratch_database(), tempfile.TemporaryDirectory() as folder:
        set_up()
        from django.conf import settings
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        broker = settings.CELERY_BROKER_URL.partition(":")[0]
        print(connection.vendor, broker, f"{texts:,} texts; load", os.getloadavg(), flush=True)
        make_texts(texts)
        make_small_bertscore(Path(folder))
        with worker():
            _, memory = score("large", "fake")
            print("  MiB of the child at each quarter:", *memory)
        for _ in ("cold", "warm"):
            with worker():
                score("harbour", "small")
        connection.close()


if __name__ == "__main__":
    main()
