"""Second factors: codes of RFC 6238, keys, recovery codes, and what they keep out."""

import base64
import json
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.accounts import managing
from annotation.accounts.personal import erase, rows_about
from annotation.campaigns import add_annotators
from annotation.entry import throttle
from annotation.models import ChangeEntry, SignIn
from annotation.models.people import hash_token
from annotation.web import password
from extensions.identity import factors
from extensions.identity.signing_in import proof
from tests.world import PASSWORD, World

SECRET = base64.b32encode(b"12345678901234567890").decode()
# RFC 6238, appendix B, SHA-1: the last six of its eight digits.
VALUES = (
    (59, "287082"), (1111111109, "081804"), (1111111111, "050471"),
    (1234567890, "005924"), (2000000000, "279037"), (20000000000, "353130"),
)  # fmt: skip
STEP = reverse("second-step")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    def at(seconds: float) -> None:
        monkeypatch.setattr(totp.time, "time", lambda: seconds)

    return at


def code(seconds: float) -> str:
    return totp.format_hotp_value(totp.hotp_value(SECRET, int(seconds) // 30))


def give_app(user: User) -> list[str]:
    codes = factors.add_app(user, SECRET, code(time.time()))
    assert codes is not None
    # Its first code was used now; the next one is 30 seconds away.
    Authenticator.objects.filter(user=user, type="totp").update(data=_unused(user))
    return codes


def _unused(user: User) -> dict[str, Any]:
    return Authenticator.objects.get(user=user, type="totp").data | {"step": -1}


def first_step(user: User) -> Client:
    client = Client()
    sent = {"username": user.username, "password": PASSWORD}
    assert client.post("/login/", sent).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize(("seconds", "expected"), VALUES)
def test_codes_are_those_of_rfc_6238(clock: Any, seconds: int, expected: str) -> None:
    clock(seconds)
    assert factors.matching_step(SECRET, expected) == seconds // 30
    clock(seconds + 90)
    assert factors.matching_step(SECRET, expected) is None


def test_a_password_alone_opens_nothing(world: World) -> None:
    give_app(world.admin)
    client = first_step(world.admin)
    assert is_in(client) is False
    assert client.get("/accounts/").status_code == 302
    assert SignIn.objects.exists() is False
    assert client.get("/login/second/").status_code == 200
    assert client.post(STEP, {"code": "000000x"}).status_code == 422
    assert is_in(client) is False
    assert client.post(STEP, {"code": code(time.time())})["Location"] == "/"
    assert (is_in(client), SignIn.objects.get().user) == (True, world.admin)


def test_a_code_works_once(world: World) -> None:
    give_app(world.admin)
    now = code(time.time())
    first, second = first_step(world.admin), first_step(world.admin)
    first.post(STEP, {"code": now})
    second.post(STEP, {"code": now})
    assert (is_in(first), is_in(second)) == (True, False)


def test_recovery_codes_work_once_each_and_new_ones_replace_them(world: World) -> None:
    codes = give_app(world.admin)
    assert len(set(codes)) == 10
    assert all(len("".join(each.split())) >= 34 for each in codes)
    assert factors.check_code(world.admin, codes[3].replace(" ", "-"))
    assert not factors.check_code(world.admin, codes[3])
    assert factors.n_recovery_codes(world.admin) == 9
    fresh = factors.new_codes(world.admin)
    assert not factors.check_code(world.admin, codes[4])
    assert factors.check_code(world.admin, fresh[4])


def test_guessing_codes_waits_as_guessing_passwords_does(world: World) -> None:
    give_app(world.admin)
    client = first_step(world.admin)
    statuses = [client.post(STEP, {"code": "12"}).status_code for _ in range(throttle.FREE + 1)]
    assert statuses == [422] * throttle.FREE + [429]
    assert client.post(STEP, {"code": code(time.time())}).status_code == 429


def test_the_second_step_waits_ten_minutes_and_ends_with_the_password(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_app(world.admin)
    changed = first_step(world.admin)
    world.admin.set_password("another quiet harbour")
    world.admin.save()
    assert changed.get(STEP)["Location"] == "/login/"
    world.admin.set_password(PASSWORD)
    world.admin.save()
    late = first_step(world.admin)
    now = timezone.now() + timezone.timedelta(minutes=11)
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert late.get(STEP)["Location"] == "/login/"


def test_secrets_are_encrypted_or_hashed_and_not_exported(world: World) -> None:
    codes = give_app(world.researcher)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert SECRET not in stored
    assert not any("".join(each.split()) in stored for each in codes)
    assert all(hash_token("".join(each.split())) in stored for each in codes)
    about = str(list(rows_about(world.researcher)))
    assert ("mfa.Authenticator" in about, "hashes" in about) == (True, False)
    erase(actor=world.admin, user=world.researcher)
    assert not Authenticator.objects.exists()


def test_an_app_is_added_with_the_password_and_its_first_code(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, other = first_step(world.researcher), first_step(world.researcher)
    address = reverse("factor-app")
    with monkeypatch.context() as patch:
        patch.setattr(password, "is_recent", lambda session: False)
        assert client.post(address).status_code == 403
        page = client.post(address, {password.FIELD: PASSWORD})
    secret = client.session["new_factor"]
    assert "".join(page.context["secret"].split()) == secret
    assert page["Cache-Control"].count("no-store") == 1
    assert client.post(address, {"code": "1"}).status_code == 422
    right = totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30))
    page = client.post(address, {"code": right})
    assert len(page.context["codes"]) == 10
    assert (is_in(client), other.get("/account/").status_code) == (True, 302)
    assert ChangeEntry.objects.latest("pk").action == ChangeEntry.Action.FACTOR_ADDED
    # What is shown now is shown never again.
    assert page.context["codes"][0] not in client.get(reverse("factors")).text


@pytest.mark.parametrize("name", ["factor-app", "factor-key", "factor-codes", "factor-remove"])
def test_every_change_asks_for_the_password(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    client = first_step(world.researcher)
    give_app(world.researcher)
    row = Authenticator.objects.get(type="totp")
    monkeypatch.setattr(password, "is_recent", lambda session: False)
    address = reverse(name, args=[row.pk] if name == "factor-remove" else [])
    before = Authenticator.objects.count()
    assert client.post(address).status_code == 403
    assert Authenticator.objects.count() == before


def test_nobody_removes_factors_of_others_but_site_admins_who_reset_them(world: World) -> None:
    give_app(world.admin)
    row = Authenticator.objects.get(type="totp")
    client = first_step(world.researcher)
    assert is_in(client)
    client.post(reverse("factor-remove", args=[row.pk]))
    reset = reverse("account-factors", args=[world.admin.pk])
    assert client.post(reset).status_code == 403
    assert factors.has_factor(world.admin)
    give_app(world.researcher)
    admin = first_step(world.admin)
    admin.post(STEP, {"code": code(time.time())})
    admin.post(reverse("account-factors", args=[world.researcher.pk]))
    assert not Authenticator.objects.filter(user=world.researcher).exists()


def test_recovery_codes_go_with_the_last_factor(world: World) -> None:
    give_app(world.admin)
    row = Authenticator.objects.get(type="totp")
    assert factors.remove(world.admin, world.admin, row.pk) == 1
    assert not Authenticator.objects.exists()


def test_site_admins_set_one_up_before_anything_else_where_they_must(
    world: World, settings: Any
) -> None:
    settings.SECOND_FACTOR = "admins"
    client = first_step(world.admin)
    assert client.get("/accounts/")["Location"] == reverse("factors")
    assert client.get("/api/campaigns/").status_code == 403
    assert client.post(reverse("token-make"), {"name": "x"}).status_code == 403
    assert client.get(reverse("factors")).status_code == 200
    assert first_step(world.researcher).get("/campaigns/").status_code == 200
    give_app(world.admin)
    assert client.get("/accounts/").status_code == 200


def test_people_who_came_by_a_link_have_no_such_pages(world: World, settings: Any) -> None:
    settings.SECOND_FACTOR = "admins"
    (invitation,) = add_annotators(campaign=world.campaign, links=1)
    client = Client()
    client.get(reverse("personal-link", args=[invitation.token]))
    assert client.get(reverse("factors")).status_code in (302, 404)


def test_a_link_to_set_a_password_asks_for_the_second_factor(world: World) -> None:
    give_app(world.researcher)
    token = managing.reset(actor=world.admin, user=world.researcher)
    client = Client()
    new = "seven quiet harbour boats"
    sent = {"new_password1": new, "new_password2": new}
    response: Any = client.post(reverse("account-link", args=[token]), sent)
    assert (response["Location"], is_in(client)) == (STEP, False)


def test_an_account_without_a_password_proves_itself_by_a_code(world: World) -> None:
    client = first_step(world.researcher)
    give_app(world.researcher)
    request = type("Request", (), {"session": client.session})
    assert password.is_recent(request.session)
    world.researcher.set_unusable_password()
    found = proof(request, world.researcher)  # type: ignore[arg-type]
    assert found.address == ""
    assert found.check is not None
    assert (found.check("1"), found.check(code(time.time()))) == (False, True)


@pytest.mark.parametrize("sent", ["", "[]", "{}", "x", json.dumps({"id": "a", "response": {}})])
def test_what_no_key_sends_adds_and_opens_nothing(world: World, sent: str) -> None:
    client = first_step(world.researcher)
    client.post(reverse("factor-key"), {"name": "K"})
    response = client.post(reverse("factor-key"), {"name": "K", "credential": sent})
    assert response.status_code in (200, 422)
    assert not Authenticator.objects.exists()
    give_app(world.admin)
    other = first_step(world.admin)
    assert other.post(STEP, {"credential": sent}).status_code == 422
    assert not is_in(other)
