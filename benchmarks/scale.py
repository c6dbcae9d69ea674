"""A site with 300 campaigns, 2,000 accounts and a million judgments, beside one with 3 campaigns.

    OMP_NUM_THREADS=1 python -m benchmarks.scale [--campaigns 300] [--judgments 3000]

On a new database of the PostgreSQL server of DATABASE_URL, removed afterwards. Every address that
an admin can open and that names no object is asked (lists of pages and of the API), on the small
site and on the large one, with the pages of one campaign of 100,000 judgments. Prints milliseconds
from request to answer and of the processor (this process and its server process of PostgreSQL, on
one machine), each the best of five, and the number of queries; what takes more than 300 ms, or more
than 50 ms and twice as long as on the small site, is bold, and then the exit status is 1: whether a
page takes 5 or 15 ms, nobody sees. With `--processor`
those of the processor are judged: on a machine that others use, too. There is no peer. At last the
judgments of the largest campaign are exported: rows a second, and the peak of memory beside that
before.
"""

import argparse
import os
import resource
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
SERVER = os.environ.get("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
NAME = f"scale_{uuid.uuid4().hex[:8]}"
os.environ["DATABASE_URL"] = f"{SERVER.rpartition('/')[0]}/{NAME}"
os.environ["SECRET_KEY"] = "benchmark"  # noqa: S105
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django
import psycopg

django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output, TestSet
from annotation.models.people import Membership
from benchmarks.planting import BATCH, analysed, make_corpus
from metaeval.repeats import refuse_repeats

STATES = ("open", "closed", "closed", "draft")
MS, GROWTH, UNSEEN, TURNS = 300, 2, 50, 5
# A campaign's pages that list what is in it, and their bounds in milliseconds.
OF_LARGEST = {
    "access/": 500, "monitor/": 500, "export/": 500, "preview/": 500,
}  # fmt: skip
# Addresses that answer with no list: what signs in or out, checks the server, or draws.
PASSED = (
    "logout",
    "login",
    "healthz",
    "readyz",
    "static",
    "jsi18n",
    "admin",
    "schema",
    "prometheus",
    "offline",
)


def plant(campaigns: int, judgments: int, accounts: int) -> None:
    """Store campaigns up to a number, each with a number of judgments by three people."""
    known = User.objects.count()
    users = [
        User(username=f"user-{n}", email=f"user-{n}@example.org") for n in range(known, accounts)
    ]
    User.objects.bulk_create(users, batch_size=BATCH)
    everybody = list(User.objects.order_by("pk").values_list("pk", flat=True))
    test_set: TestSet | None = None
    for number in range(Campaign.objects.count(), campaigns):
        if test_set is None or number % 5 == 0:
            test_set = make_corpus(f"texts-{number}", segments=judgments // 10, systems=10)
        campaign = Campaign.objects.create(
            slug=f"campaign-{number}", name=f"Campaign {number}", test_set=test_set,
            status=STATES[number % 4], study=f"study-{number % 40}" if number % 3 else "",
        )  # fmt: skip
        campaign.systems.set(test_set.systems.all())
        Membership.objects.bulk_create(
            Membership(campaign=campaign, user_id=everybody[(number * 7 + n) % len(everybody)])
            for n in range(min(3, len(everybody)))
        )
        rate(campaign, people=3)


def rate(campaign: Campaign, people: int) -> None:
    """Store one judgment of every output."""
    now = timezone.now()
    items = Item.objects.bulk_create(
        [
            Item(campaign=campaign, segment_id=segment, output_id=output)
            for output, segment in Output.objects.filter(
                system__test_set=campaign.test_set
            ).values_list("pk", "segment")
        ],
        batch_size=BATCH,
    )
    annotators = Annotator.objects.bulk_create(
        [Annotator(campaign=campaign, label=f"A{n}", answered_at=now) for n in range(people)]
    )
    given = Assignment.objects.bulk_create(
        [
            Assignment(
                annotator=annotators[n % people], item=item, position=n // people,
                completed_at=now,
            )
            for n, item in enumerate(items)
        ],
        batch_size=BATCH,
    )  # fmt: skip
    Judgment.objects.bulk_create(
        [
            Judgment(
                assignment=one, score=one.position * 37 % 101, submit_key=uuid.uuid4(),
                started_at=now, submitted_at=now,
            )
            for one in given
        ],
        batch_size=BATCH,
    )  # fmt: skip


def addresses(
    patterns: list[URLPattern | URLResolver] | None = None, start: str = "/"
) -> Iterator[str]:
    """Yield the addresses that name no object, from the project's own patterns."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        part = str(each.pattern)
        if set("<>(\\[") & set(part.replace(r"\Z", "")):
            continue
        address = start + part.lstrip("^").replace(r"\Z", "").rstrip("$")
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, address)
        elif not any(word in address for word in PASSED):
            yield address


class Taken(NamedTuple):
    """Milliseconds from request to answer and of the processor, and queries."""

    ms: float
    processor: float
    queries: int

    def __str__(self) -> str:
        return f"{self.ms:.0f}, {self.processor:.0f}, {self.queries}"


def processor() -> float:
    """Return milliseconds of the processor, here and in the server process of the database."""
    server = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    elsewhere = int(server.read_text().split()[0]) / 1e6 if server.exists() else 0.0
    return time.process_time() * 1000 + elsewhere


def measure(client: Client, address: str) -> Taken | None:
    """Return what an address takes; None for what is no page that can be read."""
    try:
        answer = client.get(address)
    except Exception as error:
        print(f"{address}: {error!r}")
        return None
    if answer.status_code != 200:
        return None
    asked: list[str] = []

    def count(execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        asked.append(sql)
        return execute(sql, *given)

    with connection.execute_wrapper(count):
        b"".join(client.get(address))
    connection.ensure_connection()
    times, worked = [], []
    for _ in range(TURNS):
        began, before = time.perf_counter(), processor()
        b"".join(client.get(address))
        times.append((time.perf_counter() - began) * 1000)
        worked.append(processor() - before)
    return Taken(min(times), min(worked), len(asked))


def shown(taken: Taken | None, is_slow: bool) -> str:
    return f"**{taken}**" if is_slow else f"{taken}"


def export(client: Client, slug: str, rows: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, worked = time.perf_counter(), processor()
    size = sum(map(len, client.get(f"/campaigns/{slug}/export/csv/")))
    took, worked = time.perf_counter() - began, (processor() - worked) / 1000
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"\nexport of {rows:,} judgments: {took:.1f} s, {worked:.1f} s of the processor, "
        f"{rows / took:,.0f} rows a second, {rows / worked:,.0f} of the processor, "
        f"{size / 2**20:.0f} MiB, {more:.0f} MiB more memory"
    )


def compare(args: argparse.Namespace) -> list[str]:
    """Plant, measure and print; return the addresses beyond a bound."""
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("reader"))
    plant(3, args.judgments, accounts=20)
    analysed()
    small = {
        address: measured
        for address in sorted(set(addresses()))
        if (measured := measure(client, address))
    }
    began = time.perf_counter()
    plant(args.campaigns - 1, args.judgments, accounts=args.accounts)
    test_set = make_corpus("largest", segments=args.largest // 10, systems=10)
    largest = Campaign.objects.create(
        slug="largest", name="Largest", test_set=test_set, status="open"
    )
    largest.systems.set(test_set.systems.all())
    rate(largest, people=50)
    analysed()
    print(f"{Judgment.objects.count():,} judgments stored in {time.perf_counter() - began:.0f} s\n")
    missed = []

    def judged(taken: Taken | None) -> float:
        return taken[args.processor] if taken else float("inf")

    print("ms, processor, queries:")
    print(f"| address | 3 campaigns | {args.campaigns} campaigns |\n| --- | --- | --- |")
    for address, before in small.items():
        found = measure(client, address)
        now = judged(found)
        is_slow = now > MS or now > max(GROWTH * judged(before), UNSEEN)
        print(f"| {address} | {before} | {shown(found, is_slow)} |")
        missed += [address] * is_slow
    for end, bound in OF_LARGEST.items():
        address = f"/campaigns/largest/{end}"
        found = measure(client, address)
        is_slow = judged(found) > bound
        print(f"| {address} | | {shown(found, is_slow)} |")
        missed += [address] * is_slow
    export(client, "largest", args.largest)
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=300)
    parser.add_argument("--judgments", type=int, default=3_000, help="of each campaign")
    parser.add_argument("--largest", type=int, default=100_000, help="judgments of one campaign")
    parser.add_argument("--accounts", type=int, default=2_000)
    parser.add_argument("--processor", action="store_true", help="judge by the processor's time")
    args = refuse_repeats(parser).parse_args()
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
    try:
        missed = compare(args)
    finally:
        connection.close()
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")
    if missed:
        raise SystemExit(f"beyond a bound: {', '.join(missed)}")


if __name__ == "__main__":
    main()
