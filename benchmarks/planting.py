"""Campaigns for the load scripts; imported once Django is set up."""

import random
import uuid
from datetime import UTC, datetime
from decimal import Decimal

from django.db import connection

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import (
    Campaign,
    Output,
    Reference,
    Segment,
    System,
    TestSet,
)
from annotation.models.corpus import content_key

BATCH = 2_000
FIRST = datetime(2026, 3, 2, 8, tzinfo=UTC)


def make_corpus(slug: str, *, segments: int, systems: int) -> TestSet:
    """A test set of made-up texts, stored in batches."""
    test_set = TestSet.objects.create(
        slug=slug, name=slug, source_language="zh", target_language="en"
    )
    rows = Segment.objects.bulk_create(
        [
            Segment(
                test_set=test_set, position=n, key=str(n + 1), source=f"源文第{n}句，港口很安静。"
            )
            for n in range(segments)
        ],
        batch_size=BATCH,
    )
    Reference.objects.bulk_create(
        [Reference(segment=row, text=f"Sentence {row.position}: the harbour.") for row in rows],
        batch_size=BATCH,
    )
    for n in range(systems):
        system = System.objects.create(test_set=test_set, name=f"system-{n}")
        outputs = []
        for row in rows:
            text = f"Sentence {row.position} by number {n}: the harbour was quiet all day."
            key = content_key(row.source, [], text)
            outputs.append(Output(system=system, segment=row, text=text, content_key=key))
        Output.objects.bulk_create(outputs, batch_size=BATCH)
    return test_set


def plant_scored(segments: int = 5_000, systems: int = 10) -> TestSet:
    """A test set of outputs that are all different, and new each time: TER takes long to score."""
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("al", "en", "or", "ust", "ink")]
    test_set = TestSet.objects.create(
        slug=f"scored-{uuid.uuid4().hex[:6]}", name="Scored", source_language="de",
        target_language="en",
    )  # fmt: skip
    rng = random.Random(test_set.slug)
    rows = Segment.objects.bulk_create(
        [Segment(test_set=test_set, position=n, key=str(n), source=f"Satz {n}")
         for n in range(segments)], batch_size=BATCH,
    )  # fmt: skip
    texts = {row.pk: " ".join(rng.choices(words, k=25)) for row in rows}
    Reference.objects.bulk_create(
        [Reference(segment=row, text=texts[row.pk]) for row in rows], batch_size=BATCH
    )
    for number in range(systems):
        system = System.objects.create(test_set=test_set, name=f"system-{number}")
        outputs = []
        for row in rows:
            told = texts[row.pk].split()
            for _ in range(6):
                told.insert(rng.randrange(len(told)), told.pop(rng.randrange(len(told))))
            told[rng.randrange(len(told))] = f"{number}"
            text = " ".join(told)
            key = content_key(row.source, [texts[row.pk]], text)
            outputs.append(Output(system=system, segment=row, text=text, content_key=key))
        Output.objects.bulk_create(outputs, batch_size=BATCH)
    analysed()
    return test_set


def make_campaign(
    slug: str, *, mode: str, segments: int, systems: int, annotators: int, per_item: int
) -> tuple[Campaign, list[str]]:
    """A draft with personal links; returns their tokens too."""
    test_set = make_corpus(slug, segments=segments, systems=systems)
    campaign = Campaign.objects.create(
        slug=slug, name=slug, test_set=test_set, length_ratio=Decimal(1), assignment_mode=mode,
        annotators_per_item=per_item, traps_per_annotator=0,
    )  # fmt: skip
    campaign.systems.set(test_set.systems.all())
    return campaign, [one.token for one in add_annotators(campaign=campaign, links=annotators)]


def planted(
    slug: str, *, mode: str, segments: int, systems: int, annotators: int, per_item: int
) -> tuple[Campaign, list[str]]:
    """The same, open."""
    campaign, tokens = make_campaign(
        slug, mode=mode, segments=segments, systems=systems, annotators=annotators,
        per_item=per_item,
    )  # fmt: skip
    return open_campaign(campaign=campaign), tokens


def analysed() -> None:
    """Analyze the tables, as autovacuum of PostgreSQL does within a minute."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
