"""Screens fetched ahead: the same as one by one, in order, and in a pool a fair part."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.models import Assignment, Campaign, Judgment
from annotation.protocols import PROTOCOLS
from annotation.views.judging import cards
from annotation.views.judging.cards import drawn
from annotation.views.judging.offline import fetching
from tests.annotation.pools import claims_fit, make_pool
from tests.annotation.views.test_views_judgments import JSON, address, form, opened
from tests.planting import plant
from tests.world import World, make_campaign, make_test_set


def ahead(client: Client, campaign: Campaign, after: str = "") -> list[dict[str, Any]]:
    response = client.get(
        reverse("annotate-ahead", args=[campaign.slug]), {"after": after}, headers=JSON
    )
    assert response.status_code == 200
    screens: list[dict[str, Any]] = response.json()["screens"]
    return screens


def without_keys(html: str) -> str:
    """A card without what is new each time it is drawn."""
    names = r"(?:\d+-)?(?:csrfmiddlewaretoken|submit_key|started)"
    return re.sub(rf'name="{names}" value="[^"]*"', "", html)


@pytest.mark.parametrize("answers", [None, {"text": "prefilled"}])
def test_they_come_in_order_and_as_they_would_one_by_one(
    answers: dict[str, str] | None, world: World, client: Client
) -> None:
    rows = opened(world, segments=40)
    client.force_login(world.annotators[0])
    campaign = rows[0].annotator.campaign
    Campaign.objects.filter(pk=campaign.pk).update(answers=answers)
    found = ahead(client, campaign)
    assert [one["path"] for one in found] == [address(row) for row in rows[:20]]
    for one in found[:3]:
        alone = client.get(one["path"], headers=JSON).json()["html"]
        assert without_keys(one["html"]) == without_keys(alone)
    following = ahead(client, campaign, after=str(rows[4].public_id))
    assert [one["path"] for one in following] == [address(row) for row in rows[5:20]]


def test_a_screen_of_several_texts_comes_once_and_never_after_itself(
    db: None, client: Client
) -> None:
    campaign = plant("side-by-side", outputs=[("A1.", "A2 & <b>."), ("B1.", " ")])
    client.force_login(User.objects.get(username="annotator-1"))
    rows = list(Assignment.objects.order_by("position"))
    paths = [address(rows[0]), address(rows[2])]
    found = ahead(client, campaign)
    assert [one["path"] for one in found] == paths
    for one in found:
        alone = client.get(one["path"], headers=JSON).json()["html"]
        assert without_keys(one["html"]) == without_keys(alone)


# What a template may treat in ways of its own: leading lines, blanks, quotes, tags, directions.
ODD = (
    "\n  Two \r\n lines\u00a0&amp; \"quotes\" 'here' <b>&</b> {{ x }}.",
    "\u202eשלום\u202c \U0001f9d1\u200d\U0001f4bb https://example.org/?a=1&b=2 _so_ **on**.",
)


@pytest.mark.parametrize("language", ["en", "de", "cs", "ar", "zh-hans"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_shows_the_same_ahead_and_one_by_one(
    protocol: str, language: str, db: None, client: Client
) -> None:
    outputs = (
        (ODD, ODD[::-1], ("Plain.", " ")) if PROTOCOLS[protocol].layout.has_systems else (ODD,)
    )
    campaign = plant(protocol, sources=ODD[::-1], outputs=outputs, languages=("en", "ar"))
    client.force_login(User.objects.get(username="annotator-1"))
    client.cookies["django_language"] = language
    found = ahead(client, campaign)
    assert found
    for one in found:
        alone = client.get(one["path"], headers=JSON).json()["html"]
        assert without_keys(one["html"]) == without_keys(alone)


def test_screens_that_differ_in_texts_alone_are_rendered_once(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = opened(world, segments=20)
    client.force_login(world.annotators[0])
    rendered = []
    monkeypatch.setattr(cards, "drawn", lambda *given: rendered.append(given) or drawn(*given))
    found = ahead(client, rows[0].annotator.campaign)
    # The first has no screen before it.
    assert (len(found), len(rendered)) == (20, 2)
    keys = re.findall(r'name="(?:submit_key|started)" value="([^"]+)"', str(found))
    assert len(set(keys)) == 40
    assert cards.SECRET not in str(found).replace("-", "")


def test_after_a_screen_come_the_others(db: None, client: Client) -> None:
    campaign = plant("side-by-side", outputs=[("A1.", "A2."), ("B1.", "B2.")])
    client.force_login(User.objects.get(username="annotator-1"))
    rows = list(Assignment.objects.order_by("position"))
    paths = [address(rows[0]), address(rows[2])]
    for row in rows[:2]:
        after = ahead(client, campaign, after=str(row.public_id))
        assert [one["path"] for one in after] == paths[1:]
    assert ahead(client, campaign, after=str(rows[3].public_id)) == []


def test_an_answer_that_needs_no_next_screen_gets_none(world: World, client: Client) -> None:
    rows = opened(world)
    client.force_login(world.annotators[0])
    data = form(client, rows[0], ahead="1", waited_ms="nonsense")
    for _ in range(2):
        reply = client.post(address(rows[0]), data, headers=JSON)
        assert reply.json() == {"next": "/annotate/sea-80/"}
    assert Judgment.objects.get().assignment_id == rows[0].pk


def test_a_closed_campaign_has_none(world: World, client: Client) -> None:
    rows = opened(world)
    client.force_login(world.annotators[0])
    campaign = rows[0].annotator.campaign
    close_campaign(campaign=campaign)
    assert ahead(client, campaign) == []


def test_while_somebody_fetches_others_are_told_to_come_back(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=30, annotators_per_item=1)
    client.force_login(world.annotators[0])
    with fetching:
        response = client.get(reverse("annotate-ahead", args=[campaign.slug]), headers=JSON)
        assert response.json() == {"screens": [], "later": True}
    assert not Assignment.objects.filter(annotator__campaign=campaign).exists()
    assert ahead(client, campaign)


def test_a_fetch_that_fails_holds_nobody_up(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = opened(world)[0].annotator.campaign
    client.force_login(world.annotators[0])
    with monkeypatch.context() as broken:
        broken.setattr("annotation.views.judging.offline.screens_ahead", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ahead(client, campaign)
    assert ahead(client, campaign)


def test_a_pool_gives_each_a_fair_part_and_keeps_its_counts(world: World, client: Client) -> None:
    people: list[User] = world.annotators
    campaign = make_pool(people, segments=30, annotators_per_item=1)
    n = len(people)
    taken = []
    for user in people:
        client.force_login(user)
        taken.append(len(ahead(client, campaign)))
        # Asking again claims no more.
        assert len(ahead(client, campaign)) <= max(taken[-1], 1)
    assert taken[0] == min(20, 60 // (3 * n))
    assert claims_fit(campaign)
    given = Assignment.objects.filter(annotator__campaign=campaign)
    assert given.count() == given.values("item").distinct().count() == sum(taken)


def begin_with_practice(world: World, client: Client) -> Campaign:
    """One practice item and three others, for the annotator who is signed in."""
    campaign = make_campaign(make_test_set("sea", segments=3), "learning", annotators_per_item=1)
    segment = campaign.test_set.segments.first()
    campaign.items.create(kind="tutorial", segment=segment, text="One.", low=0, high=9)
    add_annotators(campaign=campaign, users=world.annotators[:1])
    open_campaign(campaign=campaign)
    client.force_login(world.annotators[0])
    return campaign


def test_what_follows_practice_waits_for_the_practice(world: World, client: Client) -> None:
    campaign = begin_with_practice(world, client)
    first = Assignment.objects.filter(annotator__campaign=campaign).earliest("position")
    assert [one["path"] for one in ahead(client, campaign)] == [address(first)]


def test_the_screens_after_the_first_behind_practice_come_ahead(
    world: World, client: Client
) -> None:
    campaign = begin_with_practice(world, client)
    practice, first, *rest = Assignment.objects.filter(annotator__campaign=campaign)
    Assignment.objects.filter(pk=practice.pk).update(completed_at=timezone.now())
    given = [one["path"] for one in ahead(client, campaign, str(first.public_id))]
    assert given == [address(each) for each in rest]
