"""Active assignment: effort goes to undecided pairs, from what is stored and no more often."""

import random
from collections import Counter

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Campaign, Item
from annotation.pool import adaptive
from tests.annotation.pools import costs, make_pool, member, next_of, rate, work
from tests.annotation.views.test_views_judgments import MAX_QUERIES
from tests.world import World

SYSTEMS = ("alike-1", "alike-2", "far")
LEVELS = {"alike-1": 70, "alike-2": 70, "far": 10}


def make_active(world: World, **fields: object) -> Campaign:
    options: dict[str, object] = {"assignment_mode": Campaign.Mode.ACTIVE, "annotators_per_item": 1}
    options |= {"systems": SYSTEMS, "segments": 80} | fields
    return make_pool(world.annotators, **options)  # type: ignore[arg-type]


def rate_by_quality(campaign: Campaign, world: World, n: int) -> list[Assignment]:
    """Whatever is drawn, in whichever order: systems that are alike are so on every segment."""
    annotator = member(campaign, world.annotators[0])
    rows = []
    for _ in range(n):
        row = next_of(annotator)
        noise = random.Random(row.item.output.segment.position).randint(-9, 9)
        rate(row, LEVELS[row.item.output.system.name] + noise)
        rows.append(row)
    return rows


def test_what_is_decided_gets_the_uniform_share_only(world: World) -> None:
    campaign = make_active(world)
    rate_by_quality(campaign, world, 180)
    systems, allocation = adaptive.current_allocation(campaign)
    assert allocation.n == 180
    assert allocation.n_undecided == 1
    shares = dict(zip(systems, allocation.shares, strict=True))
    names = {system.pk: system.name for system in campaign.systems.all()}
    by_name = {names[pk]: share for pk, share in shares.items()}
    assert by_name["far"] == pytest.approx(0.2 / 3)
    assert min(by_name["alike-1"], by_name["alike-2"]) > 0.3


def test_draws_follow_the_shares(world: World) -> None:
    campaign = make_active(world, annotators_per_item=3, segments=160)
    rate_by_quality(campaign, world, 150)
    adaptive.refresh(campaign)
    given = rate_by_quality(campaign, world, 60)
    counted = Counter(row.item.output.system.name for row in given)
    # 1/15 of 60 are 4 expected; without the rule it would be 20.
    assert counted["far"] <= 12
    assert counted["alike-1"] + counted["alike-2"] >= 48


def test_segments_that_others_were_rated_on_come_first(world: World) -> None:
    campaign = make_active(world, segments=6)  # few enough to be looked at all at once
    segment = campaign.test_set.segments.first()
    items = campaign.items.filter(segment=segment).order_by("pk")
    items.filter(pk=items[0].pk).update(wanted=0)
    row = next_of(member(campaign, world.annotators[0]))
    if row.item.output.system_id == items[0].output.system_id:
        assert row.item.segment_id != segment.pk
    else:
        assert row.item.segment_id == segment.pk


def test_everything_is_rated_in_the_end(world: World) -> None:
    campaign = make_active(world, segments=5, annotators_per_item=2)
    given = [work(member(campaign, user)) for user in world.annotators]
    assert [len(part) for part in given] == [15, 15, 0]
    assert not campaign.items.filter(wanted__gt=0).exists()


def test_shares_are_not_computed_for_every_judgment(world: World) -> None:
    campaign = make_active(world)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(50):
            adaptive.refresh(campaign)
    # Judgments, their campaign, and the documents of its segments, once.
    assert len(queries) == 3
    assert adaptive.shares_of(campaign).keys() == {system.pk for system in campaign.systems.all()}


def test_excluded_annotators_and_controls_do_not_count(world: World) -> None:
    campaign = make_active(world)
    rows = rate_by_quality(campaign, world, 5)
    Item.objects.filter(pk=rows[0].item_id).update(kind=Item.Kind.TRAP)
    assert adaptive.current_allocation(campaign)[1].n == 4
    campaign.annotators.update(excluded_at="2026-01-01T00:00:00Z")
    assert adaptive.current_allocation(campaign)[1].n == 0


def test_screens_of_several_systems(world: World) -> None:
    campaign = make_active(world, segments=6, together=True, protocol="side-by-side")
    given = work(member(campaign, world.annotators[0]))
    assert len(given) == 18
    assert [row.item.place for row in given] == [0, 1, 2] * 6


def test_a_submit_costs_no_more_than_in_a_pool(world: World, client: Client) -> None:
    campaign = make_active(world, annotators_per_item=3)
    assert max(costs(client, campaign, world.annotators[0], {0, 1, 30})) <= MAX_QUERIES
