"""The document around a segment: the same whatever the item is, and stored when it is opened."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.exports.judgments import judgment_dicts
from annotation.judging import around
from annotation.models import Annotator, Assignment, Campaign, ContextOpening, Item, Segment
from tests.annotation.pools import rate
from tests.world import World

ORDERED = [f"Sentence {n}: the harbour was quiet all morning." for n in range(4)]


@pytest.fixture
def annotator(world: World, client: Client) -> Annotator:
    """Whose segments 1 to 3 are a document, and segment 4 belongs to none."""
    Segment.objects.filter(position__lt=3).update(document="harbour news")
    Campaign.objects.update(shows_context=True)
    campaign = Campaign.objects.get(pk=world.campaign.pk)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    client.force_login(world.annotators[0])
    return Annotator.objects.get(user=world.annotators[0])


def address(row: Assignment) -> str:
    return reverse("item-around", args=[row.public_id])


def item_at(annotator: Annotator, position: int, kind: str = Item.Kind.TARGET) -> Assignment:
    rows = annotator.assignments.filter(item__segment__position=position, item__kind=kind)
    return rows.order_by("position")[0]


def listed(page: str) -> list[tuple[bool, str]]:
    """Whether it is the segment itself, and the text."""
    found = re.findall(r'<li class="gray text"[^>]*?( aria-current="true")?>(.*?)</li>', page)
    return [(bool(own), text) for own, text in found]


def test_the_document_is_shown_with_the_segment_in_its_place(
    annotator: Annotator, client: Client
) -> None:
    page = client.get(address(item_at(annotator, 1))).text
    assert listed(page) == [(False, ORDERED[0]), (True, ORDERED[1]), (False, ORDERED[2])]
    assert "data-earlier" not in page
    assert "data-later" not in page


def test_a_trap_has_the_same_document_as_an_output(annotator: Annotator, client: Client) -> None:
    kinds = annotator.assignments.filter(item__segment__position__lt=3)
    trap = kinds.filter(item__kind=Item.Kind.TRAP).select_related("item__segment")[0]
    target = item_at(annotator, trap.item.segment.position)
    shown = [
        client.get(address(row), headers={"accept": "application/json"}).json()["html"]
        for row in (trap, target)
    ]
    assert shown[0] == shown[1]
    pages = [client.get(reverse("item", args=[row.public_id])).text for row in (trap, target)]
    assert ["data-around" in page for page in pages] == [True, True]


def test_each_opening_is_stored_and_goes_out_with_the_judgment(
    annotator: Annotator, client: Client
) -> None:
    row, other = item_at(annotator, 0), item_at(annotator, 1)
    for _ in range(2):
        client.get(address(row))
    client.head(address(row))
    rate(row)
    rate(other)
    assert ContextOpening.objects.filter(assignment=row).count() == 2
    told = [each["context_openings"] for each in judgment_dicts(annotator.campaign)]
    assert sorted(told) == [0, 2]


def test_who_may_not_rate_the_item_opens_nothing(
    annotator: Annotator, client: Client, world: World
) -> None:
    row, alone = item_at(annotator, 0), item_at(annotator, 3)
    assert client.get(address(alone)).status_code == 404
    assert "data-around" not in client.get(reverse("item", args=[alone.public_id])).text
    client.force_login(world.annotators[1])
    assert client.get(address(row)).status_code == 404
    client.force_login(world.annotators[0])
    for changes in ({"shows_context": False}, {"status": "closed", "shows_context": True}):
        Campaign.objects.update(**changes)
        assert client.get(address(row)).status_code == 404
    assert not ContextOpening.objects.exists()


def test_a_long_document_is_shown_in_part(
    annotator: Annotator, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    monkeypatch.setattr(around, "REACH", 1)
    page = client.get(address(item_at(annotator, 0))).text
    assert [text for _, text in listed(page)] == ORDERED[:2]
    assert "data-later" in page
    assert "data-earlier" not in page
