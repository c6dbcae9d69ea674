"""Open pools for tests: items planted by hand, so that every test knows what there is."""

import random
import uuid
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.utils import timezone

from annotation import assignments, judgments
from annotation.answers import Answer
from annotation.campaigns import add_annotators
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output
from annotation.pool.candidates import MAX_SHUFFLE
from tests.world import make_campaign, make_test_set


def make_pool(
    users: Sequence[User],
    *,
    segments: int = 4,
    systems: Sequence[str] = ("strong", "weak"),
    slug: str = "pool",
    together: bool = False,
    **fields: object,
) -> Campaign:
    """An open campaign whose items are drawn from a pool; no controls unless asked for."""
    defaults = {"assignment_mode": Campaign.Mode.POOL, "traps_per_annotator": 0}
    test_set = make_test_set(f"set-{slug}", segments=segments, systems=systems)
    campaign = make_campaign(test_set, slug, **(defaults | fields))
    if users:
        add_annotators(campaign=campaign, users=users)
    plant(campaign, together=together)
    campaign.status = Campaign.Status.OPEN
    campaign.save(update_fields=["status"])
    return campaign


def plant(campaign: Campaign, *, together: bool = False) -> None:
    """A screen for every output, or one for all outputs of a segment."""
    rng = random.Random(3)
    items, size = [], campaign.systems.count()
    outputs = Output.objects.filter(system__in=campaign.systems.all())
    for number, output in enumerate(outputs.order_by("segment", "system")):
        place = number % size if together else 0
        item = Item(campaign=campaign, segment_id=output.segment_id, output=output, place=place)
        item.screen = number // size if together else None
        if place == 0:
            item.wanted = campaign.annotators_per_item
            item.shuffle = rng.randint(0, MAX_SHUFFLE)
        items.append(item)
    Item.objects.bulk_create(items, batch_size=2_000)


def add_control(campaign: Campaign, kind: str, *, partner: Item | None = None) -> Item:
    """A control item, beside its partner if it has one."""
    segment = partner.segment if partner else campaign.test_set.segments.first()
    return Item.objects.create(
        campaign=campaign, kind=kind, segment=segment, text=f"{kind} text", partner=partner
    )


def member(campaign: Campaign, user: User) -> Annotator:
    """The part of a user in a campaign, as a request would load it."""
    found = assignments.find_annotator(user=user, slug=campaign.slug)
    assert found is not None
    return found


def next_of(annotator: Annotator) -> Assignment | None:
    """What the annotator is to rate now."""
    public_id = assignments.first_open(annotator)
    return public_id and Assignment.objects.select_related("item").get(public_id=public_id)


def rate(assignment: Assignment, score: int = 50) -> Judgment:
    """One answer, as the item page sends it."""
    answer = Answer(
        public_id=assignment.public_id, score=score, submit_key=uuid.uuid4(),
        started_at=timezone.now(), seen=0,
    )  # fmt: skip
    (judgment,) = judgments.submit(user=assignment.annotator.user, answers=[answer])
    return judgment


def work(annotator: Annotator, *, at_most: int = 10_000) -> list[Assignment]:
    """Rate until there is nothing left, or `at_most` items."""
    done: list[Assignment] = []
    while len(done) < at_most and (assignment := next_of(annotator)) is not None:
        rate(assignment)
        done.append(assignment)
    return done
