"""Ways in by link and by account, the way out, and one's own history."""

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators, close_campaign, open_campaign, renew_link
from annotation.entry.welcome import NOT_YET_OPEN
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.views.judging.assignments import PAGE_SIZE
from tests.world import World, make_campaign, make_test_set

PAGES = ("annotate", "annotate-ahead", "annotate-own", "annotate-done", "annotate-history")


@pytest.fixture
def campaign(world: World) -> Campaign:
    add_annotators(campaign=world.campaign, users=world.annotators)
    return open_campaign(campaign=world.campaign)


def rows(world: World, campaign: Campaign) -> list[Assignment]:
    mine = Assignment.objects.filter(
        annotator__campaign=campaign, annotator__user=world.annotators[0]
    )
    return list(mine.order_by("position"))


def rate(assignments: list[Assignment], score: int = 64) -> None:
    now = timezone.now()
    Judgment.objects.bulk_create(
        Judgment(assignment=row, score=score, submit_key=uuid.uuid4(), submitted_at=now)
        for row in assignments
    )
    ids = [row.pk for row in assignments]
    Assignment.objects.filter(pk__in=ids).update(completed_at=now)


def invite(world: World) -> tuple[Annotator, str]:
    campaign = make_campaign(world.test_set, "links", annotators_per_item=1)
    (invitation,) = add_annotators(campaign=campaign, links=1)
    open_campaign(campaign=campaign)
    return invitation.annotator, reverse("personal-link", args=[invitation.token])


def test_a_personal_link_leads_to_the_first_item(world: World, client: Client) -> None:
    annotator, address = invite(world)
    response = client.get(address)
    assert response["Location"] == reverse("annotate", args=["links"])
    assert response["Referrer-Policy"] == "strict-origin"
    assert "no-store" in response["Cache-Control"]
    page = client.get(address, follow=True)
    first = annotator.assignments.get(position=0)
    assert page.redirect_chain[-1][0] == reverse("item", args=[first.public_id])
    assert page.context["user"] == annotator.user


def test_a_personal_link_switches_the_account(world: World, client: Client) -> None:
    annotator, address = invite(world)
    client.force_login(world.admin)
    session = client.session
    session["left"] = "behind"
    session.save()
    before = session.session_key
    client.post(address, {"switch": "open"})
    assert client.session["_auth_user_id"] == str(annotator.user.pk)
    assert client.session.session_key != before
    assert "left" not in client.session
    assert client.get(reverse("campaigns")).status_code == 403


def test_dead_links(world: World, client: Client) -> None:
    annotator, address = invite(world)
    renew_link(annotator=annotator)
    for dead in (address, reverse("personal-link", args=["nonsense"])):
        response = client.get(dead)
        assert response.status_code == 404
    assert "_auth_user_id" not in client.session


def test_strangers_are_sent_to_sign_in(campaign: Campaign, client: Client) -> None:
    for name in PAGES:
        address = reverse(name, args=[campaign.slug])
        assert client.get(address)["Location"] == f"{reverse('login')}?next={address}"


def test_others_find_nothing(world: World, campaign: Campaign, client: Client) -> None:
    for user in (world.outsider, world.researcher, world.admin):
        client.force_login(user)
        for name in PAGES:
            assert client.get(reverse(name, args=[campaign.slug])).status_code == 404


def test_leave_and_resume(world: World, campaign: Campaign, client: Client) -> None:
    client.force_login(world.annotators[0])
    mine = rows(world, campaign)
    rate(mine[:3])
    response = client.get(reverse("annotate", args=[campaign.slug]))
    assert response["Location"] == reverse("item", args=[mine[3].public_id])
    # The page of thanks is not for those who are not done.
    done = client.get(reverse("annotate-done", args=[campaign.slug]))
    assert done["Location"] == reverse("annotate", args=[campaign.slug])


def test_all_rated(world: World, campaign: Campaign, client: Client) -> None:
    client.force_login(world.annotators[0])
    rate(rows(world, campaign))
    page = client.get(reverse("annotate", args=[campaign.slug]), follow=True)
    assert page.status_code == 200
    assert 'data-rated="10"' in page.text


def test_drafts_and_closed_campaigns(world: World, campaign: Campaign, client: Client) -> None:
    client.force_login(world.annotators[0])
    rate(rows(world, campaign)[:1])
    close_campaign(campaign=campaign)
    response = client.get(reverse("annotate", args=[campaign.slug]))
    assert (response.status_code, "is closed" in response.text) == (409, True)
    assert "You rated 1 of 10 items" in client.get(
        reverse("annotate-done", args=[campaign.slug])
    ).text  # fmt: skip
    draft = make_campaign(world.test_set, "draft")
    add_annotators(campaign=draft, users=world.annotators)
    response = client.get(reverse("annotate", args=[draft.slug]))
    assert (response.status_code, NOT_YET_OPEN.text in response.text) == (409, True)


def test_history_is_ones_own(world: World, campaign: Campaign, client: Client) -> None:
    mine = rows(world, campaign)
    rate(mine[:2], score=64)
    others = Assignment.objects.filter(annotator__user=world.annotators[1])
    rate(list(others[:3]), score=93)
    client.force_login(world.annotators[0])
    page = client.get(reverse("annotate-history", args=[campaign.slug]))
    assert page.text.count("64%") == 2
    assert "93%" not in page.text
    for row in mine[:2]:
        assert reverse("item", args=[row.public_id]) in page.text
    close_campaign(campaign=campaign)
    page = client.get(reverse("annotate-history", args=[campaign.slug]))
    assert page.text.count("64%") == 2
    assert reverse("item", args=[mine[0].public_id]) not in page.text


def test_history_shows_the_current_answer_once(
    world: World, campaign: Campaign, client: Client
) -> None:
    row = rows(world, campaign)[0]
    rate([row], score=21)
    Judgment.objects.update(is_current=False)
    Judgment.objects.create(assignment=row, revision=2, score=42, submit_key=uuid.uuid4())
    client.force_login(world.annotators[0])
    page = client.get(reverse("annotate-history", args=[campaign.slug])).text
    assert ("42%" in page, "21%" in page) == (True, False)


def test_a_long_history_has_pages_and_costs_no_more(world: World, client: Client) -> None:
    campaign = make_campaign(make_test_set("sea", segments=70), "sea-80")
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    client.force_login(world.annotators[0])
    address = reverse("annotate-history", args=[campaign.slug])
    mine = rows(world, campaign)
    assert len(mine) > PAGE_SIZE
    costs = []
    for chunk in (mine[:1], mine[1:]):
        rate(chunk)
        with CaptureQueriesContext(connection) as queries:
            page = client.get(address)
        costs.append(len(queries))
    assert costs[0] == costs[1]
    assert page.text.count("64%") == PAGE_SIZE
    assert client.get(address, {"page": 2}).text.count("64%") == len(mine) - PAGE_SIZE
    for odd in ("0", "99", "x", "-1"):
        assert client.get(address, {"page": odd}).status_code == 200
