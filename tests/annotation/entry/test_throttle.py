"""A brake on guessing passwords and links: it delays whoever guesses, and nobody else."""

import multiprocessing
from datetime import timedelta
from io import StringIO
from multiprocessing.synchronize import Barrier
from typing import Any

import pytest
from django.db import connections
from django.db.models import F
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators
from annotation.entry.throttle import COOKIE, network_address
from annotation.models import GuessCount
from tests.refusals import tells
from tests.world import PASSWORD, World, make_user, make_users

LOGIN = "/login/"
NAT, ELSEWHERE = "192.0.2.1", "198.51.100.7"


def attempt(client: Client, password: str, name: str = "researcher", address: str = NAT) -> int:
    data = {"username": name, "password": password}
    return client.post(LOGIN, data, REMOTE_ADDR=address).status_code


def later(minutes: float) -> None:
    """All that was counted happened so much earlier."""
    GuessCount.objects.update(failed_at=F("failed_at") - timedelta(minutes=minutes))


def guess(times: int, name: str = "researcher", address: str = NAT) -> list[int]:
    """Wrong passwords from a browser that nobody knows, each as soon as it is judged."""
    statuses = []
    for _ in range(times):
        statuses.append(attempt(Client(), "wrong", name, address))
        later(16)
    return statuses


def test_the_right_password_signs_in(world: World, client: Client) -> None:
    assert attempt(client, PASSWORD) == 302


def test_a_wrong_password_is_no_success(world: World, client: Client) -> None:
    response = client.post(LOGIN, {"username": "researcher", "password": "wrong"})
    assert (response.status_code, "correct username and password" in response.text) == (422, True)


def test_who_guesses_waits_longer_and_longer_but_never_for_good(world: World) -> None:
    assert [attempt(Client(), "wrong") for _ in range(5)] == [422] * 5
    waits = []
    for _ in range(12):
        response = Client().post(LOGIN, {"username": "researcher", "password": PASSWORD},
                                 REMOTE_ADDR=NAT)  # fmt: skip
        assert response.status_code == 429
        assert tells(response.text, "entry.too-many-attempts")
        waits.append(int(response["Retry-After"]))
        later(waits[-1] / 60)
        assert attempt(Client(), "wrong") == 422
    assert [round(wait / 30) for wait in waits] == [1, 2, 4, 8, 16, *[30] * 7]
    later(15.1)
    assert attempt(Client(), PASSWORD) == 302


def test_spelling_a_name_otherwise_is_the_same_account(world: World) -> None:
    for name in ("researcher", " Researcher", "RESEARCHER ", "ｒesearcher", "researcher"):
        assert attempt(Client(), "wrong", name) == 422
    assert attempt(Client(), "wrong") == 429


def test_sixty_behind_one_address_sign_in_while_somebody_guesses_there(world: World) -> None:
    people = make_users({f"person-{number}": ["annotator"] for number in range(60)})
    for number in range(25):
        guess(3, f"nobody-{number}")
    assert 429 in [attempt(Client(), "wrong", "admin") for _ in range(10)]
    assert {attempt(Client(), PASSWORD, person.username) for person in people} == {302}


def test_a_network_that_fails_at_many_accounts_gets_fewer_guesses_at_each(world: World) -> None:
    names = [f"nobody-{number}" for number in range(20)]
    assert {attempt(Client(), "wrong", name) for name in names} == {422}
    assert [attempt(Client(), "wrong") for _ in range(3)] == [422, 422, 429]
    assert attempt(Client(), PASSWORD, address=ELSEWHERE) == 302


def test_an_account_is_guarded_against_many_addresses(world: World) -> None:
    for number in range(20):
        assert attempt(Client(), "wrong", address=f"203.0.113.{number}") == 422
    assert attempt(Client(), PASSWORD, address="203.0.113.99") == 429
    later(0.6)
    assert attempt(Client(), PASSWORD, address="203.0.113.99") == 302


def test_a_known_browser_is_not_held_up_by_strangers(world: World, client: Client) -> None:
    assert attempt(client, PASSWORD) == 302
    client.post("/logout/")
    for number in range(30):
        attempt(Client(), "wrong", address=f"203.0.113.{number}")
    assert [attempt(Client(), "wrong") for _ in range(6)][-1] == 429
    assert attempt(client, PASSWORD, address=ELSEWHERE) == 302
    assert client.cookies[COOKIE]["httponly"]


def test_a_known_browser_does_not_guess_without_end(world: World, client: Client) -> None:
    assert attempt(client, PASSWORD) == 302
    client.post("/logout/")
    # Its own count, then that of account and network.
    statuses = [attempt(client, "wrong") for _ in range(11)]
    assert statuses == [422] * 10 + [429]
    # It is known to one account only.
    assert [attempt(client, "wrong", "admin") for _ in range(6)] == [422] * 5 + [429]


def test_a_forged_cookie_is_no_known_browser(world: World, client: Client) -> None:
    assert attempt(client, PASSWORD) == 302
    client.post("/logout/")
    client.cookies[COOKIE] = str(client.cookies[COOKIE].value)[:-2] + "xx"
    assert [attempt(client, "wrong") for _ in range(6)] == [422] * 5 + [429]


def test_old_failures_are_forgotten_and_nothing_names_anybody(world: World) -> None:
    guess(7)
    assert not any("researcher" in row.key or NAT in row.network for row in _rows())
    later(24 * 60)
    assert [attempt(Client(), "wrong") for _ in range(6)] == [422] * 5 + [429]
    later(24 * 60 + 1)
    assert attempt(Client(), "wrong", "somebody") == 422
    assert all(row.failed_at > timezone.now() - timedelta(hours=1) for row in _rows())


def _rows() -> list[GuessCount]:
    return list(GuessCount.objects.all())


@pytest.mark.django_db(transaction=True)
def test_processes_count_together_and_judge_one_of_many_at_once() -> None:
    make_user("researcher", "researcher")
    guess(10)
    # Each has connections of its own.
    connections.close_all()
    context = multiprocessing.get_context("fork")
    together, results = context.Barrier(2), context.Queue()
    guessers = [context.Process(target=_guess_on, args=(together, results)) for _ in range(2)]
    for process in guessers:
        process.start()
    statuses = [*results.get(timeout=60), *results.get(timeout=60)]
    for process in guessers:
        process.join()
    assert sorted(statuses) == [422] + [429] * 9


def _guess_on(together: Barrier, results: Any) -> None:
    together.wait()
    results.put([attempt(Client(), "wrong") for _ in range(5)])
    connections.close_all()


def test_twenty_dead_links(world: World, client: Client) -> None:
    (invitation,) = add_annotators(campaign=world.campaign, links=1)
    for path in ("/a/guess/", "/enter/guess/"):
        assert [client.get(path).status_code for _ in range(10)] == [404] * 10
    answers = [client.get(path) for path in ("/a/x/", "/enter/x/")]
    assert [answer.status_code for answer in answers] == [429, 429]
    assert 0 < int(answers[0]["Retry-After"]) <= 31
    # A link that works is not guessed; it stays open to the others behind the same address.
    assert client.get(reverse("personal-link", args=[invitation.token])).status_code == 302


@pytest.mark.parametrize(
    ("remote", "forwarded", "trusted", "expected"),
    [
        ("192.0.2.1", "", "", "192.0.2.1"),
        # Anybody can send the header; only what our own proxies add counts.
        ("192.0.2.1", "203.0.113.9", "", "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9", "10.0.0.0/8", "192.0.2.1"),
        ("10.0.0.1", "203.0.113.9", "10.0.0.0/8", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.9", "10.0.0.1", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.9, 10.0.0.2", "10.0.0.0/8", "203.0.113.9"),
        ("10.0.0.1", "10.9.9.9", "10.0.0.0/8", "10.9.9.9"),
        ("10.0.0.1", "", "10.0.0.1", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, not an address", "10.0.0.1", "10.0.0.1"),
        ("", "203.0.113.9", "unix", "203.0.113.9"),
        ("", "203.0.113.9", "", "unknown"),
        ("::1", "2001:db8:1:2:3:4:5:6", "::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:3:4:5:6", "", "", "2001:db8:1:2::"),
        # A server on [::] sees IPv4 visitors so; they are not one network.
        ("::ffff:192.0.2.1", "", "", "192.0.2.1"),
        ("::ffff:10.0.0.1", "203.0.113.9", "10.0.0.0/8", "203.0.113.9"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("https", [False, True])
def test_whom_failures_are_held_against(
    settings: Any, remote: str, forwarded: str, trusted: str, expected: str, https: bool
) -> None:
    settings.HTTPS = https
    settings.TRUSTED_PROXIES = [trusted] if trusted else []
    extra = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR=remote, **extra)
    assert network_address(request) == expected


def test_no_log_holds_what_was_typed(world: World, logged: StringIO) -> None:
    for _ in range(6):
        attempt(Client(), "a secret that was typed")
    assert "Too Many Requests: /login/" in logged.getvalue()
    assert "secret" not in logged.getvalue()


def test_the_api_takes_no_password(world: World, client: Client) -> None:
    headers = {"Authorization": "Basic cmVzZWFyY2hlcjpjb3JyZWN0IGhvcnNl"}
    assert client.get("/api/test-sets/", headers=headers).status_code == 401


def test_the_door_of_djangos_admin_is_the_same_door(world: World, client: Client) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"
    assert client.post("/admin/login/", {"username": "admin", "password": "x"}).status_code == 302
    client.force_login(world.researcher)
    assert client.get("/admin/", follow=True).status_code == 403
