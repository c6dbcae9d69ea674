"""Opening a campaign: items, traps, shares and orders."""

import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns import (
    add_annotators,
    close_campaign,
    open_campaign,
    renew_link,
    reopen_campaign,
    share_out,
)
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Reference
from annotation.models.people import hash_token
from tests.refusals import refused
from tests.world import World, make_campaign, make_test_set


def opened(world: World, **fields: object) -> Campaign:
    campaign = world.campaign
    Campaign.objects.filter(pk=campaign.pk).update(**fields)
    add_annotators(campaign=campaign, users=world.annotators)
    return open_campaign(campaign=campaign)


def orders(campaign: Campaign) -> list[list[str]]:
    """What each annotator sees, in order, as (segment, text) signatures."""
    result = []
    for annotator in campaign.annotators.order_by("label"):
        rows = annotator.assignments.order_by("position").select_related("item__output")
        result.append([row.item.text or row.item.output.text for row in rows])
    return result


def test_every_output_and_trap_goes_to_all_three(world: World) -> None:
    campaign = opened(world)
    assert campaign.status == Campaign.Status.OPEN
    assert campaign.items.filter(kind=Item.Kind.TARGET).count() == 8  # 4 segments x 2 systems
    assert campaign.items.filter(kind=Item.Kind.TRAP).count() == 2
    per_item = Counter(
        Assignment.objects.filter(item__campaign=campaign).values_list("item", flat=True)
    )
    assert set(per_item.values()) == {3}
    shares = Counter(Assignment.objects.values_list("annotator", flat=True))
    assert sorted(shares.values()) == [10, 10, 10]


def test_orders_are_random_different_and_reproducible(world: World) -> None:
    first = orders(opened(world))
    assert len({tuple(order) for order in first}) == 3
    assert len({frozenset(order) for order in first}) == 1
    again = make_campaign(world.test_set, "again", seed=7)
    add_annotators(campaign=again, users=world.annotators)
    assert orders(open_campaign(campaign=again)) == first
    other = make_campaign(world.test_set, "other", seed=8)
    add_annotators(campaign=other, users=world.annotators)
    assert orders(open_campaign(campaign=other)) != first


def test_traps_are_cut_references_of_their_segment(world: World) -> None:
    campaign = opened(world)
    for trap in campaign.items.filter(kind=Item.Kind.TRAP):
        reference = Reference.objects.get(segment=trap.segment).text
        # 8 words at 80% keep 6: 6.4 rounds down
        assert trap.text == " ".join(reference.split()[:6])


def test_traps_are_cut_from_outputs_without_references(db: None) -> None:
    test_set = make_test_set("bare", references=False)
    campaign = make_campaign(
        test_set, "bare", shown_text=Campaign.ShownText.SOURCE, annotators_per_item=1
    )
    add_annotators(campaign=campaign, links=1)
    open_campaign(campaign=campaign)
    outputs = list(test_set.systems.values_list("outputs__text", flat=True))
    for trap in campaign.items.filter(kind=Item.Kind.TRAP):
        assert any(text.startswith(trap.text) and text != trap.text for text in outputs)


def test_six_annotators_share_the_targets(world: World) -> None:
    campaign = world.campaign
    add_annotators(campaign=campaign, users=world.annotators, links=3)
    open_campaign(campaign=campaign)
    targets = Assignment.objects.filter(
        item__campaign=campaign, item__kind=Item.Kind.TARGET
    ).values_list("annotator", "item")
    assert set(Counter(item for _, item in targets).values()) == {3}
    assert set(Counter(annotator for annotator, _ in targets).values()) == {4}
    traps = Assignment.objects.filter(item__campaign=campaign, item__kind=Item.Kind.TRAP)
    assert traps.count() == 2 * 6


@given(
    n_items=st.integers(0, 60), n_annotators=st.integers(1, 12), seed=st.integers(0, 5),
    data=st.data(),
)  # fmt: skip
def test_shares_are_even_and_complete(
    n_items: int, n_annotators: int, seed: int, data: st.DataObject
) -> None:
    per_item = data.draw(st.integers(1, n_annotators))
    shares = share_out(n_items, n_annotators, per_item, rng=random.Random(seed))
    assert Counter(item for share in shares for item in share) == dict.fromkeys(
        range(n_items), per_item
    )
    assert all(len(share) == len(set(share)) for share in shares)
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"annotators_per_item": 4}, "design.too-few-annotators"),
        ({"traps_per_annotator": 5}, "controls.too-few-traps"),
        ({"length_ratio": Decimal("0.50")}, "design.other-lengths"),
    ],
)
def test_refused_opening_stores_nothing(world: World, fields: dict[str, object], code: str) -> None:
    with refused(code):
        opened(world, **fields)
    assert not Item.objects.exists()
    assert not Assignment.objects.exists()
    world.campaign.refresh_from_db()
    assert world.campaign.status == Campaign.Status.DRAFT


def test_opening_without_systems_or_references(world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    world.campaign.systems.clear()
    with refused("design.no-systems"):
        open_campaign(campaign=world.campaign)
    world.campaign.systems.set(world.test_set.systems.all())
    Reference.objects.first().delete()
    with refused("design.unreferenced"):
        open_campaign(campaign=world.campaign)


def test_a_campaign_opens_once(world: World) -> None:
    campaign = opened(world)
    with refused("campaign.not-draft"):
        open_campaign(campaign=campaign)
    assert Item.objects.count() == 10


def test_close_and_reopen(world: World) -> None:
    campaign = close_campaign(campaign=opened(world))
    assert campaign.status == Campaign.Status.CLOSED
    assert reopen_campaign(campaign=campaign).status == Campaign.Status.OPEN
    imported = make_campaign(world.test_set, "old", status="closed", origin="imported")
    with refused("campaign.imported"):
        reopen_campaign(campaign=imported)


def test_annotators_are_added_once_and_only_to_drafts(world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators[:1])
    with refused("people.already-annotators"):
        add_annotators(campaign=world.campaign, users=world.annotators)
    assert world.campaign.annotators.count() == 1
    add_annotators(campaign=world.campaign, users=world.annotators[1:])
    open_campaign(campaign=world.campaign)
    world.campaign.refresh_from_db()
    with refused("campaign.not-draft"):
        add_annotators(campaign=world.campaign, users=[world.outsider])


def test_personal_links_store_only_a_hash(world: World) -> None:
    first, second = add_annotators(campaign=world.campaign, links=2)
    assert first.token != second.token
    stored = Annotator.objects.get(pk=first.annotator.pk)
    assert stored.token_hash == hash_token(first.token)
    assert not stored.user.has_usable_password()
    renewed = renew_link(annotator=stored)
    assert Annotator.objects.get(pk=stored.pk).token_hash == hash_token(renewed.token)
    assert renewed.token != first.token


def test_a_link_never_opens_a_stronger_account(world: World) -> None:
    add_annotators(campaign=world.campaign, users=[world.researcher])
    with refused("people.not-by-link"):
        renew_link(annotator=world.campaign.annotators.get())
    simulated = Annotator.objects.create(campaign=world.campaign, label="S1", is_simulated=True)
    with refused("people.no-account"):
        renew_link(annotator=simulated)


def test_judged_campaigns_cannot_be_deleted(world: World) -> None:
    campaign = opened(world)
    assignment = Assignment.objects.filter(item__campaign=campaign).first()
    Judgment.objects.create(
        assignment=assignment, score=50, submit_key="6a3cf1a2-3a50-4a90-9df6-0a1a1f0c8f11"
    )
    with pytest.raises(Exception, match="protected"):
        campaign.delete()
    assert Judgment.objects.count() == 1
