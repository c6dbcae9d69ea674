"""Excluding ends the work: at the next request, with a sentence, and nothing is held any longer."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Annotator, Campaign, Judgment
from annotation.quality.exclusions import exclude_annotator, include_annotator
from tests.annotation.pools import make_pool
from tests.annotation.views.test_views_judgments import JSON, address, form
from tests.world import World, make_campaign, make_test_set


def made(world: World, mode: str) -> Annotator:
    if mode != Campaign.Mode.STATIC:
        campaign = make_pool(world.annotators[:2])
    else:
        campaign = make_campaign(make_test_set("fixed"), "fixed", traps_per_annotator=0)
        add_annotators(campaign=campaign, users=world.annotators)
        open_campaign(campaign=campaign)
    return campaign.annotators.order_by("pk").select_related("campaign")[0]


def exclude(annotator: Annotator) -> None:
    exclude_annotator(annotator=annotator, actor=None, reason="too fast")


@pytest.mark.parametrize("mode", [Campaign.Mode.STATIC, Campaign.Mode.POOL])
def test_the_next_request_says_so(world: World, client: Client, mode: str) -> None:
    annotator = made(world, mode)
    client.force_login(world.annotators[0])
    start, told = (
        reverse(name, args=[annotator.campaign.slug]) for name in ("annotate", "annotate-stopped")
    )
    client.get(start)
    rows = annotator.assignments.filter(completed_at=None).order_by("position")[:2]
    in_hand, *ahead = [(row, form(client, row)) for row in rows]
    exclude(annotator)
    # What was begun before is stored, and leads on to the page that says so.
    reply = client.post(address(in_hand[0]), in_hand[1], headers=JSON)
    assert (reply.status_code, reply.json()) == (200, {"next": told, "leaves": True})
    assert Judgment.objects.filter(assignment__annotator=annotator).count() == 1
    assert client.get(start).headers["Location"] == told
    page = client.get(told)
    assert page.status_code == 200
    assert page.context["is_ended"]
    # What was fetched ahead, or is asked for, is answered in the same way.
    Annotator.objects.filter(pk=annotator.pk).update(
        excluded_at=timezone.now() - timedelta(hours=1)
    )
    for row, fields in ahead:
        reply = client.post(address(row), fields, headers=JSON)
        assert (reply.status_code, reply.json()["address"]) == (409, told)
        assert client.get(address(row)).headers["Location"] == told
    assert bool(ahead) == (mode == Campaign.Mode.STATIC)
    assert Judgment.objects.filter(assignment__annotator=annotator).count() == 1


def test_what_is_held_of_a_pool_is_wanted_at_once(world: World, client: Client) -> None:
    annotator = made(world, Campaign.Mode.POOL)
    client.force_login(world.annotators[0])
    before = sum(annotator.campaign.items.values_list("wanted", flat=True))
    client.get(reverse("annotate", args=[annotator.campaign.slug]))
    held = annotator.assignments.filter(completed_at=None, released_at=None).count()
    assert sum(annotator.campaign.items.values_list("wanted", flat=True)) == before - held < before
    exclude(annotator)
    assert sum(annotator.campaign.items.values_list("wanted", flat=True)) == before
    include_annotator(annotator=annotator, actor=None, reason="was fine")
    client.get(reverse("annotate", args=[annotator.campaign.slug]))
    assert annotator.assignments.filter(completed_at=None, released_at=None).exists()


def test_who_had_finished_keeps_the_last_page(world: World, client: Client) -> None:
    annotator = made(world, Campaign.Mode.STATIC)
    client.force_login(world.annotators[0])
    for row in annotator.assignments.order_by("position"):
        client.post(address(row), form(client, row), headers=JSON)
    exclude(annotator)
    slug = annotator.campaign.slug
    assert client.get(reverse("annotate", args=[slug])).headers["Location"] == reverse(
        "annotate-done", args=[slug]
    )
    assert client.get(reverse("annotate-done", args=[slug])).status_code == 200
