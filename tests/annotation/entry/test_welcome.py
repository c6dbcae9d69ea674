"""Consent and background come before the first item, and are nobody else's to see."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Annotator, Assignment, Campaign, Judgment
from tests.annotation.entry.test_links import PROLIFIC, make_link, make_open
from tests.refusals import has
from tests.world import World, make_campaign

JSON = {"accept": "application/json"}
CONSENT = "You may stop at any time.\n\nYour ratings are published without your name."
ANSWERS = {"native_languages": "German, Czech", "expertise": "student", "experience": "3-5"}


@pytest.fixture
def campaign(world: World) -> Campaign:
    made = make_campaign(world.test_set, "asks", consent=CONSENT, asks_background=True)
    add_annotators(campaign=made, users=world.annotators)
    return open_campaign(campaign=made)


@pytest.fixture
def visitor(world: World, client: Client) -> Client:
    client.force_login(world.annotators[0])
    return client


def me(world: World, campaign: Campaign) -> Annotator:
    return campaign.annotators.get(user=world.annotators[0])


def go(client: Client, campaign: Campaign) -> str:
    """Where the way to the items leads."""
    return client.get(reverse("annotate", args=[campaign.slug]))["Location"]


def addresses(campaign: Campaign) -> tuple[str, str]:
    return tuple(reverse(name, args=[campaign.slug]) for name in ("consent", "background"))


def test_consent_then_background_then_items(
    world: World, campaign: Campaign, visitor: Client
) -> None:
    consent, background = addresses(campaign)
    assert go(visitor, campaign) == consent
    page = visitor.get(consent)
    assert "<p>You may stop at any time.</p>" in page.text
    assert visitor.post(consent, {"decision": "agree"}).status_code == 302
    assert me(world, campaign).consented_at is not None
    assert go(visitor, campaign) == background
    assert visitor.post(background, ANSWERS).status_code == 302
    assert me(world, campaign).background == {
        "native_languages": ["German", "Czech"],
        "expertise": "student",
        "experience": "3-5",
    }
    assert go(visitor, campaign).startswith("/item/")


def test_no_item_before_consent(world: World, campaign: Campaign, visitor: Client) -> None:
    consent, background = addresses(campaign)
    row = me(world, campaign).assignments.first()
    item = reverse("item", args=[row.public_id])
    for expected in (consent, background):
        for send in (visitor.get, visitor.post):
            assert send(item)["Location"] == expected
            response = send(item, headers=JSON)
            assert response.status_code == 409
            assert response.json()["message"]["code"] == "rating.step-first"
            assert response.json()["address"] == expected
        visitor.post(consent, {"decision": "agree"})
    assert Judgment.objects.count() == 0
    visitor.post(background, ANSWERS)
    assert visitor.get(item).status_code == 200


def test_the_background_waits_for_consent(campaign: Campaign, visitor: Client) -> None:
    consent, background = addresses(campaign)
    assert visitor.get(background)["Location"] == consent
    assert visitor.post(background, ANSWERS)["Location"] == consent


def test_neither_decision(world: World, campaign: Campaign, visitor: Client) -> None:
    assert visitor.post(addresses(campaign)[0], {}).status_code == 422
    assert me(world, campaign).consented_at is None


def test_consent_is_dated_once(world: World, campaign: Campaign, visitor: Client) -> None:
    consent, _ = addresses(campaign)
    visitor.post(consent, {"decision": "agree"})
    first = me(world, campaign).consented_at
    page = visitor.post(consent, {"decision": "agree"})
    assert "You have agreed." in page.text
    assert me(world, campaign).consented_at == first


def test_declining_ends_politely(world: World, campaign: Campaign, visitor: Client) -> None:
    page = visitor.post(addresses(campaign)[0], {"decision": "decline"})
    assert (page.status_code, "You are not taking part" in page.text) == (200, True)
    assert "_auth_user_id" not in visitor.session
    assert me(world, campaign).consented_at is None
    assert me(world, campaign).assignments.count() > 0


@pytest.mark.parametrize("mode", ["static", "pool"])
def test_who_declines_frees_the_place(world: World, client: Client, mode: str) -> None:
    campaign = make_open(world, mode=mode, consent=CONSENT)
    before = campaign.annotators.count()
    _, address = make_link(world, campaign, provider="prolific", quota=1)
    client.get(address, PROLIFIC)
    client.post(addresses(campaign)[0], {"decision": "decline"})
    assert not campaign.annotators.exclude(external_id="").exists()
    assert campaign.annotators.count() == before
    assert client.get(address, {"PROLIFIC_PID": "next"}).status_code == 302


def test_nobody_declines_away_what_was_rated(world: World, client: Client) -> None:
    campaign = make_open(world, mode="static")
    _, address = make_link(world, campaign, provider="prolific")
    client.get(address, PROLIFIC)
    annotator = campaign.annotators.get(external_id="prolific:5f00aa")
    row = annotator.assignments.first()
    Judgment.objects.create(assignment=row, score=1, submit_key=uuid.uuid4())
    Assignment.objects.filter(pk=row.pk).update(completed_at="2026-01-01T00:00:00Z")
    Campaign.objects.update(consent=CONSENT)
    client.post(addresses(campaign)[0], {"decision": "decline"})
    annotator.refresh_from_db()
    assert (annotator.external_id, Judgment.objects.count()) == ("prolific:5f00aa", 1)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (
            {"native_unsaid": "on", "expertise": "unsaid", "experience": "unsaid"},
            {"native_languages": [], "expertise": "unsaid", "experience": "unsaid"},
        ),
        (
            ANSWERS | {"native_languages": " German ,, "},
            {"native_languages": ["German"], "expertise": "student", "experience": "3-5"},
        ),
    ],
)
def test_every_question_may_be_left_unanswered(
    world: World, campaign: Campaign, visitor: Client, sent: dict, stored: dict
) -> None:
    consent, background = addresses(campaign)
    visitor.post(consent, {"decision": "agree"})
    assert visitor.post(background, sent).status_code == 302
    assert me(world, campaign).background == stored


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({}, "Enter a language, or select"),
        (ANSWERS | {"native_languages": ""}, "Enter a language, or select"),
        ({"native_unsaid": "on", "experience": "unsaid"}, "background.choose-answer"),
        (ANSWERS | {"expertise": "wizard"}, "Select a valid choice"),
        (ANSWERS | {"native_languages": "x" * 201}, "at most 200 characters"),
    ],
)
def test_a_question_overlooked(
    world: World, campaign: Campaign, visitor: Client, sent: dict, says: str
) -> None:
    consent, background = addresses(campaign)
    visitor.post(consent, {"decision": "agree"})
    response = visitor.post(background, sent)
    assert (response.status_code, has(response.text, says)) == (422, True)
    assert me(world, campaign).background is None


def test_ones_own_answers_and_nobody_elses(
    world: World, campaign: Campaign, visitor: Client, client: Client
) -> None:
    consent, background = addresses(campaign)
    visitor.post(consent, {"decision": "agree"})
    visitor.post(background, ANSWERS)
    assert "German, Czech" in visitor.get(background).text
    other = Client()
    other.force_login(world.annotators[1])
    other.post(consent, {"decision": "agree"})
    assert "German" not in other.get(background).text
    other.force_login(world.researcher)
    assert other.get(background).status_code == 404
    assert "German, Czech" in other.get(reverse("access", args=[campaign.slug])).text


def test_campaigns_that_ask_nothing(world: World, client: Client) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    campaign = open_campaign(campaign=world.campaign)
    client.force_login(world.annotators[0])
    assert go(client, campaign).startswith("/item/")
    for address in addresses(campaign):
        assert client.get(address)["Location"] == reverse("annotate", args=[campaign.slug])


def test_a_draft_asks_nothing_yet(world: World, client: Client) -> None:
    draft = make_campaign(world.test_set, "later", consent=CONSENT)
    add_annotators(campaign=draft, users=world.annotators)
    client.force_login(world.annotators[0])
    assert client.get(addresses(draft)[0]).status_code == 409
