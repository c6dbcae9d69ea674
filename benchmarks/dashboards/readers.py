"""Twenty researchers read twenty pages of crowd data while judgments come and a metric scores.

    OMP_NUM_THREADS=1 python -m benchmarks.dashboards.readers [--database postgres] [--minutes 4]

The campaign is that of `benchmarks.crowd`: 36,000 judgments of 200 workers and 18 measures. Web
server and workers are processes as users start them. The readers behave as `static/js/fresh.js`
does: a page is asked again at once with its tag, and then after one second where it waits for newer
numbers, after four where not; after ten seconds a reader goes on to the next page. One judgment is
stored a second. Half of the time, in turns, there are neither readers nor judgments: the peer of
the metric run that goes on all the time.

Prints median, p95 and worst of the pages' answers; for each page the age of its numbers (how long
ago what they rest on was read); the texts a second of the metric run beside readers as a ratio of
those without; where the processors' time goes, and what ratio documents would leave that took
none of it; how often each document was computed; peak memory of the processes. The bounds are 1 s
for the p95 of a page, 0.9 for that ratio and 500 MB for a process of documents.

PostgreSQL is DATABASE_URL, or a database named `crowd` on this machine. Nothing in it is removed.
"""

import argparse
import os
import random
import re
import signal
import statistics
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from typing import Any

from benchmarks.processes import MACHINE, Processes
from metaeval.repeats import refuse_repeats

READERS, SOON, LATER, STAY = 20, 1.0, 4.0, 10.0
# Who serves pages and the run, but for scoring itself.
SERVING = ("web", "PostgreSQL", "Redis")
PAGE_SECONDS, KEPT_RATE, MEMORY_MB = 1.0, 0.9, 500
TURN_SECONDS = 20.0
OF_CAMPAIGN = (
    *("dashboard/", "correlations/", "significance/", "layers/", "scatter/", "systems/"),
    *("whatif/", "samplesize/", "report/", "bundle/", "quality/", "monitor/", "power/"),
    *(f"{page}/?scores=raw" for page in ("dashboard", "correlations", "systems", "significance")),
)
AS_OF = re.compile(r'As of <time datetime="([^"]+)"')


def addresses(campaign: Any) -> list[str]:
    study = f"/studies/{campaign.study}/"
    others = [study, f"{study}quality/", f"/compare/?campaign={campaign.slug}"]
    return [*(f"/campaigns/{campaign.slug}/{page}" for page in OF_CAMPAIGN), *others]


@dataclass
class Notes:
    """What the readers saw; threads append alone."""

    seconds: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    ages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    empty: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Reader(threading.Thread):
    """Goes from page to page while `is_reading`, and looks at each as its script does."""

    def __init__(
        self, number: int, port: int, cookie: str, pages: list[str], notes: Notes,
        is_reading: threading.Event, is_over: threading.Event,
    ) -> None:  # fmt: skip
        super().__init__(daemon=True)
        self.rng = random.Random(number)
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookie, self.notes = cookie, notes
        self.pages = pages[number % len(pages) :] + pages[: number % len(pages)]
        self.is_reading, self.is_over = is_reading, is_over

    def run(self) -> None:
        while not self.is_over.is_set():
            for page in self.pages:
                self.is_reading.wait()
                if self.is_over.is_set():
                    return
                self.read(page)

    def read(self, page: str) -> None:
        until, tag, is_opening = time.monotonic() + STAY, "", True
        while time.monotonic() < until and self.is_reading.is_set():
            if self.is_over.is_set():
                return
            try:
                tag, is_pending = self.look(page, tag)
            except (OSError, HTTPException) as error:
                self.connection.close()
                self.notes.problems.append(f"{page}: {error!r}")
                is_pending, is_opening = False, False
            if is_opening:
                is_opening = False
                continue
            time.sleep((SOON if is_pending else LATER) * self.rng.uniform(0.9, 1.1))

    def look(self, page: str, tag: str) -> tuple[str, bool]:
        headers = {"Cookie": self.cookie, "Host": "localhost"} | (
            {"If-None-Match": tag} if tag else {}
        )
        # gunicorn closes a connection that is idle for longer than 2 seconds.
        self.connection.close()
        began = time.perf_counter()
        self.connection.request("GET", page, headers=headers)
        answer = self.connection.getresponse()
        body = answer.read().decode()
        self.notes.seconds.append(time.perf_counter() - began)
        if answer.status == 304:
            return tag, True
        if answer.status != 200:
            self.notes.problems.append(f"{page}: {answer.status}")
            return "", False
        self.notes.sizes[page] = max(len(body), self.notes.sizes.get(page, 0))
        if found := AS_OF.search(body):
            age = datetime.now(UTC) - datetime.fromisoformat(found[1])
            self.notes.ages[page].append(age.total_seconds())
        elif "result-state" in body:
            self.notes.empty[page] += 1
        return answer.headers.get("ETag", ""), "data-fresh-at" in body


class Judge(threading.Thread):
    """Stores one judgment a second while `is_reading`."""

    def __init__(
        self, campaign: Any, is_reading: threading.Event, is_over: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self.campaign, self.is_reading, self.is_over = campaign, is_reading, is_over
        self.n_stored = 0

    def run(self) -> None:
        from annotation.models import Annotator, Assignment, Item, Judgment

        label = f"late {uuid.uuid4().hex[:6]}"
        late = Annotator.objects.create(campaign=self.campaign, label=label)
        items = Item.objects.filter(campaign=self.campaign, kind=Item.Kind.TARGET).order_by("pk")
        for place, item in enumerate(items.iterator()):
            self.is_reading.wait()
            if self.is_over.is_set():
                return
            now = datetime.now(UTC)
            given = Assignment.objects.create(
                annotator=late, item=item, position=place, completed_at=now
            )
            Judgment.objects.create(
                assignment=given, score=(37 * place) % 101, submit_key=uuid.uuid4(),
                started_at=now, submitted_at=now, active_ms=9_000, paid_ms=9_000,
            )  # fmt: skip
            self.n_stored += 1
            time.sleep(1.0)


@dataclass
class Turn:
    """A stretch of time with or without readers: texts scored, processor seconds by name.

    `documents` are those computed in it, by kind and time, with the seconds each took.
    """

    is_busy: bool
    seconds: float
    texts: int
    used: dict[str, float]
    documents: dict[tuple[str, datetime], float]

    @property
    def rate(self) -> float:
        """Texts a second."""
        return self.texts / self.seconds


def turns(
    run: Any, minutes: float, is_reading: threading.Event, processes: Processes
) -> Iterator[Turn]:
    """Readers come and go; what a turn begins with is not counted.

    Without readers nothing is computed of what they asked for.
    """
    for number in range(2 * max(1, round(minutes * 60 / TURN_SECONDS / 2))):
        is_busy = number % 2 == 1
        (is_reading.set if is_busy else is_reading.clear)()
        known = watch(processes, 4.0)
        while not is_busy and in_hand():
            known |= watch(processes, 1.0)
        began, before, used = time.monotonic(), done(run), processes.seconds()
        documents = watch(processes, TURN_SECONDS)
        seconds, texts, after = time.monotonic() - began, done(run) - before, processes.seconds()
        yield Turn(
            is_busy, seconds, texts, {name: after[name] - used[name] for name in used},
            {key: took for key, took in documents.items() if key not in known},
        )  # fmt: skip


def in_hand() -> bool:
    """Withdraw the documents that nobody reads any more; whether one is still being computed."""
    from core.work.claims import cancel
    from dashboards.models import Analysis

    cancel(Analysis.objects.filter(status=Analysis.Status.QUEUED))
    return Analysis.objects.filter(status=Analysis.Status.RUNNING).exists()


def watch(processes: Processes, seconds: float) -> dict[tuple[str, datetime], float]:
    """Look at processes and documents for so long; return the documents that were there."""
    from dashboards.models import Analysis

    until, found = time.monotonic() + seconds, {}
    rows = Analysis.objects.exclude(as_of=None).values_list("kind", "as_of", "seconds")
    while time.monotonic() < until:
        processes.look()
        found |= {(kind, as_of): took or 0.0 for kind, as_of, took in rows.all()}
        time.sleep(0.5)
    return found


def done(run: Any) -> int:
    run.refresh_from_db()
    return int(run.done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--minutes", type=float, default=4)
    given = refuse_repeats(parser).parse_args()
    # Ended by a signal, too, it stops what it started.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    from benchmarks import crowd

    crowd.prepare(given.database)
    from django.test import Client

    from annotation.models import Campaign
    from benchmarks.annotation.browsing import Server
    from benchmarks.planting import plant_scored
    from benchmarks.processes import services
    from metrics.runs import starting
    from tests.world import make_user

    campaign = Campaign.objects.filter(slug="crowd").first() or crowd.plant()
    client = Client()
    client.force_login(make_user(f"reader-{uuid.uuid4().hex[:6]}", "researcher"))
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    (run,) = starting.start(test_set=plant_scored(10_000), metrics=["ter"]).runs
    is_reading, is_over, notes = threading.Event(), threading.Event(), Notes()
    pages, processes, server = addresses(campaign), Processes(), Server()
    processes.roots |= {"web": server.process.pid, **services()}
    readers = [
        Reader(number, server.port, cookie, pages, notes, is_reading, is_over)
        for number in range(READERS)
    ]
    judge = Judge(campaign, is_reading, is_over)
    try:
        with processes.started():
            for thread in (*readers, judge):
                thread.start()
            while not done(run):
                time.sleep(0.5)
            found = list(turns(run, given.minutes, is_reading, processes))
            is_over.set()
            is_reading.set()
            for thread in readers:
                thread.join()
    finally:
        server.stop()
    is_met = report(notes, found, processes, judge.n_stored)
    sys.exit(not is_met)


def report(notes: Notes, found: list[Turn], processes: Processes, n_judgments: int) -> bool:
    times = sorted(notes.seconds)
    p95 = times[int(0.95 * len(times))]
    print(f"{len(times):,} answers, {n_judgments} judgments, median "
          f"{statistics.median(times):.3f} s, p95 {p95:.3f} s, worst {times[-1]:.3f} s; "
          f"largest page {max(notes.sizes.values()) / 1024:.0f} KiB")  # fmt: skip
    print(f"{'page':52s} numbers' age: median   worst   looks without numbers")
    for page in sorted(notes.sizes):
        ages = notes.ages[page] or [float("nan")]
        print(
            f"{page:52s} {statistics.median(ages):20.0f} {max(ages):7.0f} {notes.empty[page]:10d}"
        )
    alone = [turn.rate for turn in found if not turn.is_busy]
    beside = [turn.rate for turn in found if turn.is_busy]
    ratios = sorted(b / a for a, b in zip(alone, beside, strict=True) if a)
    ratio = statistics.median(ratios)
    print(f"texts a second: alone {statistics.median(alone):.0f}, beside readers "
          f"{statistics.median(beside):.0f}, ratio {ratio:.2f} "
          f"({ratios[0]:.2f} to {ratios[-1]:.2f})")  # fmt: skip
    spending(found)
    for name, peak in processes.peak.items():
        print(f"{name:16s} peak {peak:.0f} MiB a process")
    for problem, n in Counter(notes.problems).most_common(5):
        print(f"{n} x {problem}")
    largest = max((mb for name, mb in processes.peak.items() if "documents" in name), default=0)
    return (
        p95 <= PAGE_SECONDS and ratio >= KEPT_RATE and largest <= MEMORY_MB and not notes.problems
    )


def spending(found: list[Turn]) -> None:
    """Print where the processors' time goes, as processors of this machine, and what is left."""
    alone, beside = (averaged([t for t in found if t.is_busy is busy]) for busy in (False, True))
    print(f"{'processors taken by':24s} {'alone':>8s} {'beside readers':>16s}")
    for name in beside:
        print(f"{name:24s} {alone[name]:8.2f} {beside[name]:16.2f}")
    texts = [sum(t.texts for t in found if t.is_busy is busy) for busy in (False, True)]
    seconds = [sum(t.used["scoring"] for t in found if t.is_busy is b) for b in (False, True)]
    a_second = [n / used if used else 0.0 for n, used in zip(texts, seconds, strict=True)]
    print(f"texts a processor second of scoring: {a_second[0]:.0f} alone, {a_second[1]:.0f} beside")
    served = sum(beside[name] for name in beside if name in SERVING)
    free = min(1.0, (os.cpu_count() or 1) - served) / alone["scoring"] * a_second[1] / a_second[0]
    print(f"at best, had documents and readers other machines: {min(1.0, free):.2f}")
    computed: dict[str, list[float]] = defaultdict(list)
    for turn in found:
        for (kind, _), took in turn.documents.items():
            computed[kind].append(took)
    for kind, took in sorted(computed.items(), key=lambda each: -sum(each[1])):
        print(f"{kind:24s} computed {len(took):4d} times, {statistics.mean(took):6.1f} s each")


def averaged(turns: list[Turn]) -> dict[str, float]:
    """Processors that each had on average; `others` have what nobody here took."""
    seconds = sum(turn.seconds for turn in turns)
    found = {name: sum(t.used[name] for t in turns) / seconds for name in turns[0].used}
    return found | {"others": 2 * found[MACHINE] - sum(found.values())}


if __name__ == "__main__":
    main()
