"""A brake on guessing passwords and links."""

from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from annotation.campaigns import add_annotators
from annotation.entry import throttle
from tests.world import PASSWORD, World

LOGIN = "/login/"


def attempt(client: Client, password: str, **headers: str) -> int:
    data = {"username": "researcher", "password": password}
    return client.post(LOGIN, data, **headers).status_code


def test_the_right_password_signs_in(world: World, client: Client) -> None:
    assert attempt(client, PASSWORD) == 302


def test_a_wrong_password_is_no_success(world: World, client: Client) -> None:
    response = client.post(LOGIN, {"username": "researcher", "password": "wrong"})
    assert (response.status_code, "correct username and password" in response.text) == (422, True)


def test_after_twenty_wrong_passwords_the_address_waits(world: World, client: Client) -> None:
    assert [attempt(client, "wrong") for _ in range(20)] == [422] * 20
    response = client.post(LOGIN, {"username": "researcher", "password": PASSWORD})
    assert (response.status_code, response["Retry-After"]) == (429, "600")
    assert "Wait ten minutes" in response.text
    assert "_auth_user_id" not in client.session
    # Others are not held up.
    assert attempt(client, PASSWORD, REMOTE_ADDR="198.51.100.7") == 302


def test_twenty_dead_links(world: World, client: Client) -> None:
    (invitation,) = add_annotators(campaign=world.campaign, links=1)
    for path in ("/a/guess/", "/enter/guess/"):
        assert [client.get(path).status_code for _ in range(10)] == [404] * 10
    assert [client.get(path).status_code for path in ("/a/x/", "/enter/x/")] == [429, 429]
    # A link that works is not guessed; it stays open to the others behind the same address.
    assert client.get(reverse("personal-link", args=[invitation.token])).status_code == 302


@pytest.mark.parametrize(
    ("remote", "forwarded", "https", "expected"),
    [
        ("192.0.2.1", "", False, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9", False, "192.0.2.1"),
        ("10.0.0.1", "203.0.113.9", True, "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.9", True, "203.0.113.9"),
        ("10.0.0.1", "", True, "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "", False, "2001:db8:1:2::"),
        ("", "", False, "unknown"),
        ("10.0.0.1", "not an address", True, "unknown"),
    ],
)
def test_whom_failures_are_held_against(
    settings: Any, remote: str, forwarded: str, https: bool, expected: str
) -> None:
    settings.HTTPS = https
    extra = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR=remote, **extra)
    assert throttle.network_address(request) == expected


def test_the_door_of_djangos_admin_is_the_same_door(world: World, client: Client) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"
    assert client.post("/admin/login/", {"username": "admin", "password": "x"}).status_code == 302
    client.force_login(world.researcher)
    assert client.get("/admin/", follow=True).status_code == 403
