"""Claims that nobody answers in time are given to others, and late answers count."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.judging.progress import progress
from annotation.models import Assignment, Item, Judgment
from annotation.pool import releases
from tests.annotation.judging.test_judgments import in_threads
from tests.annotation.pools import (
    add_control,
    age_claims,
    claims_fit,
    make_pool,
    member,
    next_of,
    rate,
)
from tests.world import World

Kind = Item.Kind


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
