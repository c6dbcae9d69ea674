"""Simulate annotators for the demo: known adequacy with bias and noise.

Campaigns that are filled this way have the origin `simulated`; their annotators are marked, and
every page that shows them says so.
"""

import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction

from annotation.campaigns import close_campaign, open_campaign
from annotation.judging.timing import paid_milliseconds
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment

FIRST_DAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
BATCH = 2_000


@dataclass(frozen=True)
class Rater:
    """score = bias + slope × adequacy + normal noise; times are log-normal, in seconds."""

    label: str
    bias: float
    slope: float
    noise: float
    attention: float
    seconds: float


RATERS = (
    Rater("S1", bias=6, slope=0.95, noise=9, attention=0.97, seconds=24),
    Rater("S2", bias=-8, slope=1.05, noise=11, attention=0.92, seconds=33),
    Rater("S3", bias=22, slope=0.70, noise=14, attention=0.80, seconds=17),
)


@transaction.atomic
def simulate_campaign(
    *, campaign: Campaign, adequacy: Mapping[int, float], raters: Sequence[Rater] = RATERS
) -> Campaign:
    """Open a draft, rate all of it and close it.

    `adequacy` gives every judged output (by primary key) its true quality, 0–100. The same seed
    and secret give the same ratings.
    """
    for rater in raters:
        Annotator.objects.create(campaign=campaign, label=rater.label, is_simulated=True)
    campaign = open_campaign(campaign=campaign)
    for rater in raters:
        _rate(campaign, rater, adequacy)
    return close_campaign(campaign=campaign)


def _rate(campaign: Campaign, rater: Rater, adequacy: Mapping[int, float]) -> None:
    rng = random.Random(f"{campaign.seed}:{campaign.slug}:{rater.label}")
    clock = FIRST_DAY + timedelta(hours=rng.randrange(6))
    judgments = []
    assignments = list(
        Assignment.objects.filter(annotator__campaign=campaign, annotator__label=rater.label)
        .select_related("item")
        .order_by("position")
    )
    for assignment in assignments:
        started, clock = clock, clock + timedelta(seconds=_seconds(rater, rng))
        assignment.completed_at = clock
        judgments.append(
            Judgment(
                assignment=assignment,
                score=_score(rater, assignment.item, adequacy, rng),
                submit_key=uuid.UUID(int=rng.getrandbits(128), version=4),
                started_at=started,
                submitted_at=clock,
                paid_ms=paid_milliseconds(clock - started, cap=campaign.time_cap_seconds),
            )
        )
    Judgment.objects.bulk_create(judgments, batch_size=BATCH)
    Assignment.objects.bulk_update(assignments, ["completed_at"], batch_size=500)


def _seconds(rater: Rater, rng: random.Random) -> float:
    """Return a reading time, in 1% of cases with a long pause."""
    pause = rng.uniform(700, 2_400) if rng.random() < 0.01 else 0
    return max(2.0, rng.lognormvariate(0, 0.45) * rater.seconds) + pause


def _score(rater: Rater, item: Item, adequacy: Mapping[int, float], rng: random.Random) -> int:
    if item.kind == Item.Kind.TRAP:
        return _trap_score(rater, rng)
    quality = adequacy[item.output_id]  # type: ignore[index]
    score = rater.bias + rater.slope * quality + rng.gauss(0, rater.noise)
    return round(min(100, max(0, score)))


def _trap_score(rater: Rater, rng: random.Random) -> int:
    """Return a low score if the annotator is attentive, otherwise a normal one."""
    if rng.random() < rater.attention:
        return 0 if rng.random() < 0.7 else rng.randint(1, 20)
    return rng.randint(21, 85)
