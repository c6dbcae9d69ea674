"""Recovery times when a part of a site fails, and a count of everything.

    python -m benchmarks.outages [--broker rabbitmq] [--away 15] [NAME ...]

A site has two web hosts, three workers, and a host with database, broker and bucket; hosts share
nothing else. In a trial the workers score two test sets with TER, two annotators rate, and a
researcher uploads test sets, whose files arrive on one web host and are confirmed on the other. One
part is struck, `Cancel` of a run is clicked, and a server comes back after `--away` seconds. At the
end every text must have one score, and every answer and upload that was acknowledged must be stored
once: the exit status says so. Needs root, on Linux.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.outages.blows import BLOWS
from benchmarks.outages.servers import (
    DATABASE,
    URLS,
    WEB,
    WORKERS,
    Broker,
    Bucket,
    Postgres,
    address,
    network,
)
from benchmarks.outages.site import (
    PASSWORD,
    Annotator,
    Uploader,
    Visitor,
    Watch,
    World,
    cancel,
    longest,
    sign_in,
)
from metaeval.repeats import refuse_repeats

# Segments of the two test sets, of ten systems each.
SEGMENTS, SYSTEMS = (250, 50), 10
METRIC = "ter"
COLUMNS = (
    "struck",
    "no new score for",
    "the next one after its return",
    "current work taken over after",
    "Cancel answered after",
    "annotator: longest wait for an answer, until stored",
    "wrong at the end",
)


def is_scored(test_set: Any) -> bool:
    """Return True once the newest run is done; start one again that was cancelled."""
    from metrics.models import MetricRun
    from metrics.runs import starting

    run = MetricRun.objects.filter(test_set=test_set).latest("pk")
    if run.status == MetricRun.Status.CANCELLED:
        starting.start(test_set=test_set, metrics=[METRIC])
    return bool(run.status == MetricRun.Status.DONE)


def trial(site: World, name: str, number: int, away: float) -> tuple[str, int]:
    """Strike once: the row of the table, and how much is wrong at the end.

    `number`: of the trial; one blow may be struck several times.
    """
    from django.db import connection

    from benchmarks.annotation.load import faults
    from benchmarks.planting import plant_scored, planted
    from metrics.runs import starting

    struck = BLOWS[name]
    sets = [plant_scored(segments, SYSTEMS) for segments in SEGMENTS]
    campaign, [token, other] = planted(
        f"trial-{number}-{name}", mode="static", segments=200, systems=10, annotators=2, per_item=1
    )
    hosts = list(site.web.values())
    annotators = [Annotator(0, token, hosts=hosts), Annotator(0, other, hosts=hosts[::-1])]
    reader, uploader = Visitor(0, "reader", hosts=hosts), Uploader(0, "uploader", hosts=hosts)
    sign_in(reader)
    sign_in(uploader)
    for one in annotators:
        one.turn(60)
        one.enter()
        one.turn()
    runs = [starting.start(test_set=each, metrics=[METRIC]).runs[0].pk for each in sets]
    site.wait_for("all at work", lambda: len(site.hands()) == len(WORKERS))
    is_over, watch = threading.Event(), Watch(site)
    works = [one.work_until for one in annotators] + [uploader.work_until]
    busy = [threading.Thread(target=work, args=[is_over], daemon=True) for work in works]
    for thread in busy:
        thread.start()
    with watch.watching(), ThreadPoolExecutor(1) as pool:
        with struck.strike(site) as (watch.process, held):
            began = time.monotonic()
            # Of a run that is cancelled nobody takes anything over.
            free = next(run for run in reversed(runs) if run != held)
            cancelled = pool.submit(cancel, reader, held if struck.holds_run else free)
            if struck.returns:
                time.sleep(max(0.0, began + away - time.monotonic()))
            else:
                site.wait_for("the end of the runs", lambda: all(map(is_scored, sets)))
        back = time.monotonic()
        connection.close()  # it may have broken
        site.wait_for("the end of all runs", lambda: all(map(is_scored, sets)))
        time.sleep(2)
    is_over.set()
    for thread in busy:
        thread.join()
    scored = site.query("SELECT count(*), count(DISTINCT content_key) FROM metrics_segmentscore")
    [(expected,)] = site.query(
        "SELECT count(DISTINCT content_key) FROM annotation_output JOIN annotation_system s "
        "ON s.id = system_id JOIN annotation_testset t ON t.id = s.test_set_id "
        "WHERE t.slug LIKE 'scored-%'"
    )
    wrong = [n - expected for n in scored[0]] + list(faults(campaign, annotators).values())
    names = "', '".join(uploader.uploaded)
    sql = "SELECT count(*), count(DISTINCT name) FROM annotation_testset WHERE name IN ('{}')"
    wrong += [n - len(uploader.uploaded) for n in site.query(sql.format(names))[0]]
    answers, stored = (
        [wait for one in annotators for wait in getattr(one, kind)]
        for kind in ("answers", "stored")
    )
    connection.close()
    cells = (
        struck.title,
        f"{watch.pause(began):.1f} s",
        f"{watch.next_after(back):.1f} s" if struck.returns else "",
        f"{watch.held_until - began:.1f} s" if watch.process else "",
        cancelled.result(),
        f"{longest(answers, began):.1f}, {longest(stored, began):.1f} s",
        f"0 of {scored[0][0]:,} scores, {len(stored):,} answers, {len(uploader.uploaded)} uploads"
        if not any(wrong)
        else f"**{wrong}** {uploader.problems}",
    )
    return f"| {' | '.join(cells)} |", sum(map(abs, wrong))


@contextmanager
def running(kind: str) -> Iterator[World]:
    """A site with web and workers at work, which is gone afterwards."""
    with ExitStack() as stack:
        var = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="touchstone-outages-")))
        var.chmod(0o755)
        stack.enter_context(network())
        server = Postgres(var / "postgresql")
        stack.callback(server.stop)
        broker = Broker(kind, var / "broker")
        stack.callback(broker.stop)
        site = World(var, "cpu", server.url, broker)
        site.server, site.services = server, broker
        stack.callback(Bucket().stop)
        set_up(site)
        site.web = {}
        for host in WEB:
            stack.callback(site.start_web(host).kill)
        for host in WORKERS:
            site.start_worker(host)
            stack.callback(lambda host=host: site.workers[host].kill())
        yield site


def set_up(site: World) -> None:
    """Make the tables; what is started from now on reaches the database by its address."""
    os.environ |= {"TOUCHSTONE_VAR": str(site.var), "DATABASE_URL": site.server.url}
    os.environ |= {"SECRET_KEY": "benchmark", "DJANGO_SETTINGS_MODULE": "config.settings"}
    os.environ["TOUCHSTONE_STATIC"] = str(site.var / "static")
    os.environ["ALLOWED_HOSTS"] = ",".join(map(address, WEB))
    os.environ["CELERY_BROKER_URL"] = URLS[site.services.kind]
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    User.objects.create_superuser("reader", password=PASSWORD)
    os.environ["DATABASE_URL"] = f"postgres://postgres@{DATABASE}:5432/touchstone"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BLOWS)}")
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--away", type=float, default=15.0)
    given = refuse_repeats(parser).parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    n_wrong = 0
    with running(given.broker) as site:
        print(f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS), sep="\n", flush=True)
        for number, name in enumerate(given.names or BLOWS):
            row, wrong = trial(site, name, number, given.away)
            n_wrong += wrong
            print(row, flush=True)
    sys.exit(bool(n_wrong))


if __name__ == "__main__":
    main()
