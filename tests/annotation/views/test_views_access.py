"""The access tab: members, personal links, access links."""

import csv
import io
import re
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators, open_campaign
from annotation.entry import places
from annotation.models import (
    AccessLink,
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    Membership,
)
from tests.annotation.entry.test_links import PROLIFIC, make_link, make_open
from tests.core.test_csp import INLINE
from tests.house.templates.seen import seen
from tests.refusals import has, tells
from tests.world import PASSWORD, World, make_user


def address(name: str, campaign: Campaign, *rest: object) -> str:
    return reverse(name, args=[campaign.slug, *rest])


def day(days: int) -> str:
    return (timezone.now() + timedelta(days=days)).strftime("%Y-%m-%d")


def test_members_come_change_and_go(world: World, as_admin: Client) -> None:
    campaign = world.campaign
    add = address("member-add", campaign)
    for role in ("researcher", "admin"):
        as_admin.post(add, {"username": "researcher", "role": role})
        assert Membership.objects.get().role == role
    member = Membership.objects.get()
    assert str(member.get_role_display()) in as_admin.get(address("access", campaign)).text
    as_admin.post(address("member-remove", campaign, member.pk))
    assert not Membership.objects.exists()
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", "actor__username"))
    expected = ["member set", "member set", "member removed"]
    assert actions == [(action, "admin") for action in expected]


@pytest.mark.parametrize(
    ("name", "says"),
    [("nobody", "people.unknown-account"), ("outsider", "people.only-rates"), ("", "required")],
)
def test_who_cannot_be_a_member(world: World, as_admin: Client, name: str, says: str) -> None:
    data = {"username": name, "role": "admin"}
    response = as_admin.post(address("member-add", world.campaign), data)
    assert (response.status_code, has(response.text, says)) == (422, True)
    assert not Membership.objects.exists()


def test_another_campaigns_member_is_not_found(world: World, as_admin: Client) -> None:
    other = make_open(world)
    member = Membership.objects.create(campaign=other, user=world.researcher)
    assert as_admin.post(address("member-remove", world.campaign, member.pk)).status_code == 404


def test_private_and_public(world: World, as_admin: Client) -> None:
    for word, is_private in (("yes", True), ("no", False)):
        as_admin.post(address("campaign-privacy", world.campaign), {"private": word})
        world.campaign.refresh_from_db()
        assert world.campaign.is_private is is_private


def test_who_removes_oneself_from_a_private_campaign_ends_at_the_list(
    world: World, client: Client
) -> None:
    Campaign.objects.update(is_private=True)
    member = Membership.objects.create(campaign=world.campaign, user=world.researcher, role="admin")
    client.force_login(world.researcher)
    page = client.post(address("member-remove", world.campaign, member.pk), follow=True)
    assert page.status_code == 200
    assert client.get(address("access", world.campaign)).status_code == 404


def fresh_links(text: str) -> list[tuple[str, str]]:
    block = re.search(r'aria-label="New links">(.*?)</table>', text, re.S)
    rows = r'<th scope="row">(.*?)</th><td><code>(.*?)</code>'
    return re.findall(rows, seen(block.group(1))) if block else []


def test_personal_links_are_shown_and_work(world: World, as_admin: Client) -> None:
    campaign = world.campaign
    last = timezone.now() + timedelta(days=2)
    data = {"count": "3", "expires_at": f"{last:%Y-%m-%d}"}
    page = as_admin.post(address("people-add", campaign), data, follow=True)
    links = fresh_links(page.text)
    assert [label for label, _ in links] == ["A1", "A2", "A3"]
    ((encoded),) = re.findall(r'href="data:text/csv;charset=utf-8,([^"]*)"', page.text)
    rows = list(csv.reader(io.StringIO(unquote(encoded))))
    assert rows == [["annotator", "link"], *[list(link) for link in links]]
    assert fresh_links(as_admin.get(address("access", campaign)).text) == links
    path = links[0][1].removeprefix("http://testserver")
    # Annotators of a draft enter, and the page says that it is not open.
    assert Client().get(path, follow=True).status_code == 409
    end = Annotator.objects.get(label="A1").token_expires_at
    assert f"{end:%Y-%m-%d %H:%M}" == f"{last + timedelta(days=1):%Y-%m-%d} 00:00"


def test_admins_find_people_by_the_name_that_these_see(world: World, client: Client) -> None:
    first, second = (made.annotator for made in add_annotators(campaign=world.campaign, links=2))
    page = address("access", world.campaign)
    client.force_login(world.admin)
    found = client.get(page, {"q": second.user.username}).text
    assert f"<code>{second.user.username}</code>" in found
    assert first.user.username not in found
    client.force_login(world.researcher)
    assert second.user.username not in client.get(page).text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"count": "-1"}, "greater than or equal to 0"),
        ({"count": "501"}, "less than or equal to 500"),
        ({"count": "1", "expires_at": "2020-01-01"}, "access.past-day"),
        ({"count": "1", "expires_at": "soon"}, "Enter a valid date."),
    ],
)
def test_bad_invitations(world: World, as_admin: Client, data: dict, says: str) -> None:
    response = as_admin.post(address("people-add", world.campaign), data)
    assert (response.status_code, has(response.text, says)) == (422, True)
    assert world.campaign.annotators.count() == 0


def test_fixed_shares_take_no_more_people(world: World, as_admin: Client) -> None:
    campaign = make_open(world, mode="static")
    response = as_admin.post(address("people-add", campaign), {"count": "1"})
    assert (response.status_code, 'data-case="fixed"' in response.text) == (422, True)
    assert campaign.annotators.count() == 3


def test_who_reads_the_database_has_no_link(world: World, as_admin: Client, settings: Any) -> None:
    """Sessions are signed and not encrypted; what is in them is read without the key."""
    shown = as_admin.post(address("people-add", world.campaign), {"count": "2"}, follow=True)
    tokens = [link.split("/")[-2] for _, link in fresh_links(shown.text)]
    held = "".join(str(session.get_decoded()) for session in Session.objects.all())
    assert (len(tokens), "fresh_links" in held) == (2, True)
    assert [token for token in tokens if token in held] == []
    page = address("access", world.campaign)
    assert [link.split("/")[-2] for _, link in fresh_links(as_admin.get(page).text)] == tokens
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]  # else everybody is signed out
    settings.SECRET_KEY = "another one"
    assert fresh_links(as_admin.get(page).text) == []


def test_sessions_that_have_ended_go_when_somebody_signs_in(world: World) -> None:
    past, future = (timezone.now() + timedelta(days=days) for days in (-1, 1))
    for key, end in (("past", past), ("future", future)):
        Session.objects.create(session_key=key, session_data="", expire_date=end)
    Client().post("/login/", {"username": world.admin.username, "password": PASSWORD})
    assert "future" in set(Session.objects.values_list("session_key", flat=True))
    assert not Session.objects.filter(session_key="past").exists()


def test_a_link_is_renewed_and_revoked(world: World, as_admin: Client) -> None:
    campaign = world.campaign
    page = as_admin.post(address("people-add", campaign), {"count": "1"}, follow=True)
    ((_, first),) = fresh_links(page.text)
    annotator = campaign.annotators.get()
    renew = address("invitation-renew", campaign, annotator.pk)
    Annotator.objects.update(token_expires_at=timezone.now() - timedelta(days=1))
    page = as_admin.post(renew, follow=True)
    ((_, second),) = fresh_links(page.text)
    paths = [link.removeprefix("http://testserver") for link in (first, second)]
    assert [Client().get(path).status_code for path in paths] == [404, 302]
    as_admin.post(address("invitation-revoke", campaign, annotator.pk))
    assert Client().get(paths[1]).status_code == 404
    page = as_admin.post(renew, {"expires_at": "2020-01-01"}, follow=True)
    assert tells(page.text, "access.past-day")


def test_a_new_link_signs_out_who_came_by_the_old_one(world: World, as_admin: Client) -> None:
    """Whoever else had it; the mail that brings a new one to the person does not."""
    campaign = make_open(world, mode="static")
    annotator = campaign.annotators.exclude(user=None)[0]
    entered = Client()

    def is_signed_in() -> bool:
        return bool(entered.get("/").wsgi_request.user.is_authenticated)

    path = reverse("personal-link", args=[places.renew(annotator=annotator).token])
    assert (entered.get(path).status_code, is_signed_in()) == (302, True)
    places.renew(annotator=annotator)
    assert is_signed_in()
    page = as_admin.post(address("invitation-renew", campaign, annotator.pk), follow=True)
    assert (is_signed_in(), tells(page.text, "link.revoked")) == (False, True)
    as_admin.post(address("invitation-revoke", campaign, annotator.pk))
    assert "Account " not in as_admin.get(address("access", campaign)).text


def test_no_personal_link_for_accounts_that_do_more(world: World, as_admin: Client) -> None:
    annotator = Annotator.objects.create(
        campaign=world.campaign, label="R", user=make_user("both", "annotator", "researcher")
    )
    page = as_admin.post(address("invitation-renew", world.campaign, annotator.pk), follow=True)
    assert tells(page.text, "people.not-by-link")


def test_an_access_link_is_shown_with_what_the_platform_fills(
    world: World, as_admin: Client
) -> None:
    campaign = make_open(world)
    data = {"provider": "prolific", "quota": "2", "completion_code": "C1", "expires_at": day(1)}
    page = as_admin.post(address("access-link-add", campaign), data, follow=True)
    ((label, link),) = fresh_links(page.text)
    assert label == "Prolific"
    assert link.endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}&amp;SESSION_ID={{%SESSION_ID%}}"
    )
    stored = AccessLink.objects.get()
    assert (stored.quota, stored.completion_code) == (2, "C1")
    path = link.removeprefix("http://testserver").partition("?")[0]
    assert Client().get(path, PROLIFIC).status_code == 302
    page = as_admin.get(address("access", campaign))
    assert ("1 of 2" in seen(page.text), "5f00aa" in page.text) == (True, True)
    as_admin.post(address("access-link-revoke", campaign, stored.pk))
    assert Client().get(path, PROLIFIC).status_code == 410
    assert "Revoked" in as_admin.get(address("access", campaign)).text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"provider": "elsewhere"}, "Select a valid choice"),
        ({"provider": "open", "quota": "-1"}, "greater than or equal to 0"),
        ({"provider": "open", "completion_code": "a b"}, "only letters, digits, - and _"),
        ({"provider": "open", "expires_at": "2020-01-01"}, "access.past-day"),
    ],
)
def test_bad_access_links(world: World, as_admin: Client, data: dict, says: str) -> None:
    response = as_admin.post(address("access-link-add", world.campaign), data)
    assert (response.status_code, has(response.text, says)) == (422, True)
    assert not AccessLink.objects.exists()


def test_readers_see_no_ids_no_codes_and_no_forms(world: World, as_researcher: Client) -> None:
    campaign = make_open(world)
    _, path = make_link(world, campaign, provider="prolific", completion_code="SECRETCODE")
    Client().get(path, PROLIFIC)
    page = as_researcher.get(address("access", campaign))
    assert page.status_code == 200
    for hidden in ("5f00aa", "SECRETCODE"):
        assert hidden not in page.text
    assert page.text.partition("<main")[2].count("<form") == 0


def test_the_tab_costs_the_same_with_many_people(
    world: World, as_admin: Client, django_assert_max_num_queries: object
) -> None:
    campaign = world.campaign
    add_annotators(campaign=campaign, links=20)
    open_campaign(campaign=campaign)
    with django_assert_max_num_queries(27):  # type: ignore[operator]
        as_admin.get(address("access", campaign))


def test_the_new_pages_hold_nothing_inline(world: World, as_admin: Client) -> None:
    campaign = make_open(world, consent="Agree?", asks_background=True)
    _, path = make_link(world, campaign)
    person = Client()
    pages = [person.get(path), person.post(path, follow=True)]
    person.post(address("consent", campaign), {"decision": "agree"})
    pages += [person.get(address("background", campaign))]
    pages += [as_admin.post(address("people-add", campaign), {"count": "2"}, follow=True)]
    pages += [as_admin.get(address("access", campaign))]
    for page in pages:
        assert page.status_code == 200
        found = [what for what, pattern in INLINE.items() if pattern.search(page.text)]
        assert found == [], page.request["PATH_INFO"]


def test_people_of_a_crowd_are_found_and_ordered(
    world: World, as_admin: Client, client: Client
) -> None:
    add_annotators(campaign=world.campaign, links=60)
    person = Annotator.objects.get(label="A57")
    assert person.user is not None
    person.user.email = "late.riser@example.org"
    person.user.last_login = timezone.now()
    person.user.save()
    people = address("access", world.campaign)

    def labels(**asked: str) -> list[str]:
        return re.findall(r'<th scope="row">(A\d+)', seen(client.get(people, asked).text))

    assert len(labels()) == 50
    assert labels(page="2") == [f"A{number}" for number in range(51, 61)]
    assert labels(q="RISER@") == ["A57"]
    assert labels(sort="seen")[0] == "A57"
    assert client.get(people, {"sort": "no-such"}).status_code == 400
    # Readers find names, and neither see nor probe for addresses.
    client.force_login(world.researcher)
    assert labels(q="riser") == []
    assert labels(q="A57") == ["A57"]
    assert "riser" not in client.get(people).text


def test_a_campaign_closed_early_is_not_called_complete(world: World, as_admin: Client) -> None:
    campaign = world.campaign
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    Assignment.objects.filter(annotator__campaign=campaign, position=0).update(
        completed_at=timezone.now()
    )
    assert ">At work<" in as_admin.get(address("access", campaign)).text
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.CLOSED)
    page = as_admin.get(address("access", campaign)).text
    assert ">Not finished<" in page
    assert ">At work<" not in page
    assert tells(page, "campaign.unjudged")
