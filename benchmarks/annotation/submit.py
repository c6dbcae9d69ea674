"""What a submit costs over HTTP: eight annotators at once, and Pearmut in the same minute.

    python -m benchmarks.annotation.submit [--items 100] [--annotators 8] [--stored 50000]
        [--mode static|pool|active] [--pool 100000]

Starts gunicorn (2 processes x 4 threads) on a free port over a temporary SQLite file, or over
DATABASE_URL, and talks to it as the page's script does: post the answer, go on with a screen that
was fetched ahead, fetch more in time. Everybody gives `--items` answers; `--stored` were given
before, by the same people in the same campaign; `--pool` is the size of a pool. With an
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
from contextlib import suppress

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.models import Annotator, Assignment, Campaign, Judgment
from benchmarks.annotation import pearmut
from benchmarks.annotation.browsing import Browser, Server
from benchmarks.planting import analysed, planted
from benchmarks.processes import family, memory_of, seconds_of
from core.text import batched
from metaeval.repeats import refuse_repeats


def rate(browser: Browser, n: int) -> None:
    for _ in range(n):
        if browser.is_done:
            return
        browser.rate()


def main() -> None:
    args = arguments()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    campaign, tokens = plant(args)
    server = Server()
    try:
        crowd = [Browser(server.port, token) for token in tokens]
        for one in crowd:
            one.enter()
        for one in crowd:
            # gunicorn closes a connection that is idle for longer than 2 seconds.
            one.connection.close()
            one.ask("GET", one.address)
        threads = [threading.Thread(target=rate, args=(one, args.items)) for one in crowd]
        used, began = seconds_of(server.process.pid), time.perf_counter()
        beside = time.process_time(), database_seconds()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        used = seconds_of(server.process.pid) - used
        beside = time.process_time() - beside[0], database_seconds() - beside[1]
        sizes = [memory_of(pid) for pid in family(server.process.pid)[1:]]
    finally:
        server.stop()
    times = sorted(t for one in crowd for t in one.times)
    tell("Touchstone", len(times) / seconds, 1000 * used / len(times), times)
    fetches = sorted(t for one in crowd for t in one.fetches)
    print(f"  screens ahead: median {1000 * statistics.median(fetches):.0f} ms, worst "
          f"{1000 * fetches[-1]:.0f} ms")  # fmt: skip
    clients, database = (1000 * each / len(times) for each in beside)
    print(f"  beside it: these clients {clients:.1f} ms an answer, PostgreSQL {database:.1f} ms")
    print(f"  web processes take {min(sizes):.0f} to {max(sizes):.0f} MiB")
    mine = Judgment.objects.filter(assignment__annotator__campaign=campaign, is_current=True)
    sent = args.stored + len(times)
    assert mine.count() == sent, f"stored {mine.count()}, sent {sent}"
    if os.environ.get("PEARMUT_PYTHON"):
        told = pearmut.measure(
            annotators=args.annotators, items=args.items, pool=args.pool, stored=args.stored
        )
        tell("Pearmut", *told)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--stored", type=int, default=0)
    parser.add_argument("--mode", choices=("static", "pool", "active"), default="static")
    parser.add_argument("--pool", type=int, default=0)
    args = refuse_repeats(parser).parse_args()
    args.stored -= args.stored % args.annotators
    if args.mode == "static":
        args.pool = 0
    elif not args.pool:
        args.pool = args.stored + 2 * args.items * args.annotators
    return args


def plant(args: argparse.Namespace) -> tuple[Campaign, list[str]]:
    """A campaign with links and with the answers that were given before: everybody rates every
    item, or each item of the pool is rated once."""
    segments = args.pool // 4 or args.items + args.stored // args.annotators
    campaign, tokens = planted(
        f"sea-{uuid.uuid4().hex[:8]}", mode=args.mode, segments=segments,
        systems=4 if args.pool else 1, annotators=args.annotators,
        per_item=1 if args.pool else args.annotators,
    )  # fmt: skip
    for number, annotator in enumerate(campaign.annotators.order_by("pk")):
        if args.pool:
            claim(campaign, annotator, number * args.stored // args.annotators, args)
        plant_answers(annotator, args.stored // args.annotators)
    analysed()
    return campaign, tokens


def claim(campaign: Campaign, annotator: Annotator, after: int, args: argparse.Namespace) -> None:
    keys = campaign.items.order_by("shuffle", "pk").values_list("pk", flat=True)
    own = list(keys[after : after + args.stored // args.annotators])
    Assignment.objects.bulk_create(
        [Assignment(annotator=annotator, item_id=key, position=n) for n, key in enumerate(own)],
        batch_size=2_000,
    )
    for part in batched(own, 2_000):
        campaign.items.filter(pk__in=part).update(wanted=0)


def plant_answers(annotator: Annotator, n: int) -> None:
    """The first of somebody's share are answered."""
    now = timezone.now()
    for part in batched(list(annotator.assignments.order_by("position")[:n]), 2_000):
        Judgment.objects.bulk_create(
            Judgment(assignment=row, score=50, submit_key=uuid.uuid4(), started_at=now,
                     submitted_at=now, paid_ms=9_000) for row in part
        )  # fmt: skip
    Assignment.objects.filter(annotator=annotator, position__lt=n).update(completed_at=now)


def database_seconds() -> float:
    """Processor seconds of the server's connections so far, where PostgreSQL runs here."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        pids = [pid for (pid,) in cursor.fetchall()]
    found = 0.0
    for pid in pids:
        with suppress(OSError):
            found += seconds_of(pid)
    return found


def tell(name: str, rate: float, used: float, times: Sequence[float]) -> None:
    print(f"{name}: {rate:.0f} answers/s, {used:.1f} ms of processor time an answer, median "
          f"{1000 * statistics.median(times):.0f} ms, worst {1000 * times[-1]:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
