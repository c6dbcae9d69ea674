"""Screens claimed together: the same rules as one by one, in a handful of statements."""

from collections import Counter

import pytest
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from annotation.access import ANNOTATOR
from annotation.models import Annotator, Assignment, Item
from annotation.pool import give_ahead, mixing
from tests.annotation.judging.test_judgments import in_threads
from tests.annotation.pools import (
    add_control,
    claims_fit,
    controlled,
    make_pool,
    member,
    next_of,
    rate,
    work,
)
from tests.world import World, make_user

N = 20


def work_ahead(annotator: Annotator) -> list[Item]:
    """Rate all that can be had, twenty items at a time."""
    done: list[Item] = []
    while True:
        give_ahead(annotator=annotator, most=N)
        rows = annotator.assignments.filter(completed_at=None).order_by("position")
        if not rows and next_of(annotator) is None:
            return done
        for row in rows.all():
            rate(row)
            done.append(row.item)


def test_twenty_cost_one_look(world: World) -> None:
    campaign = make_pool(world.annotators[:1], segments=40)
    annotator = member(campaign, world.annotators[0])
    next_of(annotator)
    with CaptureQueriesContext(connection) as queries:
        give_ahead(annotator=annotator, most=N)
    assert annotator.assignments.count() == N
    # A claim of one takes five.
    assert len(queries) <= 10
    assert claims_fit(campaign)


def test_the_most_needed_come_first(world: World) -> None:
    campaign = make_pool(world.annotators, segments=60, annotators_per_item=3)
    for number, user in enumerate(world.annotators[:2]):
        give_ahead(annotator=member(campaign, user), most=N)
        assert set(campaign.items.values_list("wanted", flat=True)) == {2, 3}, number


def test_nobody_gets_more_than_their_limit(world: World) -> None:
    campaign = make_pool(world.annotators[:1], segments=60, items_per_annotator=7)
    annotator = member(campaign, world.annotators[0])
    give_ahead(annotator=annotator, most=N)
    assert annotator.assignments.count() == 7


@pytest.mark.parametrize("limit", [1, 2])
def test_no_source_too_often(world: World, limit: int) -> None:
    campaign = make_pool(
        world.annotators[:1], segments=25, systems=("a", "b", "c"), max_same_source=limit
    )
    seen = Counter(item.segment_id for item in work_ahead(member(campaign, world.annotators[0])))
    assert set(seen.values()) == {limit}
    assert len(seen) == 25


def test_screens_of_several_are_counted_by_their_items(world: World) -> None:
    campaign = make_pool(
        world.annotators[:1], segments=30, systems=("a", "b", "c"), together=True,
        protocol="side-by-side",
    )  # fmt: skip
    annotator = member(campaign, world.annotators[0])
    give_ahead(annotator=annotator, most=N)
    rows = annotator.assignments.order_by("position").select_related("item")
    assert [row.position for row in rows] == list(range(21))
    assert set(Counter(row.item.screen for row in rows).values()) == {3}
    assert claims_fit(campaign)


def test_controls_stand_where_they_stand_one_by_one(world: World) -> None:
    """Where one is due follows from the seed, the label and what was given: the same both ways."""
    places = []
    for slug, how in (("one", work), ("ahead", work_ahead)):
        campaign = make_pool(
            world.annotators[:1], segments=40, slug=slug, traps_per_annotator=6,
            items_per_annotator=60,
        )  # fmt: skip
        for _ in range(6):
            add_control(campaign, Item.Kind.TRAP)
        annotator = member(campaign, world.annotators[0])
        how(annotator)
        traps = annotator.assignments.filter(item__kind=Item.Kind.TRAP).order_by("position")
        places.append(list(traps.values_list("position", flat=True)))
    assert places[0] == places[1]
    assert len(places[0]) == 6


def test_eight_claim_ahead_at_once(shared_world: World) -> None:
    users = [make_user(f"crowd-{n}", ANNOTATOR) for n in range(8)]
    campaign = make_pool(users, segments=150, annotators_per_item=2)
    results = in_threads(lambda n: give_ahead(annotator=member(campaign, users[n]), most=N))
    assert results == [None] * 8
    assert claims_fit(campaign)
    own = Assignment.objects.values("annotator").annotate(n=Count("pk"))
    assert all(0 < row["n"] <= N for row in own)


# --- what was given, counted on -----------------------------------------------------------------


def test_counting_on_is_counting_anew(world: World) -> None:
    campaign = controlled(world, traps_per_annotator=4, repeats_per_annotator=2)
    annotator = member(campaign, world.annotators[0])
    for _ in range(30):
        rate(next_of(annotator))
        counted_on = mixing.given_to(annotator)
        mixing._cache.clear()
        assert mixing.given_to(annotator) == counted_on
    assert counted_on.n_controls > 0
    # The next screen is claimed with the answer.
    assert counted_on.n_since < counted_on.n_screens == annotator.assignments.count() == 31


def test_rows_that_are_gone_are_counted_no_more(world: World) -> None:
    campaign = make_pool(world.annotators)
    annotator = member(campaign, world.annotators[0])
    give_ahead(annotator=annotator, most=N)
    next_of(annotator)
    assert mixing.given_to(annotator).n_screens > 0
    annotator.assignments.all().delete()
    assert mixing.given_to(annotator) == mixing.Given()
