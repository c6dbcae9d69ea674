"""Campaigns for the load scripts; imported once Django is set up."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Item,
    Judgment,
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


def rate(
    campaign: Campaign,
    outputs: Sequence[Output],
    quality: Sequence[float],
    *,
    annotators: int,
    per_item: int,
    traps: int,
) -> None:
    """Store what annotators with habits of their own gave to outputs and to the same traps.

    A judgment is 0 to 100: of an output 50 + 12 times its quality, the annotator's mildness and
    chance; of a trap mostly low. Times are log-normal around 15 s.
    """
    people = Annotator.objects.bulk_create(
        [Annotator(campaign=campaign, label=f"A{n + 1:02d}") for n in range(annotators)]
    )
    kind = Item.Kind
    targets = Item.objects.bulk_create(
        [Item(campaign=campaign, segment_id=row.segment_id, output=row) for row in outputs],
        batch_size=BATCH,
    )
    cut = Item.objects.bulk_create(
        [
            Item(campaign=campaign, kind=kind.TRAP, segment_id=row.segment_id, text="Sentence")
            for row in outputs[:traps]
        ]
    )
    rng = np.random.default_rng(2)
    mildness = rng.normal(scale=0.5, size=annotators)
    given: list[tuple[int, Item, float]] = [
        (who, item, level + mildness[who] + rng.normal(scale=0.7))
        for number, (item, level) in enumerate(zip(targets, quality, strict=True))
        for who in _raters(number, annotators, per_item)
    ]
    given += [(who, item, rng.normal(-3.8, 0.3)) for who in range(annotators) for item in cut]
    assignments = Assignment.objects.bulk_create(
        [
            Assignment(annotator=people[who], item=item, position=place, completed_at=FIRST)
            for place, (who, item, _) in enumerate(given)
        ],
        batch_size=BATCH,
    )
    scores = np.clip(np.round(50 + 12 * np.array([level for *_, level in given])), 0, 100)
    Judgment.objects.bulk_create(_judgments(assignments, scores, rng), batch_size=BATCH)


def _raters(number: int, annotators: int, per_item: int) -> Sequence[int]:
    """Different annotators of an item, in pairs that change from item to item."""
    step = 1 + number // annotators % (annotators - 1)
    return [(number + step * turn) % annotators for turn in range(per_item)]


def _judgments(
    assignments: Sequence[Assignment], scores: np.ndarray, rng: np.random.Generator
) -> Iterator[Judgment]:
    seconds = rng.lognormal(np.log(15), 0.6, len(scores))
    for number, (row, score) in enumerate(zip(assignments, scores.tolist(), strict=True)):
        start = FIRST + timedelta(seconds=20 * number)
        spent = timedelta(seconds=float(seconds[number]))
        yield Judgment(
            assignment=row, score=int(score), submit_key=uuid.UUID(int=number + 1),
            started_at=start, submitted_at=start + spent,
            paid_ms=int(1000 * seconds[number]), active_ms=int(900 * seconds[number]),
        )  # fmt: skip
