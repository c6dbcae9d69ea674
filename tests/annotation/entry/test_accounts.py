"""Accounts on our own pages: invited, entered once, given roles, shut."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from annotation.models import AccountLink, ChangeEntry
from annotation.models.people import hash_token
from config.redaction import redact
from tests.refusals import tells
from tests.world import PASSWORD, World

GOOD = "seven quiet harbour boats"


def invite(client: Client, **sent: object) -> str:
    """The path of the link that an invitation shows."""
    given = {"username": "newcomer", "email": "", "roles": ["researcher"]} | sent
    found = re.search(
        r"http://testserver(/password/[\w-]+/)", client.post("/accounts/", given).text
    )
    assert found
    return found[1]


def test_an_invitation_is_entered_once(as_admin: Client) -> None:
    path = invite(as_admin)
    visitor = Client()
    for wrong in ("eleven chars"[:11], "newcomer1234", "qwertyuiop12"):
        sent = {"new_password1": wrong, "new_password2": wrong}
        assert visitor.post(path, sent).status_code == 422, wrong
    assert visitor.post(path, {"new_password1": GOOD, "new_password2": GOOD}).status_code == 302
    assert visitor.get("/campaigns/").status_code == 200
    assert Client().login(username="newcomer", password=GOOD)
    assert Client().get(path).status_code == 404
    actions = list(ChangeEntry.objects.order_by("pk").values_list("action", "actor_name"))
    assert actions == [("invited", "admin"), ("entered", "newcomer")]


def test_a_link_is_stored_as_its_hash_and_logged_nowhere(as_admin: Client) -> None:
    path = invite(as_admin)
    token = path.split("/")[2]
    assert AccountLink.objects.get().token_hash == hash_token(token)
    assert token not in redact(f'"GET {path} HTTP/1.1" 200')
    assert token not in as_admin.get("/accounts/").text
    page = Client().get(path)
    assert page["Referrer-Policy"] == "strict-origin"
    assert "no-store" in page["Cache-Control"]


def test_links_expire_and_a_new_one_replaces_the_old(as_admin: Client) -> None:
    old = invite(as_admin)
    user = User.objects.get(username="newcomer")
    page = as_admin.post(f"/accounts/{user.pk}/link/").text
    new = re.search(r"/password/[\w-]+/", page)
    assert new
    assert Client().get(old).status_code == 404
    assert Client().get(new[0]).status_code == 200
    AccountLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(new[0]).status_code == 404


def test_whoever_is_deactivated_is_out_at_once(as_admin: Client, world: World) -> None:
    pk = world.researcher.pk
    inside = Client()
    inside.force_login(world.researcher)
    as_admin.post(f"/accounts/{pk}/link/")
    as_admin.post(f"/accounts/{pk}/deactivate/")
    assert inside.get("/campaigns/").status_code == 302
    assert not AccountLink.objects.exists()
    assert tells(as_admin.post(f"/accounts/{pk}/link/", follow=True).text, "accounts.inactive")
    as_admin.post(f"/accounts/{pk}/activate/")
    assert Client().login(username="researcher", password=PASSWORD)


def test_nobody_takes_the_site_from_themselves_or_from_superusers(
    as_admin: Client, world: World
) -> None:
    own = f"/accounts/{world.admin.pk}"
    assert tells(as_admin.post(f"{own}/deactivate/", follow=True).text, "accounts.yourself")
    as_admin.post(f"{own}/roles/", {"roles": ["researcher"]})
    assert world.admin.groups.filter(name="admin").exists()
    above = User.objects.create_superuser("above")
    for verb in ("link", "roles", "deactivate"):
        assert as_admin.post(f"/accounts/{above.pk}/{verb}/").status_code == 403
    assert not AccountLink.objects.exists()


def test_roles_are_what_the_form_says(as_admin: Client, world: World) -> None:
    address = f"/accounts/{world.outsider.pk}/roles/"
    as_admin.post(address, {"roles": ["campaign admin", "researcher"]})
    assert {g.name for g in world.outsider.groups.all()} == {"campaign admin", "researcher"}
    as_admin.post(address, {"roles": ["emperor"]})
    assert world.outsider.groups.count() == 2


@pytest.mark.parametrize(("username", "status"), [("researcher", 422), ("a b", 422), ("", 422)])
def test_an_invitation_that_cannot_be(
    as_admin: Client, world: World, username: str, status: int
) -> None:
    sent = {"username": username, "roles": ["researcher"]}
    before = User.objects.count()
    assert as_admin.post("/accounts/", sent).status_code == status
    assert User.objects.count() == before


def test_changing_ones_own_password_ends_other_sessions(world: World) -> None:
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        assert client.login(username="researcher", password=PASSWORD)
    sent = {"old_password": PASSWORD, "new_password1": GOOD, "new_password2": GOOD}
    assert here.post("/account/", sent | {"old_password": "wrong"}).status_code == 422
    here.post("/account/", sent)
    assert here.get("/campaigns/").status_code == 200
    assert elsewhere.get("/campaigns/").status_code == 302


def test_site_admins_are_led_from_djangos_admin_to_the_accounts(as_admin: Client) -> None:
    assert as_admin.get("/admin/", follow=True).redirect_chain[-1][0] == "/accounts/"


@pytest.mark.parametrize(
    ("password", "is_good"),
    [
        ("touchstone2026!", False),
        ("Touchstone-Campaign", False),
        ("mt-translation1", False),
        ("our touchstone is a pebble", True),
        ("seven quiet harbour boats", True),
    ],
)
def test_words_of_the_site_are_no_password(settings: Any, password: str, is_good: bool) -> None:
    settings.SITE_URL = "https://mt.example.org"
    try:
        validate_password(password)
    except ValidationError:
        assert not is_good
    else:
        assert is_good
