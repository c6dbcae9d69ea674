"""What a submit costs over HTTP: eight annotators at once, and Pearmut in the same minute.

    python -m benchmarks.annotation.submit [--items 100] [--annotators 8] [--stored 50000]
        [--mode static|pool|active]

Starts gunicorn (2 processes x 4 threads) on a free port over a temporary SQLite file, or over
DATABASE_URL, and talks to it as the page's script does: post the answer, go on with a screen that
was fetched ahead, fetch more in time. `--stored` plants so many answers before. With an
interpreter that has Pearmut in PEARMUT_PYTHON, Pearmut does as much work right after.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

django.setup()

from django.core.management import call_command
from django.utils import timezone

from annotation.batches import batched
from annotation.models import Assignment, Judgment
from benchmarks.annotation import pearmut
from benchmarks.annotation.browsing import Browser, Server
from benchmarks.planting import planted
from benchmarks.processes import seconds_of


def rate(browser: Browser, n: int) -> None:
    for _ in range(n):
        if browser.is_done:
            return
        browser.rate()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--stored", type=int, default=0)
    parser.add_argument("--mode", choices=("static", "pool", "active"), default="static")
    args = parser.parse_args()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    n, people = args.items, args.annotators
    systems = 1 if args.mode == "static" else 4
    campaign, tokens = planted(
        f"sea-{uuid.uuid4().hex[:8]}", mode=args.mode, segments=n, systems=systems,
        annotators=people, per_item=people,
    )  # fmt: skip
    if args.stored:
        plant_answers(args.stored)
    server = Server()
    try:
        crowd = [Browser(server.port, token) for token in tokens]
        for one in crowd:
            one.enter()
        threads = [threading.Thread(target=rate, args=(one, n)) for one in crowd]
        used, began = seconds_of(server.process.pid), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        used = seconds_of(server.process.pid) - used
    finally:
        server.stop()
    times = sorted(t for one in crowd for t in one.times)
    tell("Touchstone", len(times) / seconds, 1000 * used / len(times), times)
    mine = Judgment.objects.filter(assignment__annotator__campaign=campaign, is_current=True)
    assert mine.count() == len(times), f"stored {mine.count()}, sent {len(times)}"
    if os.environ.get("PEARMUT_PYTHON"):
        told = pearmut.measure(annotators=people, items=n, is_pool=args.mode != "static")
        tell("Pearmut", *told)


def tell(name: str, rate: float, used: float, times: Sequence[float]) -> None:
    print(f"{name}: {rate:.0f} answers/s, {used:.1f} ms of processor time an answer, median "
          f"{1000 * statistics.median(times):.0f} ms, worst {1000 * times[-1]:.0f} ms")  # fmt: skip


def plant_answers(n: int) -> None:
    """Answers of another campaign's annotator, in the same tables."""
    campaign, _ = planted(
        f"old-{uuid.uuid4().hex[:8]}", mode="static", segments=n, systems=1, annotators=1,
        per_item=1,
    )  # fmt: skip
    rows = list(Assignment.objects.filter(annotator__campaign=campaign))
    now = timezone.now()
    for part in batched(rows, 2_000):
        Judgment.objects.bulk_create(
            Judgment(assignment=row, score=50, submit_key=uuid.uuid4(), started_at=now,
                     submitted_at=now) for row in part
        )  # fmt: skip
    Assignment.objects.filter(annotator__campaign=campaign).update(completed_at=now)


if __name__ == "__main__":
    main()
