"""The open pool: need first, never too many of one, never one twice, nothing lost."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection
from django.db.models import Count, F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotation import screens
from annotation.access import ADMIN, ANNOTATOR, RESEARCHER
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from annotation.pool import candidates, releases
from annotation.progress import progress
from tests.annotation.pools import add_control, make_pool, member, next_of, rate, work
from tests.annotation.test_judgments import in_threads
from tests.annotation.test_views_judgments import JSON, MAX_QUERIES, address, form
from tests.world import World, make_user, make_world

Kind = Item.Kind
IS_SQLITE = connection.vendor == "sqlite"


@pytest.fixture
def shared_world(transactional_db: None) -> World:
    for name in (ADMIN, RESEARCHER, ANNOTATOR):
        Group.objects.get_or_create(name=name)
    return make_world()


def age_claims(**minutes: int) -> None:
    Assignment.objects.exclude(claimed_at=None).update(
        claimed_at=timezone.now() - timedelta(**minutes)
    )


def claims_fit(campaign: Campaign) -> bool:
    """What is given and what is still wanted make up what was asked for, for every screen."""
    live = Assignment.objects.filter(released_at=None).values("item").annotate(n=Count("pk"))
    taken = dict(live.values_list("item", "n"))
    rows = campaign.items.filter(kind=Kind.TARGET, place=0).values_list("pk", "wanted")
    return all(taken.get(pk, 0) + wanted == campaign.annotators_per_item for pk, wanted in rows)


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


# --- claims that nobody answers -----------------------------------------------------------------


def test_a_stale_claim_goes_to_somebody_else(world: World) -> None:
    campaign = make_pool(
        world.annotators, segments=1, systems=("only",), annotators_per_item=1, claim_minutes=30
    )
    left = next_of(member(campaign, world.annotators[0]))
    second = member(campaign, world.annotators[1])
    age_claims(minutes=29)
    assert next_of(second) is None
    age_claims(minutes=31)
    taken = next_of(second)
    assert taken is not None
    assert taken.item == left.item
    left.refresh_from_db()
    assert left.released_at is not None


def test_an_answer_after_release_counts(world: World) -> None:
    campaign = make_pool(world.annotators, annotators_per_item=2)
    late = next_of(member(campaign, world.annotators[0]))
    age_claims(hours=5)
    assert releases.release_stale(campaign) == 1
    assert campaign.items.get(pk=late.item_id).wanted == 2
    assert rate(late, 77).score == 77
    late.refresh_from_db()
    assert (late.released_at, late.completed_at is not None) == (None, True)
    assert campaign.items.get(pk=late.item_id).wanted == 1
    assert claims_fit(campaign)


def test_a_late_answer_to_what_another_took_counts_too(world: World) -> None:
    campaign = make_pool(world.annotators, segments=1, systems=("only",), annotators_per_item=1)
    late = next_of(member(campaign, world.annotators[0]))
    age_claims(hours=5)
    other = next_of(member(campaign, world.annotators[1]))
    rate(late, 10)
    rate(other, 20)
    assert set(Judgment.objects.values_list("score", flat=True)) == {10, 20}
    assert campaign.items.get(pk=late.item_id).wanted == 0


def test_who_returns_gets_the_same_if_it_is_wanted(world: World) -> None:
    campaign = make_pool(world.annotators, annotators_per_item=2)
    annotator = member(campaign, world.annotators[0])
    left = next_of(annotator)
    age_claims(hours=5)
    releases.release_stale(campaign)
    again = next_of(annotator)
    assert again == left
    assert again.released_at is None
    assert timezone.now() - again.claimed_at < timedelta(minutes=5)
    assert claims_fit(campaign)


def test_who_returns_too_late_gets_new_work(world: World) -> None:
    campaign = make_pool(world.annotators, annotators_per_item=1)
    annotator = member(campaign, world.annotators[0])
    left = next_of(annotator)
    age_claims(hours=5)
    releases.release_stale(campaign)
    campaign.items.filter(pk=left.item_id).update(wanted=0)
    assert next_of(annotator).item != left.item
    shown = progress(annotator)
    assert (shown.done, shown.total) == (0, 1)


def test_control_and_tutorial_items_are_not_released(world: World) -> None:
    campaign = make_pool(world.annotators)
    add_control(campaign, Kind.TUTORIAL)
    next_of(member(campaign, world.annotators[0]))
    age_claims(hours=5)
    assert releases.release_stale(campaign) == 0


def test_a_screen_that_is_being_rated_is_not_released(world: World) -> None:
    campaign = make_pool(world.annotators, together=True, protocol="document-da")
    rate(next_of(member(campaign, world.annotators[0])))
    age_claims(hours=5)
    assert releases.release_stale(campaign) == 0
    Assignment.objects.exclude(completed_at=None).update(
        completed_at=timezone.now() - timedelta(hours=4)
    )
    assert releases.release_stale(campaign) == 1
    assert set(Assignment.objects.values_list("completed_at", "released_at")) != {(None, None)}


def test_the_command_releases_everywhere(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    pools = [make_pool(world.annotators, slug=slug) for slug in ("one", "two")]
    for campaign in pools:
        for user in world.annotators:
            next_of(member(campaign, user))
    age_claims(hours=5)
    call_command("release_claims")
    assert capsys.readouterr().out == "one: 3 released\ntwo: 3 released\n"
    assert not Assignment.objects.filter(released_at=None).exists()
    assert all(claims_fit(campaign) for campaign in pools)


def test_release_and_answer_at_once(shared_world: World) -> None:
    """Whatever comes first, the answer is stored and nothing is counted twice."""
    campaign = make_pool(shared_world.annotators)
    for _ in range(6):
        assignment = next_of(member(campaign, shared_world.annotators[0]))
        age_claims(hours=5)
        results = in_threads(
            lambda n, row=assignment: releases.release_stale(campaign) if n else rate(row).score,
            n=4,
        )
        assert results[0] == 50, results
        assert claims_fit(campaign)


# --- controls -----------------------------------------------------------------------------------


def test_tutorials_come_first_in_their_order(world: World) -> None:
    campaign = make_pool(world.annotators, items_per_annotator=6)
    practice = [add_control(campaign, Kind.TUTORIAL) for _ in range(3)]
    for user in world.annotators:
        given = [row.item for row in work(member(campaign, user))]
        assert given[:3] == practice
        assert {item.kind for item in given[3:]} == {Kind.TARGET}


def controlled(world: World, **fields: object) -> Campaign:
    campaign = make_pool(
        world.annotators, segments=30, annotators_per_item=3,
        **({"items_per_annotator": 40} | fields),
    )  # fmt: skip
    for _ in range(4):
        add_control(campaign, Kind.TRAP)
    for partner in campaign.items.filter(kind=Kind.TARGET):
        add_control(campaign, Kind.REPEAT, partner=partner)
        add_control(campaign, Kind.BAD_REF, partner=partner)
    return campaign


def test_controls_come_in_their_share_with_room_between(world: World) -> None:
    campaign = controlled(
        world, traps_per_annotator=4, repeats_per_annotator=2, bad_references_per_annotator=2,
        control_spacing=2,
    )  # fmt: skip
    for user in world.annotators:
        given = [row.item for row in work(member(campaign, user))]
        places = [place for place, item in enumerate(given) if item.kind != Kind.TARGET]
        kinds = Counter(item.kind for item in given)
        assert all(b - a > 2 for a, b in pairwise(places)), places
        assert 6 <= len(places) <= 8
        assert kinds[Kind.TRAP] <= 4
        assert max(kinds[Kind.REPEAT], kinds[Kind.BAD_REF]) <= 2
        # Not all in one half.
        assert any(place < 20 for place in places)
        assert any(place >= 20 for place in places)
        where = {item.pk: place for place, item in enumerate(given)}
        for item in given:
            if item.partner_id:
                assert where[item.pk] - where[item.partner_id] > 2


def test_controls_cost_the_pool_nothing(world: World) -> None:
    campaign = controlled(world, traps_per_annotator=4)
    work(member(campaign, world.annotators[0]))
    assert not campaign.items.filter(wanted__gt=0).exclude(kind=Kind.TARGET).exists()
    assert claims_fit(campaign)


def test_gold_items_come_to_everybody(world: World) -> None:
    campaign = make_pool(world.annotators, segments=30, items_per_annotator=40)
    gold = {add_control(campaign, Kind.GOLD).pk for _ in range(3)}
    for user in world.annotators:
        assert gold <= {row.item_id for row in work(member(campaign, user))}


def test_two_people_get_their_controls_at_different_places(world: World) -> None:
    campaign = controlled(world, traps_per_annotator=4)
    places = {
        tuple(
            row.position
            for row in work(member(campaign, user))
            if row.item.kind == Kind.TRAP
        )
        for user in world.annotators
    }  # fmt: skip
    assert len(places) == 3


# --- pages --------------------------------------------------------------------------------------


def test_from_the_first_item_to_the_last(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=2)
    client.force_login(world.annotators[0])
    start = reverse("annotate", args=[campaign.slug])
    place = client.get(start).url
    for number in range(1, 5):
        page = client.get(place)
        assert f"<h1>Item {number}</h1>" in page.text
        row = Assignment.objects.get(position=number - 1)
        place = client.post(place, form(client, row), headers=JSON).json()["next"]
    assert place == reverse("annotate-done", args=[campaign.slug])
    assert "All 4 items are rated" in client.get(place).text
    assert Judgment.objects.count() == 4


def test_the_last_page_looks_for_work_again(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=1, systems=("only",), annotators_per_item=1)
    next_of(member(campaign, world.annotators[0]))
    client.force_login(world.annotators[1])
    done = reverse("annotate-done", args=[campaign.slug])
    assert client.get(done).status_code == 200
    age_claims(hours=5)
    assert client.get(done, follow=True).redirect_chain[-1][0].startswith("/item/")


def titles(world: World, **fields: object) -> list[str]:
    """What the pages of one annotator say of the place, over controls and the ratings of others."""
    campaign = controlled(world, traps_per_annotator=4, repeats_per_annotator=2, **fields)
    annotator = member(campaign, world.annotators[0])
    shown = []
    while (row := next_of(annotator)) is not None:
        shown.append(screens.next_screen(annotator=annotator).title)
        # Others take what is left of some items, so that the pool runs out before the limit.
        work(member(campaign, world.annotators[1]), at_most=1)
        rate(row)
    assert Assignment.objects.filter(annotator=annotator, item__kind=Kind.TRAP).exists()
    return shown


def test_a_total_is_what_was_set_beforehand_whatever_comes(world: World) -> None:
    shown = titles(world, items_per_annotator=40)
    assert shown == [f"Item {number} of at most 40" for number in range(1, 41)]


def test_without_a_limit_there_is_no_total(world: World) -> None:
    """Nobody knows it, and an estimate would move with the kinds of items and with other people."""
    shown = titles(world, items_per_annotator=0)
    assert len(shown) > 40
    assert shown == [f"Item {number}" for number in range(1, len(shown) + 1)]


def test_a_last_screen_may_go_beyond_the_limit(world: World) -> None:
    campaign = make_pool(
        world.annotators, systems=("a", "b", "c"), together=True, protocol="side-by-side",
        items_per_annotator=2,
    )  # fmt: skip
    annotator = member(campaign, world.annotators[0])
    next_of(annotator)
    assert screens.next_screen(annotator=annotator).title == "Items 1–3 of at most 3"


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


def test_a_submit_costs_little_at_any_place(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=60)
    first, *others = costs(client, campaign, world.annotators[0], {0, 1, 50, 99})
    assert {first, *others} == {first}
    assert first <= MAX_QUERIES


def test_a_control_costs_no_more(world: World, client: Client) -> None:
    campaign = controlled(
        world, traps_per_annotator=4, repeats_per_annotator=2, bad_references_per_annotator=2
    )
    counted = costs(client, campaign, world.annotators[0], set(range(38)))
    assert max(counted) <= MAX_QUERIES


@pytest.mark.parametrize("mode", [Campaign.Mode.POOL, Campaign.Mode.ACTIVE])
def test_a_look_reads_stretches_of_the_index_not_levels(world: World, mode: str) -> None:
    """With the equation second, SQLite sorts every screen of a level, for every claim."""
    make_pool(world.annotators, assignment_mode=mode)
    sql, params = candidates._prepared(mode, False, 2)
    with connection.cursor() as cursor:
        cursor.execute(("EXPLAIN QUERY PLAN " if IS_SQLITE else "EXPLAIN ") + sql, params)
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
    # PostgreSQL reads a table this small as a whole, and says so; the order does not matter to it.
    assert ("(campaign_id=? AND wanted=? AND shuffle>?)" in plan) == IS_SQLITE
    assert not (IS_SQLITE and "ORDER BY" in plan)


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
