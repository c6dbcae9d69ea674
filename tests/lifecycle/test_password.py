"""Deletions and changes of roles ask for the password unless it was given lately."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.accounts import tokens
from annotation.models import Campaign, ChangeEntry, Membership, TestSetShare
from lifecycle.resources import RESOURCE_TYPES
from tests.addresses import fill, routes
from tests.fuzz.places import Places, make_places
from tests.refusals import tells
from tests.world import PASSWORD, World

NEEDS = {"training", "extensions.neural"}
ASKS = 'data-asks="password"'
# Names of addresses that delete or give rights, and those among them that are neither.
CLASS = re.compile(r"delete|remove|role|member|owner|share|^account-|activate")
NEITHER = {
    "account-link": "the holder of a link sets the password there",
    "account-sign-out": "takes nothing but sessions",
    "factor-remove": "tests/extensions/identity",
    "account-factors": "tests/extensions/identity",
    "campaign-items-delete": "items of a draft",
    "selection-delete": "a reader's own selection of values",
    "invitation-revoke": "a link, which can be made again",
}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    def wait(**time: float) -> None:
        now = timezone.now() + timedelta(**time)
        monkeypatch.setattr(timezone, "now", lambda: now)

    return wait


@pytest.fixture
def places(db: None) -> Places:
    made = make_places()
    made.superuser.set_password(PASSWORD)
    made.superuser.save()
    return made


def changes(places: Places) -> Iterator[tuple[str, str]]:
    """Every address of the class, with rows that exist; each resource type by the registry."""
    for name, route in routes():
        if CLASS.search(name) and name not in NEITHER and "<kind>" not in route:
            slug = (places.world.test_set if "testsets" in route else places.campaign).slug
            slug = "port" if "projects" in route else slug
            if not route.startswith("/api/"):
                yield name, *fill(route, {"slug": [slug], "pk": [places.key(route)]})
    for kind in RESOURCE_TYPES.values():
        row = kind.model._default_manager.order_by("pk").first()
        if row is not None:
            yield kind.name, reverse("manage-delete", args=[kind.name, getattr(row, kind.key)])
    yield "accounts", "/accounts/"
    user = places.world.outsider.pk
    yield "admin-delete", f"/admin/auth/user/{user}/delete/"
    yield "admin-change", f"/admin/auth/user/{user}/change/"


def counts() -> list[int]:
    """What a deletion or a change of roles would change."""
    models = (User, Membership, TestSetShare, User.groups.through, ChangeEntry)
    kinds = [kind.model for kind in RESOURCE_TYPES.values()]
    return [model._default_manager.count() for model in (*models, *kinds)]


def test_every_deletion_and_change_of_roles_asks(places: Places, later: Any) -> None:
    client = Client()
    client.force_login(places.superuser)
    later(minutes=15)
    before, asked = counts(), []
    sent = {"username": "newcomer", "roles": ["admin"], "role": "admin", "reason": "<b>"}
    for name, address in changes(places):
        page = client.post(address, sent)
        assert (page.status_code, ASKS in page.text) == (403, True), name
        assert 'name="reason" value="&lt;b&gt;"' in page.text, name
        asked.append(name)
    assert counts() == before
    # A class that lost its addresses would pass, too.
    assert {"account-roles", "member-add", "member-remove", "testset-owner"} < set(asked)
    assert {"campaign", "test-set", "run", "metric", "job"} <= set(asked)
    assert len(asked) == len(set(asked))


def test_what_was_sent_is_done_once_the_password_is_right(world: World, later: Any) -> None:
    client = Client()
    assert client.login(username="admin", password=PASSWORD)
    later(minutes=16)
    address = f"/accounts/{world.outsider.pk}/roles/"
    wrong = client.post(address, {"roles": ["researcher"], "password_again": "another"})
    assert (wrong.status_code, ASKS in wrong.text, "another" in wrong.text) == (403, True, False)
    assert not world.outsider.groups.filter(name="researcher").exists()
    right = {"roles": ["researcher", "annotator"], "password_again": PASSWORD}
    assert client.post(address, right).status_code == 302
    names = world.outsider.groups.order_by("name").values_list("name", flat=True)
    assert list(names) == ["annotator", "researcher"]
    # It is good for 15 minutes.
    later(minutes=14.9)
    assert client.post(address, {"roles": []}).status_code == 302
    later(minutes=0.2)
    assert client.post(address, {"roles": ["admin"]}).status_code == 403
    assert not world.outsider.groups.exists()


def test_wrong_passwords_are_failed_sign_ins(world: World, later: Any) -> None:
    client = Client()
    assert client.login(username="admin", password=PASSWORD)
    later(minutes=16)
    address = f"/accounts/{world.outsider.pk}/roles/"
    tries = [client.post(address, {"password_again": "no"}).status_code for _ in range(6)]
    assert tries == [403] * 5 + [429]
    assert client.post(address, {"password_again": PASSWORD}).status_code == 429


def test_reading_asks_for_nothing(world: World, later: Any) -> None:
    client = Client()
    client.force_login(world.admin)
    later(hours=1)
    for address in ("/manage/campaign/harbour-80/delete/", "/accounts/", "/campaigns/"):
        assert client.get(address).status_code == 200


def test_without_a_password_one_signs_in_again(world: World, later: Any) -> None:
    world.admin.set_unusable_password()
    world.admin.save()
    client = Client()
    client.force_login(world.admin)
    later(minutes=16)
    address = f"/accounts/{world.outsider.pk}/roles/"
    page = client.post(address, {"roles": ["researcher"]})
    assert (page.status_code, tells(page.text, "password.none")) == (403, True)
    client.force_login(world.admin)
    assert client.post(address, {"roles": ["researcher"]}).status_code == 302


def test_who_may_not_do_it_is_not_asked(world: World, later: Any) -> None:
    client = Client()
    client.force_login(world.researcher)
    later(minutes=16)
    for address in ("/manage/campaign/harbour-80/delete/", f"/accounts/{world.admin.pk}/roles/"):
        assert ASKS not in client.post(address).text


def test_the_api_asks_sessions_and_no_tokens(world: World, later: Any) -> None:
    client = Client()
    client.force_login(world.admin)
    later(minutes=16)
    address, members = "/api/things/campaign/harbour-80/", "/api/campaigns/harbour-80/members/"
    body = {"seen": client.get(address).json()["seen"]}
    member = {"username": "researcher", "role": "admin"}
    kind = "application/json"
    answers = [
        client.delete(address, body, content_type=kind),
        client.post(members, member, content_type=kind),
    ]
    assert [(one.status_code, one.json()["code"]) for one in answers] == [
        (403, "password.again")
    ] * 2
    assert Campaign.objects.exists()
    scopes = ["read", "annotate-admin"]
    token = tokens.make(user=world.admin, name="t", scopes=scopes, days=1)
    bearer = {"Authorization": f"Bearer {token}"}
    program = Client(headers=bearer)
    assert program.post(members, member, content_type=kind).status_code == 201
    body = {"seen": program.get(address).json()["seen"]}
    assert program.delete(address, body, content_type=kind).status_code == 204
