"""A campaign of three people who click at random, fast, and see through no trap."""

import random
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from annotation.campaigns import close_campaign, open_campaign
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from metrics.runs import scoring, starting
from tests.dashboards.conftest import DROPPED, add_outputs
from tests.world import make_campaign, make_test_set

PEOPLE = ("P1", "P2", "P3")
SECONDS = 0.3
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def make_clicked(
    slug: str = "clicked",
    seconds: float = SECONDS,
    keep: Callable[[Assignment], bool] = lambda assignment: True,
    systems: Sequence[str] = tuple(DROPPED),
    **fields: object,
) -> Campaign:
    """Outputs of 10 segments by each system and 3 traps for each of 3 people; chrF and BLEU.

    They click on what `keep` says alone.
    """
    test_set = make_test_set(f"{slug}-set", segments=10, systems=())
    for name in systems:
        add_outputs(test_set, name, DROPPED[name])
    campaign = make_campaign(test_set, slug, **{"traps_per_annotator": 3} | fields)
    for label in PEOPLE:
        Annotator.objects.create(campaign=campaign, label=label)
    campaign = open_campaign(campaign=campaign)
    _click(campaign, random.Random(slug), timedelta(seconds=seconds), keep)
    campaign = close_campaign(campaign=campaign)
    for run in starting.start(test_set=test_set, metrics=["chrf", "bleu"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
    return campaign


def _click(
    campaign: Campaign,
    rng: random.Random,
    took: timedelta,
    keep: Callable[[Assignment], bool],
) -> None:
    found = Assignment.objects.filter(annotator__campaign=campaign).select_related("item")
    rows = [row for row in found.order_by("annotator", "position") if keep(row)]
    judgments = []
    for number, assignment in enumerate(rows):
        began = START + number * timedelta(minutes=1)
        low = 21 if assignment.item.kind == Item.Kind.TRAP else 0
        judgments.append(
            Judgment(
                assignment=assignment,
                score=rng.randint(low, 100),
                submit_key=uuid.UUID(int=rng.getrandbits(128), version=4),
                started_at=began,
                submitted_at=began + took,
                paid_ms=int(1000 * took.total_seconds()),
            )
        )
        assignment.completed_at = began + took
    Judgment.objects.bulk_create(judgments)
    Assignment.objects.bulk_update(rows, ["completed_at"])
