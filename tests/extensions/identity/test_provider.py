"""Sign-in through a provider that runs here, and what must not sign anybody in."""

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from django.contrib.auth.models import Group, User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import ChangeEntry, SignIn
from annotation.web import password
from extensions.identity import provider as ours
from tests.extensions.identity.provider import CLIENT, SECRET, Provider, new_key, running
from tests.world import PASSWORD, World

ASK = reverse("provider-ask", args=["sign-in"])


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with running() as provider:
        settings.OIDC_ISSUER = provider.issuer
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
        settings.OIDC_NEW_ACCOUNTS = True
        yield provider


def ask(client: Client, address: str = ASK) -> str:
    """Go to the provider, and return the address on the way back."""
    response = client.get(address)
    assert response.status_code == 302, response.content
    back = httpx.get(response["Location"], trust_env=False).headers["Location"]
    return back.removeprefix("http://testserver")


def enter(client: Client) -> HttpResponse:
    response: Any = client.get(ask(client))
    return response


def by_password(user: User) -> Client:
    client = Client()
    client.post("/login/", {"username": user.username, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.django_db
def test_the_first_sign_in_makes_an_account_without_a_role(provider: Provider) -> None:
    client = Client()
    assert enter(client)["Location"] == "/"
    user = User.objects.get(username="mei")
    assert (user.has_usable_password(), user.groups.count(), is_in(client)) == (False, 0, True)
    assert SignIn.objects.get().user == user
    assert ChangeEntry.objects.get().action == ChangeEntry.Action.MADE
    asked = provider.asked[0]
    assert len(asked["nonce"]) >= 32
    assert len(asked["code_challenge"]) == 43
    enter(Client())
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_accounts_are_made_only_where_the_site_says_so(provider: Provider, settings: Any) -> None:
    settings.OIDC_NEW_ACCOUNTS = False
    client = Client()
    assert enter(client).status_code == 403
    assert (User.objects.count(), is_in(client)) == (0, False)


@pytest.mark.django_db
def test_groups_give_roles_and_take_them_away(provider: Provider, settings: Any) -> None:
    settings.OIDC_ROLES = {"mt": "researcher", "boss": "admin"}
    for groups, roles in (
        (["mt", "sports"], ["researcher"]),
        (["mt", "boss"], ["admin", "researcher"]),
        ([], []),
    ):
        provider.person["groups"] = groups
        enter(Client())
        user = User.objects.get()
        assert sorted(group.name for group in user.groups.all()) == roles
    user.groups.add(Group.objects.get(name="annotator"))  # of no group of the provider
    enter(Client())
    assert [group.name for group in user.groups.all()] == ["annotator"]


@pytest.mark.parametrize("verified", [True, False])
def test_an_equal_address_or_name_takes_over_no_account(
    provider: Provider, world: World, verified: bool
) -> None:
    User.objects.filter(pk=world.admin.pk).update(email="boss@example.org")
    provider.person = {
        "sub": "stranger", "preferred_username": world.admin.username,
        "email": "boss@example.org", "email_verified": verified,
    }  # fmt: skip
    client = Client()
    enter(client)
    user = User.objects.get(pk=client.session["_auth_user_id"])
    assert (user.username, user.groups.count()) == (f"{world.admin.username}-2", 0)


def twisted(**changes: Any) -> Any:
    return lambda claims: {
        name: value for name, value in (claims | changes).items() if value is not None
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "another"},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1_000_000_000},  # 2001
        {"exp": None},
        {"iat": 4_000_000_000},  # 2096
        {"nonce": "x" * 43},
        {"nonce": None},
        {"sub": None},
    ],
    ids=map(str, range(11)),  # processes that run the tests start in different seconds
)
@pytest.mark.django_db
def test_tokens_for_others_from_others_or_of_other_times_are_refused(
    provider: Provider, changes: dict[str, Any]
) -> None:
    provider.twist = twisted(**changes)
    client = Client()
    assert enter(client).status_code == 403
    assert (is_in(client), User.objects.count()) == (False, 0)


@pytest.mark.parametrize("way", ["other key", "shared secret", "public key as secret", "none"])
@pytest.mark.django_db
def test_only_the_providers_key_signs(provider: Provider, way: str) -> None:
    public = jwt.algorithms.RSAAlgorithm.to_jwk(provider.key.public_key())
    head = {"kid": provider.kid}
    sign = {
        "other key": lambda claims: provider.signed(claims, new_key()),
        "shared secret": lambda claims: jwt.encode(claims, SECRET * 3, "HS256", headers=head),
        "public key as secret": lambda claims: jwt.encode(claims, public, "HS256", headers=head),
        "none": lambda claims: jwt.encode(claims, None, "none", headers=head),
    }
    provider.sign = sign[way]
    client = Client()
    assert enter(client).status_code == 403
    assert is_in(client) is False


@pytest.mark.django_db
def test_an_answer_counts_once_and_only_in_the_browser_that_asked(provider: Provider) -> None:
    mine, victim = Client(), Client()
    address = ask(mine)
    assert victim.get(address).status_code == 403  # no state: sign-in with a stranger's answer
    assert is_in(victim) is False
    assert mine.get(address).status_code == 302
    mine.post("/logout/")
    assert mine.get(address).status_code == 403
    assert is_in(mine) is False


@pytest.mark.django_db
def test_a_code_of_another_request_is_refused_by_pkce(provider: Provider) -> None:
    """A code that was stolen and put into one's own answer has another challenge."""
    stolen = parse_qs(urlsplit(ask(Client())).query)["code"][0]
    client = Client()
    own = parse_qs(urlsplit(ask(client)).query)
    back = f"{reverse('provider-back')}?code={stolen}&state={own['state'][0]}"
    assert client.get(back).status_code == 403
    assert is_in(client) is False


@pytest.mark.django_db
def test_another_issuer_is_refused(provider: Provider) -> None:
    """RFC 9207: the answer names who gave it."""
    client = Client()
    assert client.get(f"{ask(client)}&iss=https://elsewhere.example").status_code == 403
    provider.issuer += "/other"
    assert Client().get(ASK).status_code == 502


@pytest.mark.django_db
def test_only_own_pages_follow_a_sign_in(provider: Provider) -> None:
    client = Client()
    back = ask(client, f"{ASK}?next=https://elsewhere.example/")
    assert client.get(back)["Location"] == "/"
    other = Client()
    assert other.get(ask(other, f"{ASK}?next=/glossary/"))["Location"] == "/glossary/"


def test_connecting_takes_the_password_and_a_sign_in_at_the_provider(
    provider: Provider, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = by_password(world.researcher)
    # A link alone begins nothing.
    connect = reverse("provider-ask", args=["connect"])
    assert client.get(connect)["Location"] == reverse("own-account")
    monkeypatch.setattr(password, "is_recent", lambda session: False)
    assert client.post(reverse("provider-connect")).status_code == 403
    monkeypatch.undo()
    assert client.post(reverse("provider-connect")).status_code == 200
    assert client.get(ask(client, connect)).status_code == 302
    assert ours.account_of("person-1") == world.researcher
    other = Client()
    enter(other)
    assert int(other.session["_auth_user_id"]) == world.researcher.pk
    # Nobody else connects the same person.
    third = by_password(world.admin)
    third.post(reverse("provider-connect"))
    assert third.get(ask(third, connect)).status_code == 403
    assert ours.account_of("person-1") == world.researcher


def test_an_old_sign_in_at_the_provider_connects_nothing(provider: Provider, world: World) -> None:
    provider.twist = twisted(auth_time=int(time.time()) - 3600)
    client = by_password(world.researcher)
    client.post(reverse("provider-connect"))
    assert client.get(ask(client, reverse("provider-ask", args=["connect"]))).status_code == 403
    assert ours.account_of("person-1") is None


@pytest.mark.parametrize(("person", "is_proved"), [("person-1", True), ("person-2", False)])
@pytest.mark.django_db
def test_accounts_without_a_password_prove_themselves_at_the_provider(
    provider: Provider, person: str, is_proved: bool
) -> None:
    client = Client()
    enter(client)
    session = client.session
    del session[password.KEY]
    session.save()
    again = reverse("provider-ask", args=["again"])
    page = client.post(reverse("provider-connect"))
    assert (page.status_code, again in page.text) == (403, True)
    provider.person["sub"] = person
    client.get(ask(client, again))
    assert password.is_recent(client.session) is is_proved


@pytest.mark.django_db
def test_deactivated_accounts_stay_out(provider: Provider) -> None:
    enter(Client())
    User.objects.update(is_active=False)
    client = Client()
    assert enter(client).status_code == 403
    assert is_in(client) is False


def test_the_sign_in_page_has_one_button_beside_the_password(
    provider: Provider, world: World
) -> None:
    assert Client().get("/login/").text.count(ASK) == 1
    assert is_in(by_password(world.admin))
