"""The list of campaigns with 30 and with 300 of them, 600 assignments each, on SQLite.

    OMP_NUM_THREADS=1 python -m benchmarks.dashboards.home

Prints milliseconds of the processor, queries and KiB of an answer, the mean of five. There is no
peer: the bounds are 300 ms, 20 queries and 100 KiB.
"""

import os
import tempfile
import time

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotator, Assignment, Campaign, Item, Output, TestSet
from benchmarks.planting import BATCH, make_corpus
from core.work.models import Now

STATES = ("open", "closed", "closed", "draft")
QUERIES = ("", "?sort=activity", "?sort=name", "?q=campaign+1")
TURNS, MS, MOST_QUERIES, KIB = 5, 300, 20, 100


def plant(test_set: TestSet, number: int) -> None:
    """A campaign of three people with all outputs each, two thirds of them rated."""
    campaign = Campaign.objects.create(
        slug=f"c{number}", name=f"Campaign {number}", test_set=test_set,
        status=STATES[number % 4], study=f"study-{number % 7}",
    )  # fmt: skip
    outputs = Output.objects.filter(system__test_set=test_set)
    items = [Item(campaign=campaign, segment_id=o.segment_id, output=o) for o in outputs]
    stored = Item.objects.bulk_create(items, batch_size=BATCH)
    for label in "ABC":
        person = Annotator.objects.create(campaign=campaign, label=label)
        given = [
            Assignment(
                annotator=person, item=item, position=place,
                completed_at=Now() if place % 3 else None,
            )
            for place, item in enumerate(stored)
        ]  # fmt: skip
        Assignment.objects.bulk_create(given, batch_size=BATCH)


def measure(client: Client, query: str) -> tuple[float, int, int]:
    address = f"/campaigns/{query}"
    client.get(address)
    began = time.process_time()
    for _ in range(TURNS):
        answer = client.get(address)
    took = (time.process_time() - began) * 1000 / TURNS
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return took, len(asked), len(answer.content) // 1024


def main() -> None:
    call_command("migrate", verbosity=0)
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("reader"))
    test_set = make_corpus("home", segments=100, systems=2)
    missed = []
    for goal in (30, 300):
        for number in range(Campaign.objects.count(), goal):
            plant(test_set, number)
        for query in QUERIES:
            took, queries, size = measure(client, query)
            print(
                f"{goal:4d} {query or 'as it comes':16s} {took:4.0f} ms {queries:3d} {size:3d} KiB"
            )
            if took > MS or queries > MOST_QUERIES or size > KIB:
                missed.append(f"{goal} {query}")
    assert not missed, missed


if __name__ == "__main__":
    main()
