"""No log line, error page, report, audit row or referrer holds a link that still lets people in."""

import io
import logging
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.conf import settings as project
from django.core import mail
from django.core.handlers.wsgi import WSGIRequest
from django.core.servers.basehttp import WSGIRequestHandler
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import include, path, reverse
from django.utils import timezone
from gunicorn.config import Config
from gunicorn.glogging import Logger

from annotation.campaigns import close_campaign
from annotation.entry import links
from annotation.models import AccessLink, Annotator
from annotation.models.people import new_token
from config import redaction
from config.redaction import HIDDEN, redact
from tests.addresses import fill, routes
from tests.annotation.pools import make_pool
from tests.world import World

# Parameters of addresses that are no credentials: names, numbers and choices.
HARMLESS = {
    "slug", "pk", "fmt", "format", "public_id", "verb", "name", "family", "kind", "figure", "sweep",
    "which", "template", "position", "process",
}  # fmt: skip
LOOSE = logging.Formatter("%(asctime)s %(name)s %(message)s %(args)s")


@pytest.fixture
def logged() -> Iterator[Callable[[], str]]:
    """All that any logger writes, with tracebacks and arguments, by a handler of its own."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LOOSE)
    names = ("", "django.server", "gunicorn.access")
    for name in names:
        logging.getLogger(name).addHandler(handler)
    yield stream.getvalue
    for name in names:
        logging.getLogger(name).removeHandler(handler)


def test_every_parameter_of_an_address_is_harmless_or_redacted() -> None:
    token, _ = new_token()
    for name, route in routes():
        for parameter in re.findall(r"<(?:\w+:)?([^>:]+)>", route):
            if parameter in HARMLESS:
                continue
            (address,) = fill(route, {parameter: ["short-" + token[:8]]})
            assert token[:8] not in redact(address), (name, parameter)


def test_a_new_route_with_a_token_is_covered() -> None:
    def view(request: WSGIRequest, **kwargs: str) -> HttpResponse:
        return HttpResponse()

    inner = [path("reset/<str:uidb64>/<str:reset_token>/done/", view)]
    prefixes = set(redaction._prefixes([path("teams/<slug:team>/", include(inner))], "/"))
    assert prefixes == {"/teams/<>/reset/", "/teams/<>/reset/<>/"}


@pytest.mark.parametrize(
    "text",
    [
        "Not Found: /a/{}/",
        '"GET /enter/{}/?PROLIFIC_PID=1 HTTP/1.1" 404 179',
        '"GET / HTTP/1.1" 200 "https://mt.example.org:8000/a/{}" "Mozilla/5.0"',
        "/login/?next=%2Fa%2F{}%2F",
        "{{'token': '{}'}}",
        "/%61/{}/",
        "KeyError: {}",
        "<p>/enter/{}</p>",
    ],
)
def test_a_token_is_hidden_wherever_it_stands(text: str) -> None:
    token, _ = new_token()
    hidden = redact(text.format(token))
    assert token not in hidden
    assert hidden == redact(hidden) == text.format(HIDDEN)


@pytest.mark.parametrize("text", ["Not Found: /annotate/a/", "0" * 64, "/item/1/", "A b/c: d"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redact(text) == text


# --- through all of Django ----------------------------------------------------------------------


class Live:
    """A personal and two access links that work, with what each of their misfortunes needs."""

    def __init__(self, world: World) -> None:
        self.campaign = make_pool(world.annotators, segments=1)
        self.annotator = Annotator.objects.first()
        self.tokens = []
        token, digest = new_token()
        Annotator.objects.filter(pk=self.annotator.pk).update(token_hash=digest)
        self.tokens = [("personal-link", token)]
        for provider in ("open", "prolific"):
            _, token = links.create_link(
                campaign=self.campaign, actor=world.admin, provider=provider
            )
            self.tokens.append(("access-link", token))

    def addresses(self) -> list[str]:
        return [reverse(name, args=[token]) for name, token in self.tokens]

    def check(self, *texts: str) -> None:
        for _, token in self.tokens:
            # Half of it is as good as found.
            assert not any(token[:20] in text or token[-20:] in text for text in texts)


@pytest.fixture
def live(world: World) -> Live:
    return Live(world)


def expire(live: Live) -> None:
    past = timezone.now() - timedelta(days=1)
    Annotator.objects.update(token_expires_at=past)
    AccessLink.objects.update(expires_at=past)


def revoke(live: Live) -> None:
    AccessLink.objects.update(revoked_at=timezone.now())


def fill_up(live: Live) -> None:
    AccessLink.objects.update(quota=1)
    Annotator.objects.update(access_link=AccessLink.objects.last())


def close(live: Live) -> None:
    close_campaign(campaign=live.campaign)


def nothing(live: Live) -> None:
    pass


MISFORTUNES = [expire, revoke, fill_up, close, nothing]
PERSON = {"PROLIFIC_PID": "somebody"}


def ask(client: Client, address: str) -> Iterator[HttpResponse]:
    """Right and wrong requests for a link, as a browser and as a script."""
    bare = address.rstrip("/")
    for headers in ({}, {"accept": "application/json"}):
        yield client.get(address, headers=headers)
        yield client.get(address, PERSON, headers=headers)
        yield client.post(address, headers=headers)
        yield client.put(address, headers=headers)
        for wrong in (
            f"{address}x/",
            f"{bare}?x",
            f"/nowhere{address}",
            f"{bare}x",
            f"/x?a={bare}",
        ):
            yield client.get(wrong, headers=headers)
        yield client.get(address, headers=headers | {"host": "evil.example"})


@pytest.mark.parametrize(
    ("debug", "happens"), [*((False, each) for each in MISFORTUNES), (True, revoke)]
)
def test_no_refusal_repeats_a_link(
    live: Live,
    logged: Callable[[], str],
    settings: Any,
    debug: bool,
    happens: Callable[[Live], None],
) -> None:
    settings.DEBUG, settings.ADMINS = debug, [("admin", "admin@example.org")]
    settings.ALLOWED_HOSTS = ["testserver"]
    happens(live)
    statuses = set()
    for address in live.addresses():
        for client in (Client(), Client(enforce_csrf_checks=True)):
            client.raise_request_exception = False
            for response in ask(client, address):
                statuses.add(response.status_code)
                if response.status_code >= 400:
                    live.check(response.text, str(response.headers))
                if "/a/" in response.request["PATH_INFO"] and response.status_code == 200:
                    assert response["Referrer-Policy"] == redaction.REFERRER_POLICY
    assert {400, 403, 404, 405} <= statuses
    assert "Not Found: /a/***/x/" in logged()
    live.check(logged(), *(f"{each.subject} {each.body}" for each in mail.outbox))
    live.check(*stored())


@pytest.mark.parametrize("debug", [False, True])
def test_no_crash_repeats_a_link(
    live: Live, logged: Callable[[], str], settings: Any, debug: bool,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    settings.DEBUG, settings.ADMINS = debug, [("admin", "admin@example.org")]

    def crash(token: str, **_: object) -> None:
        raise RuntimeError(f"{token} came by /enter/{token}/")

    monkeypatch.setattr("annotation.judging.assignments.find_by_token", crash)
    monkeypatch.setattr("annotation.entry.links.find_link", crash)
    client = Client(raise_request_exception=False)
    for address in live.addresses():
        response = client.get(address)
        assert response.status_code == 500
        live.check(response.text, str(response.headers))
    reports = [f"{each.subject} {each.body} {each.alternatives}" for each in mail.outbox]
    assert bool(reports) is not debug
    assert "RuntimeError" in logged()
    live.check(logged(), *reports, *capfd.readouterr())


def stored() -> Iterator[str]:
    """Every value of every row."""
    ours = [model for model in apps.get_models() if not model.__module__.startswith("tests.")]
    for model in ours:
        for row in model._base_manager.values_list():
            yield " ".join(map(str, row))


def test_a_page_behind_a_link_tells_no_address(live: Live) -> None:
    """Styles, scripts and forms of the page carry the origin alone; so it is no forged form."""
    address = live.addresses()[1]
    page = Client().get(address)
    assert page.status_code == 200
    assert page["Referrer-Policy"] == "strict-origin"
    strict = Client(enforce_csrf_checks=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', strict.get(address).text)[1]
    sent = {"csrfmiddlewaretoken": token}
    secure = {"origin": "https://testserver", "referer": "https://testserver/"}
    assert strict.post(address, sent, secure=True, headers=secure).status_code == 302


def test_a_page_that_refuses_leads_home_when_the_language_is_changed(live: Live) -> None:
    revoke(live)
    page = Client().get(live.addresses()[1])
    assert page.status_code == 410
    assert 'name="next" value="/"' in page.text


# --- what servers write -------------------------------------------------------------------------


def test_gunicorn_writes_no_link(live: Live, capfd: pytest.CaptureFixture[str]) -> None:
    config = Config()
    config.set("accesslog", "-")
    logger = Logger(config)
    address = live.addresses()[0]
    environ = RequestFactory().get(address).environ | {
        "RAW_URI": address, "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_REFERER": f"http://mt.example.org{live.addresses()[1]}",
    }  # fmt: skip
    reply = SimpleNamespace(status="404 Not Found", sent=1, headers=[], response_length=1)
    request = SimpleNamespace(headers=[])
    logger.access(reply, request, environ, timedelta(seconds=1))
    logger.exception("Error handling request %s", address)
    written = "".join(capfd.readouterr())
    assert '"GET /a/***/ HTTP/1.1" 404' in written
    live.check(written)


def test_the_development_server_writes_no_link(
    live: Live, logged: Callable[[], str], capfd: pytest.CaptureFixture[str]
) -> None:
    handler = WSGIRequestHandler.__new__(WSGIRequestHandler)
    handler.request, handler.client_address = object(), ("127.0.0.1", 1)
    for address in live.addresses():
        handler.log_message('"%s" %s %s', f"GET {address} HTTP/1.1", "404", "179")
    assert "/enter/***/" in logged()
    live.check(logged(), *capfd.readouterr())


def test_arguments_that_do_not_fit_are_redacted_too(
    live: Live, capfd: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("annotation").error("%d links", live.addresses()[0])
    live.check(*capfd.readouterr())


# --- the configuration of a proxy -----------------------------------------------------------------


def mapped(address: str, lines: list[str]) -> str:
    """What nginx makes of an address by the rules of a `map`."""
    for rule, value in (re.findall(r'"(.*?)"', line) for line in lines):
        found = re.match(rule.removeprefix("~*").replace("(?<", "(?P<"), address, re.I)
        if found:
            return re.sub(r"\$(\w+)", r"{\1}", value).format(**found.groupdict())
    return address


def test_the_proxy_of_the_documentation_writes_no_link() -> None:
    page = (project.BASE_DIR / "touchstone" / "server" / "nginx.conf").read_text()
    maps = re.findall(r"map \$\w+ \$redacted_\w+ \{\n(.*?)default", page, re.S)
    requests, referrers = ([line for line in each.splitlines() if '"' in line] for each in maps)
    for _, route in routes():
        if "<token>" in route:
            (address,) = fill(route, {"token": ["t0ken-_" * 6]})
            for sent in (
                address,
                f"{address}?PROLIFIC_PID=1",
                f"/login/?next={quote(address, '')}",
            ):
                assert "t0ken" not in mapped(sent, requests)
                assert "***" in mapped(sent, requests)
                assert "t0ken" not in mapped(f"https://mt.example.org{sent}", referrers)
    assert mapped("/annotate/a-b/", requests) == "/annotate/a-b/"
