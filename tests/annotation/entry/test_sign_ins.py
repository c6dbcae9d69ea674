"""Sessions that began with a password: listed, ended by their owner and by admins, and limited."""

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators
from annotation.entry.sign_ins import browser_of
from annotation.models import ApiToken, ChangeEntry, SignIn
from annotation.models.people import hash_token
from tests.world import PASSWORD, World

ROOT = Path(__file__).parents[3]
GOOD = "seven quiet harbour boats"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def enter(user: User, **headers: str) -> Client:
    client = Client(**headers)
    sent = {"username": user.username, "password": PASSWORD}
    assert client.post("/login/", sent).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return bool(client.get("/account/").status_code == 200)


def later(monkeypatch: pytest.MonkeyPatch, **time: float) -> datetime:
    now = timezone.now() + timedelta(**time)
    monkeypatch.setattr(timezone, "now", lambda: now)
    return now


def test_a_sign_in_is_listed_without_a_way_to_its_session(world: World) -> None:
    client = enter(world.researcher, HTTP_USER_AGENT=FIREFOX)
    row = SignIn.objects.get()
    assert (row.user, row.browser, row.address) == (world.researcher, "Firefox, Linux", "")
    page = client.get("/account/").text
    assert ("Firefox, Linux" in page, page.count("sign-ins/end/")) == (True, 0)
    stored = " ".join(str(value) for value in SignIn.objects.values().get().values())
    assert Session.objects.get().session_key not in stored


@pytest.mark.parametrize(("stores", "address"), [(True, "192.0.2.7"), (False, "")])
def test_addresses_are_the_operators_choice(
    world: World, settings: Any, stores: bool, address: str
) -> None:
    settings.SESSION_ADDRESSES = stores
    client = enter(world.researcher, REMOTE_ADDR="192.0.2.7")
    assert SignIn.objects.get().address == address
    assert ("192.0.2.7" in client.get("/account/").text) is stores


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/124.0 Safari/537.36 Edg/124.0", "Edge, Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) CriOS/124.0", "Chrome, iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/17 Safari/605", "Safari, macOS"),
        ("<script>", ""),
    ],
)
def test_browsers_in_short_words(agent: str, words: str) -> None:
    assert browser_of(RequestFactory().get("/", HTTP_USER_AGENT=agent)) == words


def test_one_ends_ones_other_sign_ins_and_nobody_elses(world: World) -> None:
    first, second, third = (enter(world.researcher) for _ in range(3))
    stranger = enter(world.admin)
    keys = dict(SignIn.objects.values_list("pk", "user__username"))
    foreign = next(pk for pk, name in keys.items() if name == "admin")
    mine = sorted(set(keys) - {foreign})
    first.post(reverse("sign-in-end", args=[foreign]))
    first.post(reverse("sign-in-end", args=[mine[0]]))  # the one of this browser
    assert [is_in(client) for client in (first, second, third, stranger)] == [True] * 4
    first.post(reverse("sign-in-end", args=[mine[1]]))
    assert [is_in(client) for client in (first, second, third)] == [True, False, True]
    first.post(reverse("sign-ins-end"))
    assert [is_in(each) for each in (first, third, stranger)] == [True, False, True]
    assert SignIn.objects.count() == 2


def test_a_session_left_open_does_not_end_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = enter(world.researcher), enter(world.researcher)
    later(monkeypatch, minutes=16)
    assert first.post(reverse("sign-ins-end")).status_code == 403
    assert is_in(second)
    sent = {"password_again": PASSWORD}
    assert first.post(reverse("sign-ins-end"), sent).status_code == 302
    assert not is_in(second)


@pytest.mark.parametrize(
    "page", ["/campaigns/", "/testsets/", "/account/", "/accounts/", "/search/?q=a", "/api/runs/"]
)
def test_nothing_made_for_a_person_stays_in_a_cache(as_admin: Client, page: str) -> None:
    assert "no-store" in as_admin.get(page)["Cache-Control"]


def test_signing_out_ends_the_sign_in(world: World) -> None:
    client = enter(world.researcher)
    client.post("/logout/")
    assert not SignIn.objects.exists()


def test_admins_sign_an_account_out_everywhere(world: World, as_admin: Client) -> None:
    inside = [enter(world.researcher) for _ in range(2)]
    outside = enter(world.outsider)
    path = reverse("account-sign-out", args=[world.researcher.pk])
    as_admin.post(path)
    as_admin.post(path)
    assert [is_in(client) for client in (*inside, outside)] == [False, False, True]
    entry = ChangeEntry.objects.get()
    assert (entry.action, entry.actor_name, entry.name) == ("signed out", "admin", "researcher")


@pytest.mark.parametrize(
    ("name", "time", "stays"),
    [
        ("admin", {"hours": 11.9}, True),
        ("admin", {"hours": 12}, False),
        # Who only rates may leave a page open over night.
        ("outsider", {"hours": 13}, True),
        ("outsider", {"days": 13.9}, True),
        ("outsider", {"days": 14}, False),
    ],
)
def test_sign_ins_end_by_themselves(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    time: dict[str, float],
    stays: bool,
) -> None:
    client = enter(User.objects.get(username=name))
    session = client.session
    session.set_expiry(timedelta(days=99))  # Django's own end is another matter
    session.save()
    later(monkeypatch, **time)
    assert is_in(client) is stays


def test_use_puts_off_the_idle_limit_and_not_the_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = enter(world.admin)
    for _ in range(27):
        later(monkeypatch, hours=11.9)
        session = client.session
        session.set_expiry(timedelta(days=99))
        session.save()
        assert is_in(client)
    later(monkeypatch, hours=16)
    assert not is_in(client)


def test_rows_that_are_over_are_deleted_with_sessions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(world.researcher)
    later(monkeypatch, days=13)
    enter(world.admin)
    later(monkeypatch, days=1)
    call_command("clearsessions")
    assert [row.user for row in SignIn.objects.all()] == [world.admin]


def test_limits_are_settings(world: World, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SESSION_IDLE_HOURS, settings.SESSION_DAYS = 0, 3
    client = enter(world.admin)
    later(monkeypatch, days=2.9)
    assert is_in(client)
    later(monkeypatch, days=0.2)
    assert not is_in(client)


def test_use_is_written_once_a_minute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = enter(world.admin)
    begun = SignIn.objects.get().seen_at
    now = later(monkeypatch, seconds=59)
    client.get("/account/")
    assert SignIn.objects.get().seen_at == begun
    now = later(monkeypatch, seconds=2)
    with CaptureQueriesContext(connection) as queries:
        client.get("/account/")
        client.get("/account/")
    writes = [each["sql"] for each in queries if each["sql"].startswith("UPDATE")]
    assert (len(writes), SignIn.objects.get().seen_at) == (1, now)


def test_a_full_disk_keeps_nobody_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = enter(world.admin)
    later(monkeypatch, minutes=5)

    def refuse(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE"):
            raise DatabaseError
        return execute(sql, *rest)

    with connection.execute_wrapper(refuse):
        assert is_in(client)


def test_sessions_without_a_row_have_ended(world: World) -> None:
    """Those that began before there were rows; nobody could list or end them."""
    client = enter(world.admin)
    session = client.session
    del session["sign_in"]
    session.save()
    assert not is_in(client)


def test_a_session_does_not_live_on_another_accounts_row(world: World) -> None:
    client = enter(world.admin)
    SignIn.objects.update(user=world.researcher)
    assert not is_in(client)


def test_links_have_no_sign_ins(world: World) -> None:
    (made,) = add_annotators(campaign=world.campaign, links=1)
    client = Client()
    assert client.get(reverse("personal-link", args=[made.token])).status_code == 302
    assert (is_in(client), SignIn.objects.exists()) == (True, False)


def test_a_new_password_ends_other_sign_ins_and_no_token(world: World) -> None:
    here, elsewhere = enter(world.researcher), enter(world.researcher)
    ApiToken.objects.create(
        user=world.researcher, name="t", scopes=["read"], token_hash=hash_token("t"),
        expires_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    here.post("/account/", {"old_password": PASSWORD, "new_password1": GOOD, "new_password2": GOOD})
    assert (is_in(here), is_in(elsewhere), SignIn.objects.count()) == (True, False, 1)
    assert ApiToken.objects.get().revoked_at is None


def test_who_comes_back_is_signed_in_nowhere(world: World, as_admin: Client) -> None:
    inside = enter(world.researcher)
    for verb in ("deactivate", "activate"):
        as_admin.post(f"/accounts/{world.researcher.pk}/{verb}/")
    assert not is_in(inside)


def test_pages_that_ask_for_nobody_read_no_session(world: World) -> None:
    client = enter(world.admin)
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/healthz").status_code == 200
    assert [each["sql"] for each in queries if "session" in each["sql"]] == []


NAMES = """
import json, django.conf as c
s = c.settings
names = [s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME]
print(json.dumps([names, s.SESSION_COOKIE_AGE, s.SESSION_COOKIE_PATH, s.SESSION_COOKIE_DOMAIN]))
"""


def settings_of(tmp_path: Path, **env: str) -> Any:
    known = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    known |= {"TOUCHSTONE_VAR": str(tmp_path)} | env
    command = [sys.executable, "-c", NAMES]
    done = subprocess.run(command, env=known, cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_cookies_belong_to_the_host_alone_over_https(tmp_path: Path) -> None:
    """RFC 6265bis, 4.1.3.2: `__Host-` needs Secure, no Domain, and the path `/`."""
    plain, secure = (settings_of(tmp_path, HTTPS=word, SESSION_DAYS="30") for word in ("no", "yes"))
    assert plain == [["sessionid", "csrftoken"], 30 * 86400, "/", None]
    assert secure == [["__Host-sessionid", "__Host-csrftoken"], 30 * 86400, "/", None]
    assert "SESSION_DAYS" in settings_of(tmp_path, SESSION_DAYS="0")


def test_scripts_find_the_token_by_both_names() -> None:
    assert "(?:__Host-)?csrftoken=" in (ROOT / "static/js/send.js").read_text()
