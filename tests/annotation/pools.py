"""Open pools for tests: items planted by hand, so that every test knows what there is."""

import random
import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.campaigns import add_annotators
from annotation.judging import assignments, judgments
from annotation.judging.answers import Answer
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output
from annotation.pool.candidates import MAX_SHUFFLE
from tests.annotation.views.test_views_judgments import JSON, address, form
from tests.world import World, make_campaign, make_test_set


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


def age_claims(**minutes: int) -> None:
    Assignment.objects.exclude(claimed_at=None).update(
        claimed_at=timezone.now() - timedelta(**minutes)
    )


def claims_fit(campaign: Campaign) -> bool:
    """What is given and what is still wanted make up what was asked for, for every screen."""
    live = Assignment.objects.filter(released_at=None).values("item").annotate(n=Count("pk"))
    taken = dict(live.values_list("item", "n"))
    rows = campaign.items.filter(kind=Item.Kind.TARGET, place=0).values_list("pk", "wanted")
    return all(taken.get(pk, 0) + wanted == campaign.annotators_per_item for pk, wanted in rows)


def controlled(world: World, **fields: object) -> Campaign:
    campaign = make_pool(
        world.annotators, segments=30, annotators_per_item=3,
        **({"items_per_annotator": 40} | fields),
    )  # fmt: skip
    for _ in range(4):
        add_control(campaign, Item.Kind.TRAP)
    for partner in campaign.items.filter(kind=Item.Kind.TARGET):
        add_control(campaign, Item.Kind.REPEAT, partner=partner)
        add_control(campaign, Item.Kind.BAD_REF, partner=partner)
    return campaign


def costs(client: Client, campaign: Campaign, user: object, places: set[int]) -> list[int]:
    """Statements of a submit with the next item, at these places of one annotator."""
    client.force_login(user)
    counted = []
    for place in range(max(places) + 1):
        row = next_of(member(campaign, user))
        if place not in places:
            rate(row)
            continue
        data = form(client, row)
        with CaptureQueriesContext(connection) as queries:
            response = client.post(address(row), data, headers=JSON)
        assert response.status_code == 200
        counted.append(len(queries))
    return counted
