"""Controls of an open pool: in their share, with room between, elsewhere for everybody."""

from collections import Counter
from itertools import pairwise

from annotation.models import Item
from tests.annotation.pools import (
    add_control,
    claims_fit,
    controlled,
    make_pool,
    member,
    work,
)
from tests.world import World

Kind = Item.Kind


def test_tutorials_come_first_in_their_order(world: World) -> None:
    campaign = make_pool(world.annotators, items_per_annotator=6)
    practice = [add_control(campaign, Kind.TUTORIAL) for _ in range(3)]
    for user in world.annotators:
        given = [row.item for row in work(member(campaign, user))]
        assert given[:3] == practice
        assert {item.kind for item in given[3:]} == {Kind.TARGET}


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
