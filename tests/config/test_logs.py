"""Lines of the log: JSON with the request's id, one line for a refusal, no credential."""

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
import sentry_sdk
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from sentry_sdk.transport import Transport

from annotation.models.people import new_token
from config.logs import JsonFormatter, Origin, RequestIdMiddleware
from config.redaction import start_reports
from config.urls import urlpatterns as of_the_site
from tests.world import World

LINK = "k" * 43


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What a handler as in the settings writes, as JSON."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    options = {k: v for k, v in settings.LOG_FORMATS["json"].items() if k not in ("()", "fmt")}
    handler.setFormatter(JsonFormatter(settings.LOG_FORMATS["json"]["fmt"], **options))
    handler.addFilter(Origin())
    root = logging.getLogger()
    root.addHandler(handler)
    yield out
    root.removeHandler(handler)


def parsed(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [("abc-123.X_y", True), ("", False), ("a b", False), ("é", False), ("a" * 65, False)],
)
def test_a_request_has_its_proxys_id_or_a_new_one(given: str, is_kept: bool) -> None:
    headers = {"X-Request-ID": given} if given else {}
    answer = Client().get("/healthz", headers=headers)
    assert (answer["X-Request-ID"] == given) == is_kept
    assert len(answer["X-Request-ID"]) == (len(given) if is_kept else 32)


def test_lines_name_the_request_and_what_is_refused_is_one(
    world: World, lines: io.StringIO
) -> None:
    client = Client()
    client.force_login(world.annotators[0])
    slug = world.campaign.slug
    answer = client.get(f"/campaigns/{slug}/access/", headers={"X-Request-ID": "one"})
    assert answer.status_code == 403
    [refused] = [each for each in parsed(lines) if each["logger"] == "django.request"]
    assert (refused["level"], refused["request_id"]) == ("WARNING", "one")
    assert "exc_info" not in refused
    assert refused["timestamp"]


@pytest.mark.parametrize("address", [f"/a/{LINK}/", f"/nowhere/?next=/a/{LINK}/", "/a/short/"])
def test_a_dead_link_is_not_in_the_line_that_names_its_request(
    db: None, client: Client, lines: io.StringIO, address: str
) -> None:
    assert client.get(address, headers={"X-Request-ID": "one"}).status_code == 404
    [line] = [each for each in parsed(lines) if each["logger"] == "django.request"]
    assert (line["status_code"], line["request_id"]) == (404, "one")
    assert not re.search(r"k{43}|short", lines.getvalue())


def test_a_fault_has_its_traceback_without_credentials(lines: io.StringIO) -> None:
    def fail(request: HttpRequest) -> Any:
        try:
            raise ValueError(f"at /a/{LINK}/")
        except ValueError:
            logging.getLogger("tests").exception("no answer to %s", LINK)
            raise

    request = HttpRequest()
    request.META["HTTP_X_REQUEST_ID"] = "two"
    with pytest.raises(ValueError, match="at"):
        RequestIdMiddleware(fail)(request)
    [line] = parsed(lines)
    assert line["request_id"] == "two"
    assert "ValueError" in line["exc_info"]
    assert LINK not in lines.getvalue()
    logging.getLogger("tests").error("later")
    assert parsed(lines)[-1]["request_id"] == ""


def test_sign_ins_are_logged_without_what_was_typed(
    db: None, client: Client, lines: io.StringIO
) -> None:
    user = User.objects.create_user("researcher", password="right-horse")
    client.post("/login/", {"username": "tried-password", "password": "wrong-horse"})
    client.post("/login/", {"username": "researcher", "password": "right-horse"})
    said = [each for each in parsed(lines) if each["logger"] == "annotation.entry.accounts"]
    assert [each["level"] for each in said] == ["WARNING", "INFO"]
    assert all(each["message"].count("127.0.0.1") == 1 for each in said)
    assert str(user.pk) in said[1]["message"]
    assert not any(word in lines.getvalue() for word in ("tried-password", "horse"))


# Reports of errors: caught at the transport, before any network.
DSN = "https://key@sentry.invalid/1"
KEY = "the key that signs everything here"


def fail(request: HttpRequest, token: str = "") -> HttpResponse:
    secret = f"{token} and more"
    raise RuntimeError(f"broken for {secret} with {KEY}")


urlpatterns = [path("a/<str:token>/broken/", fail), *of_the_site]


class Caught(Transport):
    """The transport: nothing is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def capture_envelope(self, envelope: Any) -> None:
        self.texts += [item.get_bytes().decode() for item in envelope.items]


@pytest.fixture
def caught() -> Iterator[Caught]:
    transport = Caught()
    with sentry_sdk.isolation_scope():
        start_reports(DSN, release="1.0.0", secrets=(KEY, ""), transport=transport)
        yield transport
    sentry_sdk.init()


@pytest.mark.urls(__name__)
def test_a_report_tells_the_place_and_nobodys_credentials(world: World, caught: Caught) -> None:
    token, _ = new_token()
    client = Client(raise_request_exception=False, REMOTE_ADDR="192.0.2.7")
    client.force_login(world.researcher)
    session = client.cookies["sessionid"].value
    address = f"/a/{token}/broken/?PROLIFIC_PID=person77"
    answer = client.post(address, {"text": "what I rated"}, HTTP_AUTHORIZATION="Bearer abcdef")
    assert answer.status_code == 500
    sentry_sdk.flush()
    (text,) = [each for each in caught.texts if "RuntimeError" in each]
    assert "test_logs.py" in text
    hidden = (
        token, session, KEY, "person77", "what I rated", "abcdef", "192.0.2.7",
        world.researcher.username, "raise RuntimeError",
    )  # fmt: skip
    assert [each for each in hidden if each in text] == []


def test_errors_of_tasks_are_reported_without_their_arguments(caught: Caught) -> None:
    token, _ = new_token()
    try:
        raise ValueError(f"/enter/{token}/ does not open")
    except ValueError as error:
        sentry_sdk.capture_exception(error)
    assert "ValueError" in caught.texts[0]
    assert token not in caught.texts[0]
