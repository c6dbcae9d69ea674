"""The open pool: need first, never too many of one, never one twice, nothing lost."""

from collections import Counter

import pytest
from django.db.models import Count, F
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotation.access import ANNOTATOR
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.pool import candidates, releases
from tests.annotation.judging.test_judgments import in_threads
from tests.annotation.pools import (
    age_claims,
    claims_fit,
    make_pool,
    member,
    next_of,
    rate,
    work,
)
from tests.world import World, make_user


def test_everything_is_rated_as_often_as_asked(world: World) -> None:
    campaign = make_pool(world.annotators, annotators_per_item=2)
    given = [work(member(campaign, user)) for user in world.annotators]
    assert [len(part) for part in given] == [8, 8, 0]
    assert campaign.items.filter(wanted__gt=0).count() == 0
    counted = Counter(row.item_id for part in given for row in part)
    assert set(counted.values()) == {2}
    assert claims_fit(campaign)


def test_the_most_needed_comes_first(world: World) -> None:
    campaign = make_pool(world.annotators, annotators_per_item=3)
    for number, user in enumerate(world.annotators):
        first = work(member(campaign, user), at_most=2)
        # There are 8 items: nobody gets what somebody has while there are others.
        assert all(row.item.wanted == 2 for row in first), number


def test_an_open_screen_is_given_again_not_another(world: World) -> None:
    campaign = make_pool(world.annotators)
    annotator = member(campaign, world.annotators[0])
    assert next_of(annotator) == next_of(annotator)
    assert Assignment.objects.count() == 1
    assert Assignment.objects.get().claimed_at is not None


def test_positions_have_no_gaps(world: World) -> None:
    campaign = make_pool(world.annotators)
    work(member(campaign, world.annotators[0]))
    positions = Assignment.objects.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(8))


@pytest.mark.parametrize("limit", [1, 2])
def test_no_source_too_often(world: World, limit: int) -> None:
    campaign = make_pool(world.annotators, systems=("a", "b", "c"), max_same_source=limit)
    given = work(member(campaign, world.annotators[0]))
    assert set(Counter(row.item.segment_id for row in given).values()) == {limit}
    assert len(given) == 4 * limit


def test_no_more_items_than_a_person_is_to_rate(world: World) -> None:
    campaign = make_pool(world.annotators, items_per_annotator=5)
    assert len(work(member(campaign, world.annotators[0]))) == 5


def test_a_screen_of_several_is_given_whole(world: World) -> None:
    campaign = make_pool(
        world.annotators, systems=("a", "b", "c"), together=True, protocol="side-by-side"
    )
    next_of(member(campaign, world.annotators[0]))
    rows = Assignment.objects.order_by("position").select_related("item")
    assert [row.position for row in rows] == [0, 1, 2]
    assert [row.item.place for row in rows] == [0, 1, 2]
    assert len({row.item.screen for row in rows}) == 1
    assert claims_fit(campaign)


def test_a_far_corner_of_the_pool_is_found(world: World) -> None:
    """More screens that one may not get than a look takes in."""
    n = candidates.WINDOW + 10
    campaign = make_pool(world.annotators[:1], segments=n, systems=("a", "b"), max_same_source=1)
    assert len(work(member(campaign, world.annotators[0]))) == n


@pytest.mark.parametrize("status", [Campaign.Status.DRAFT, Campaign.Status.CLOSED])
def test_nothing_is_claimed_unless_open(world: World, status: str) -> None:
    campaign = make_pool(world.annotators)
    Campaign.objects.filter(pk=campaign.pk).update(status=status)
    assert next_of(member(campaign, world.annotators[0])) is None


def test_the_excluded_get_nothing_new(world: World) -> None:
    campaign = make_pool(world.annotators)
    Annotator.objects.update(excluded_at=timezone.now())
    assert next_of(member(campaign, world.annotators[0])) is None


# --- many at once -------------------------------------------------------------------------------


@pytest.mark.parametrize("per_item", [1, 3])
def test_eight_claim_at_once(shared_world: World, per_item: int) -> None:
    users = [make_user(f"crowd-{n}", ANNOTATOR) for n in range(8)]
    campaign = make_pool(users, segments=6, annotators_per_item=per_item)
    results = in_threads(lambda n: len(work(member(campaign, users[n]))))
    assert all(isinstance(result, int) for result in results), results
    assert sum(results) == Judgment.objects.count() == 12 * per_item
    for column in ("item", "annotator"):
        assert Assignment.objects.values(column).exists()
    counted = Assignment.objects.values("item").annotate(n=Count("pk"))
    assert set(counted.values_list("n", flat=True)) == {per_item}
    assert claims_fit(campaign)


def test_two_windows_of_one_person_get_one_screen(shared_world: World) -> None:
    campaign = make_pool(shared_world.annotators)
    user = shared_world.annotators[0]
    results = in_threads(lambda _: next_of(member(campaign, user)))
    assert len(set(results)) == 1, results
    assert isinstance(results[0], Assignment)
    assert Assignment.objects.count() == 1
    assert claims_fit(campaign)


def test_eight_want_the_last_one(shared_world: World) -> None:
    users = [make_user(f"crowd-{n}", ANNOTATOR) for n in range(8)]
    campaign = make_pool(users, segments=1, systems=("only",), annotators_per_item=1)
    results = in_threads(lambda n: next_of(member(campaign, users[n])))
    assert sorted(result is None for result in results) == [False] + [True] * 7, results
    assert claims_fit(campaign)


# --- any order of events ------------------------------------------------------------------------

EVENTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(("ask", "rate", "rate", "age", "late"))),
    max_size=40,
)


class AnyOrder(TestCase):
    @settings(max_examples=25, deadline=None)
    @given(events=EVENTS, per_item=st.integers(1, 3), limit=st.integers(0, 2))
    def test_counts_hold_whatever_happens(
        self, events: list[tuple[int, str]], per_item: int, limit: int
    ) -> None:
        users = [make_user(f"any-{n}", ANNOTATOR) for n in range(3)]
        campaign = make_pool(users, segments=3, annotators_per_item=per_item, max_same_source=limit)
        sent = 0
        for who, what in events:
            annotator = member(campaign, users[who])
            if what == "age":
                age_claims(hours=5)
                releases.release_stale(campaign)
            elif what == "late":
                late = annotator.assignments.filter(completed_at=None).last()
                sent += 1 if late and rate(late) else 0
            elif (row := next_of(annotator)) is not None and what == "rate":
                sent += 1 if rate(row) else 0
        assert Judgment.objects.count() == sent
        own = Assignment.objects.filter(annotator__campaign=campaign)
        # A screen has more ratings than asked for only by answers after their claim was released.
        for item in campaign.items.annotate(n=Count("assignments")).filter(n__gt=0):
            live = item.assignments.filter(released_at=None).count()
            assert item.wanted + live >= per_item
            if not any(what == "late" for _, what in events):
                assert item.wanted + live == per_item
        if limit:
            counted = own.values("annotator", segment=F("item__segment")).annotate(n=Count("pk"))
            assert all(row["n"] <= limit for row in counted)
