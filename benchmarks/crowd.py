"""Every page over crowd data of WMT22's size: 36,000 judgments by 200 workers.

    OMP_NUM_THREADS=1 python -m benchmarks.crowd [--database postgres] [PAGE ...]

Multiplies the crowd judgments of WMT21 ru-en, with bad references, repeats and references, over
other segments and other workers, plants the scores of 18 measures, and starts workers as users do.
Every page is then asked for as by a browser: the first answer, the time until its numbers are
there, and the answer when nothing has changed, with the processor's time, and the part of it that
the web process spends in `metaeval` and scipy. Of files that are sent while they are made the time
to the first piece counts. The bounds are 0.3 s for an answer and 10 s for the numbers.

PostgreSQL is DATABASE_URL, or a database named `crowd` on this machine. Nothing in it is removed.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from benchmarks.processes import Processes
from metaeval.repeats import refuse_repeats

JUDGMENTS, WORKERS = 36_000, 200
COPY = 1_000  # Segments of a copy are numbered from here on.
ANSWER_SECONDS, NUMBERS_SECONDS = 0.3, 10.0
GIVE_UP_SECONDS = 180.0
BESIDES = ("/campaigns/", "/testsets/", "/studies/", "/runs/", "/power/", "/api/campaigns/")
OF_CAMPAIGN = (
    *("", "monitor/", "monitor.json", "remarks/", "quality/", "quality.json", "quality.csv"),
    *("access/", "power/", "power.json", "export/", "judgments.csv", "judgments.json"),
    *("export/mtme/", "dashboard/", "dashboard.json", "correlations/", "correlations.json"),
    *("significance/", "layers/", "scatter/", "systems/", "whatif/", "samplesize/"),
    *("report/", "bundle/"),
)


def prepare(database: str) -> None:
    """Settings are read from the environment, once; the worker reads the same."""
    os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-crowd-")
    os.environ.setdefault("SECRET_KEY", "benchmark")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["DEBUG"] = "no"
    os.environ["ALLOWED_HOSTS"] = "localhost"
    if database == "sqlite":
        os.environ["DATABASE_URL"] = ""
    else:
        os.environ.setdefault("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/crowd")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def multiplied(folder: Any, wanted: int = JUDGMENTS, workers: int = WORKERS) -> Any:
    """WMT21 ru-en again and again, HIT by HIT, until the given number of judgments is there.

    Every copy has segments and documents of its own. Its workers get new names too, up to a
    limit; after that, the workers of earlier copies do the work.
    """
    from annotation.imports import DATASETS
    from annotation.imports.published.human import wmt21

    [pair] = DATASETS["wmt21"].pairs(folder, ["ru-en"])
    test_set, campaign = wmt21(pair)
    names: dict[tuple[str, int], int] = {}  # Of a worker and copy, in order of appearance.
    hits: dict[str, list[int]] = {}
    for index, item in enumerate(campaign.items):
        hits.setdefault(item.batch, []).append(index)
    items: list[Any] = []
    judgments: list[Any] = []
    n_copies = 0
    while len(items) < wanted:
        for batch, indices in hits.items():
            if len(items) >= wanted:
                break
            place = {index: len(items) + n for n, index in enumerate(indices)}
            for index in indices:
                item, given = campaign.items[index], campaign.judgments[index]
                who = names.setdefault((given.annotator, n_copies), len(names)) % workers
                judgments.append(replace(given, annotator=f"W{who:04d}", item=len(items)))
                items.append(
                    replace(
                        item,
                        segment=str(int(item.segment) + n_copies * COPY),
                        batch=f"{batch}-{n_copies}",
                        partner=None if item.partner is None else place[item.partner],
                    )
                )
        n_copies += 1
    about = {"slug": "crowd", "name": "Crowd of WMT22's size"}
    return _copies(test_set, n_copies, about), replace(
        campaign, items=items, judgments=judgments, **about
    )


def _copies(test_set: Any, n: int, about: dict[str, str]) -> Any:
    def key(name: str, copy: int) -> str:
        return str(int(name) + copy * COPY)

    segments = [
        replace(one, key=key(one.key, copy), document=f"{one.document}-{copy}")
        for copy in range(n)
        for one in test_set.segments
    ]
    systems = [
        replace(
            one,
            outputs={
                key(name, copy): text for copy in range(n) for name, text in one.outputs.items()
            },
        )
        for one in test_set.systems
    ]
    return replace(test_set, segments=segments, systems=systems, **about)


def plant(wanted: int = JUDGMENTS) -> Any:
    """Import the multiplied judgments, and store scores of 18 measures over all outputs."""
    import numpy as np
    from django.conf import settings

    from annotation.imports.store import launch
    from annotation.models import Output
    from benchmarks.metrics.scores import plant_scores
    from benchmarks.planting import analysed

    ((launched,)) = (launch([multiplied(settings.DATA_DIR, wanted)]),)
    campaign = launched[0].result.campaign
    outputs = list(Output.objects.filter(system__test_set=campaign.test_set).order_by("pk"))
    rng = np.random.default_rng(1)
    plant_scores(campaign, outputs, rng.normal(size=len(outputs)), rng)
    analysed()
    return campaign


@dataclass
class Statistics:
    """Seconds of this thread inside `metaeval` and scipy, callees included."""

    seconds: float = 0.0
    _depth: int = field(default=0, repr=False)
    _began: float = field(default=0.0, repr=False)

    @contextmanager
    def watched(self) -> Iterator[None]:
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        path = frame.f_code.co_filename
        if ("/metaeval/" not in path and "/scipy/" not in path) or "<module>" in str(frame.f_code):
            return
        if event == "call":
            if not self._depth:
                self._began = time.thread_time()
            self._depth += 1
        elif self._depth:
            self._depth -= 1
            if not self._depth:
                self.seconds += time.thread_time() - self._began


@dataclass
class Visit:
    """One answer: seconds by the clock and of the processor, queries, KiB, and whether it waits."""

    seconds: float
    used: float
    queries: int
    size: float
    is_pending: bool
    status: int


def visit(client: Any, address: str) -> Visit:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    connection.queries_log.clear()  # It holds a limited number.
    with CaptureQueriesContext(connection) as queries:
        began, used = time.perf_counter(), time.thread_time()
        answer = client.get(address, HTTP_ACCEPT="application/json, text/html;q=0.9")
        parts = iter(answer.streaming_content) if answer.streaming else iter([answer.content])
        body = next(parts, b"")
        seconds = time.perf_counter() - began
        body += b"".join(parts)
        used = time.thread_time() - used
    is_pending = answer.status_code == 202 or b"data-fresh-at" in body
    return Visit(seconds, used, len(queries), len(body) / 1024, is_pending, answer.status_code)


def measure(client: Any, address: str) -> list[str]:
    """Print the line of a page; return which bounds it misses."""
    began = time.perf_counter()
    first = found = visit(client, address)
    while found.is_pending and time.perf_counter() - began < GIVE_UP_SECONDS:
        time.sleep(0.1)
        found = visit(client, address)
    numbers = time.perf_counter() - began
    again = min((visit(client, address) for _ in range(3)), key=lambda one: one.seconds)
    statistics = Statistics()
    with statistics.watched():
        visit(client, address)
    print(
        f"{address:44s} {found.status:4d} {first.seconds:7.3f} {numbers:8.1f} {again.seconds:7.3f} "
        f"{again.used:7.3f} {statistics.seconds:8.3f} {again.queries:5d} {again.size:8.0f}",
        flush=True,
    )
    missed = [f"{name} {seconds:.2f} s" for name, seconds, bound in (
        ("first answer", first.seconds, ANSWER_SECONDS),
        ("numbers", numbers, NUMBERS_SECONDS),
        ("unchanged", again.seconds, ANSWER_SECONDS),
    ) if seconds > bound]  # fmt: skip
    return [f"{address}: {', '.join(missed)}"] if missed else []


def addresses(campaign: Any) -> list[str]:
    """Every page that reads judgments, and those around them."""
    from annotation.models import Output

    output = Output.objects.filter(items__campaign=campaign).order_by("pk").first()
    own = [f"/campaigns/{campaign.slug}/{name}" for name in OF_CAMPAIGN]
    test_set = f"/testsets/{campaign.test_set.slug}/"
    study = [f"/studies/{campaign.study}/{name}" for name in ("", "quality/", "systems/")]
    return [
        "/", *BESIDES, *own, f"/campaigns/{campaign.slug}/outputs/{output.pk if output else 0}/",
        test_set, f"{test_set}preferences/", *study, f"/compare/?campaign={campaign.slug}",
        f"/api/results/{campaign.slug}/",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="parts of addresses; all without")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    given = refuse_repeats(parser).parse_args()
    prepare(given.database)
    from django.test import Client

    from annotation.models import Campaign, Judgment
    from tests.world import make_user

    campaign = Campaign.objects.filter(slug="crowd").first()
    if campaign is None:
        campaign, reader = plant(), make_user("reader", "researcher")
    else:
        from django.contrib.auth.models import User

        reader = User.objects.get(username="reader")
    n = Judgment.objects.filter(assignment__annotator__campaign=campaign).count()
    print(f"{n:,} judgments by {campaign.annotators.count():,} workers")
    client = Client(SERVER_NAME="localhost")
    client.force_login(reader)
    client.get("/login/")  # What is loaded once.
    wanted = [
        one for one in addresses(campaign)
        if not given.pages or any(part in one for part in given.pages)
    ]  # fmt: skip
    print(
        f"{'address':44s} code   first  numbers   again   used  statist. queries   KiB", flush=True
    )
    with Processes().started():
        missed = [line for one in wanted for line in measure(client, one)]
    print("\n".join(["Bounds missed:", *missed]) if missed else "All within the bounds.")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
