"""The pages of results over 18 measures, 15 systems and 2,000 segments, every output rated twice.

    OMP_NUM_THREADS=1 python -m benchmarks.dashboards [--segments 2000] [--published] [PAGE ...]

Thirty annotators give 60,000 judgments of outputs and ten of traps each; with `--published` the
same human scores come without judgments, as published data sets have them, so that the dashboard
has hardly anything to compute.

Prints seconds (elapsed, and of the processor) in which a worker computes each document of a page,
then those of the page when nothing has changed, and its size. There is no peer that serves such
pages; the bounds are 5 s for fresh numbers, 0.3 s for an unchanged page and 100 KiB for its size.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

import numpy as np
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Output, PublishedScore
from benchmarks.planting import make_corpus, rate
from benchmarks.scores import plant_scores
from dashboards import results
from dashboards.models import Analysis
from tests.world import make_user

SYSTEMS, ANNOTATORS = 15, 30
PAGES = ("correlations", "significance", "systems", "scatter", "dashboard")


def plant(segments: int, is_published: bool) -> Campaign:
    """A campaign whose humans and metrics share a quality, with noise of their own."""
    test_set = make_corpus("large", segments=segments, systems=SYSTEMS)
    campaign = Campaign.objects.create(slug="large", name="Large", test_set=test_set)
    campaign.systems.set(test_set.systems.all())
    outputs = list(Output.objects.filter(system__test_set=test_set).order_by("pk"))
    rng = np.random.default_rng(1)
    quality = rng.normal(size=len(outputs)) + [0.1 * (row.system_id % SYSTEMS) for row in outputs]
    human = quality + rng.normal(size=len(outputs))
    if is_published:
        PublishedScore.objects.bulk_create(
            [
                PublishedScore(campaign=campaign, output=row, value=float(value))
                for row, value in zip(outputs, human, strict=True)
            ],
            batch_size=5_000,
        )
    else:
        rate(campaign, outputs, human, annotators=ANNOTATORS, per_item=2, traps=10)
    plant_scores(campaign, outputs, quality, rng)
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.CLOSED)
    campaign.refresh_from_db()
    return campaign


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Return elapsed seconds and those of the processor."""
    began, used = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - began, time.process_time() - used


def measure(page: str, campaign: Campaign, client: Client) -> None:
    address = reverse(page, args=[campaign.slug])
    client.get(address)  # Asks for its documents.
    for pk, kind in Analysis.objects.filter(status=Analysis.Status.WAITING).values_list(
        "pk", "kind"
    ):
        elapsed, used = timed(partial(results.compute, pk))
        print(f"  {kind:30s} {elapsed:8.1f} s {used:8.1f} s", flush=True)
    client.get(address)  # What is drawn and loaded once.
    again = min(timed(lambda: client.get(address))[0] for _ in range(5))
    size = len(client.get(address).content) / 1024
    print(f"{page:32s} {again:8.3f} s {size:16.0f} KiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=PAGES, metavar="PAGE")
    parser.add_argument("--segments", type=int, default=2_000)
    parser.add_argument("--published", action="store_true", help="scores without judgments")
    given = parser.parse_args()
    call_command("migrate", verbosity=0)
    settings.ANALYSES_IN_PLACE = False
    campaign = plant(given.segments, given.published)
    client = Client(SERVER_NAME="localhost")
    client.force_login(make_user("reader", "researcher"))
    print(f"{'page and its documents':32s} {'elapsed':>10s} {'processor':>10s}")
    for page in given.pages:
        measure(page, campaign, client)


if __name__ == "__main__":
    main()
