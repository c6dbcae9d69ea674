"""A campaign with 100,000 items: open it, claim in it, export it; times and peak memory.

    python -m benchmarks.annotation.large_campaign [--items 100000] [--mode pool]

Every step runs in a process of its own, so that the peak is the step's; `idle` is a process that
only loads the project. SQLite in a temporary folder, or DATABASE_URL.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from typing import Any

from metaeval.repeats import refuse_repeats

STEPS = ("idle", "upload", "open", "claim", "rate", "export-csv", "export-json")
SYSTEMS, PER_ITEM, BATCH = 10, 1, 2_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--mode", choices=("static", "pool", "active"), default="pool")
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--slug", default=f"large-{uuid.uuid4().hex[:8]}")
    args = refuse_repeats(parser).parse_args()
    if args.step is None:
        os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-large-")
        own = ["--items", str(args.items), "--mode", args.mode, "--slug", args.slug]
        for step in STEPS:
            command = [
                sys.executable,
                "-m",
                "benchmarks.annotation.large_campaign",
                "--step",
                step,
                *own,
            ]
            subprocess.run(command, check=True)
        return
    os.environ.setdefault("SECRET_KEY", "benchmark")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    began = time.perf_counter()
    told = take(args)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{args.step}: {seconds:.1f} s, peak {peak:.0f} MiB{told}", flush=True)


def take(args: argparse.Namespace) -> str:
    from django.core.management import call_command

    from annotation.campaigns import open_campaign
    from annotation.exports import judgments_response
    from annotation.models import Campaign
    from benchmarks import planting

    if args.step == "idle":
        call_command("migrate", verbosity=0)
        return ""
    if args.step == "upload":
        planting.make_campaign(
            args.slug, mode=args.mode, segments=args.items // SYSTEMS, systems=SYSTEMS,
            annotators=10, per_item=PER_ITEM,
        )  # fmt: skip
        return ""
    campaign = Campaign.objects.get(slug=args.slug)
    if args.step == "open":
        open_campaign(campaign=campaign)
        return f", {campaign.items.count():,} items"
    if args.step == "claim":
        return claim(campaign)
    if args.step == "rate":
        return rate_all(campaign)
    response: Any = judgments_response(campaign, args.step.partition("-")[2])
    size = sum(len(part) for part in response.streaming_content)
    return f", {size / 2**20:.0f} MiB written"


def claim(campaign) -> str:
    """The time of 200 claims of one annotator, far into the pool and at its start."""
    from django.db import connection, transaction
    from django.test.utils import CaptureQueriesContext
    from django.utils import timezone

    from annotation import pool
    from annotation.models import Annotator, Assignment

    if not pool.has_pool(campaign):
        return ", nothing to claim in fixed shares"
    annotator = Annotator.objects.select_related("campaign").filter(campaign=campaign)[0]
    times, counts = [], set()
    for _ in range(200):
        with CaptureQueriesContext(connection) as queries:
            began = time.perf_counter()
            with transaction.atomic():
                pool.claim(annotator)
            times.append(1000 * (time.perf_counter() - began))
        counts.add(len(queries))
        Assignment.objects.filter(annotator=annotator).update(completed_at=timezone.now())
    return f", {sorted(counts)} statements, median {statistics.median(times):.1f} ms"


def rate_all(campaign) -> str:
    """A judgment of every item, stored in batches: the claims of the others and their answers."""
    from django.utils import timezone

    from annotation.models import Assignment, Item, Judgment

    now = timezone.now()
    annotators = list(campaign.annotators.order_by("pk"))
    places = [annotator.assignments.count() for annotator in annotators]
    given = Assignment.objects.filter(annotator__campaign=campaign)
    free = campaign.items.filter(assignments=None).values_list("pk", flat=True)
    batch = []
    for number, item in enumerate(list(free)):
        which = number % len(annotators)
        batch.append(
            Assignment(
                annotator=annotators[which], item_id=item, position=places[which],
                claimed_at=now, completed_at=now,
            )
        )  # fmt: skip
        places[which] += 1
    Assignment.objects.bulk_create(batch, batch_size=BATCH)
    given.update(completed_at=now)
    Item.objects.filter(campaign=campaign).update(wanted=0)
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment_id=pk, score=pk % 101, submit_key=uuid.uuid4(), started_at=now,
                submitted_at=now,
            )
            for pk in given.values_list("pk", flat=True)
        ),
        batch_size=BATCH,
    )  # fmt: skip
    return f", {given.count():,} judgments"


if __name__ == "__main__":
    main()
