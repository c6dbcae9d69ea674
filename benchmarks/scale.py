"""A site with 300 campaigns, 2,000 accounts and a million judgments, beside one with 3 campaigns.

    OMP_NUM_THREADS=1 python -m benchmarks.scale [--campaigns 300] [--judgments 3000]

On a new database of the PostgreSQL server of DATABASE_URL, removed afterwards. Every address that
an admin can open and that names no object is asked (lists of pages and of the API), on the small
site and on the large one, with the pages of one campaign of 100,000 judgments. Prints milliseconds
from request to answer, the best of five, and the number of queries; what takes more than 300 ms,
or more than twice as long as on the small site, is bold, and then the exit status is 1. There is no
peer. At last the judgments of the largest campaign are exported: rows a second, and the peak of
memory beside that before.
"""

import argparse
import os
import resource
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

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
MS, GROWTH, TURNS = 300, 2, 5
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
        [Annotator(campaign=campaign, label=f"A{n}") for n in range(people)]
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


def measure(client: Client, address: str) -> tuple[float, int] | None:
    """Return milliseconds and queries; None for what is no page that can be read."""
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
    times = []
    for _ in range(TURNS):
        began = time.perf_counter()
        b"".join(client.get(address))
        times.append((time.perf_counter() - began) * 1000)
    return min(times), len(asked)


def export(client: Client, slug: str, rows: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    size = sum(map(len, client.get(f"/campaigns/{slug}/export/csv/")))
    took = time.perf_counter() - began
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"\nexport of {rows:,} judgments: {took:.1f} s, {rows / took:,.0f} rows a second, "
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
    print(f"| address | 3 campaigns: ms, queries | {args.campaigns} campaigns: ms, queries |")
    print("| --- | --- | --- |")
    for address, (ms, queries) in small.items():
        found = measure(client, address)
        now, asked = found or (float("inf"), 0)
        is_slow = now > MS or (now > GROWTH * ms and now > 50)
        shown = f"**{now:.0f}**" if is_slow else f"{now:.0f}"
        print(f"| {address} | {ms:.0f}, {queries} | {shown}, {asked} |")
        missed += [address] * is_slow
    for end, bound in OF_LARGEST.items():
        address = f"/campaigns/largest/{end}"
        now, asked = measure(client, address) or (float("inf"), 0)
        print(f"| {address} | | {f'**{now:.0f}**' if now > bound else f'{now:.0f}'}, {asked} |")
        missed += [address] * (now > bound)
    export(client, "largest", args.largest)
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=300)
    parser.add_argument("--judgments", type=int, default=3_000, help="of each campaign")
    parser.add_argument("--largest", type=int, default=100_000, help="judgments of one campaign")
    parser.add_argument("--accounts", type=int, default=2_000)
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
