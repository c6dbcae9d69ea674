"""Word of a campaign's end: once, signed, to public addresses only; tried again where it helps."""

import hashlib
import hmac
import json
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError
from pytest_django import Settings

from annotation import monitor, notices
from annotation.campaigns import add_annotators, close_campaign, open_campaign, reopen_campaign
from annotation.models import Annotator, Assignment, AuditEntry, Campaign, Notification
from annotation.notifications import delivery, work
from annotation.notifications.work import notifications
from core.work import reconciling, working
from core.work.brokers import app
from tests.annotation.quality.test_monitor import of, rate
from tests.world import World


@dataclass
class Receiver:
    """A web server that keeps what it gets; `answers` are its next status codes, then 200."""

    url: str
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)

    @property
    def events(self) -> list[str]:
        return [json.loads(body)["event"] for _, body in self.got]


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOW_PRIVATE, settings.WEBHOOK_TIMEOUT_SECONDS = True, 60

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            here.got.append((dict(self.headers), body))
            self.send_response(here.answers.pop(0) if here.answers else 200)
            self.send_header("Location", f"{here.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here = Receiver(f"http://127.0.0.1:{server.server_port}/hook?team=mt")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


def opened(world: World, **fields: object) -> Campaign:
    Campaign.objects.filter(pk=world.campaign.pk).update(**fields)
    world.campaign.refresh_from_db()
    add_annotators(campaign=world.campaign, users=world.annotators)
    world.campaign = open_campaign(campaign=world.campaign)
    return world.campaign


def rate_all(campaign: Campaign, *labels: str) -> None:
    for label in labels or ("A1", "A2", "A3"):
        for assignment in of(campaign, label):
            if assignment.completed_at is None:
                rate(assignment, 50)


def check(campaign: Campaign, capture: Callable[..., object]) -> bool:
    campaign.refresh_from_db()
    with capture(execute=True):  # type: ignore[attr-defined]
        return notices.check_complete(campaign)


def test_a_complete_campaign_is_told_once_by_webhook_and_mail(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    campaign = opened(world, notify_webhook=receiver.url, notify_email="lab@example.org")
    rate_all(campaign, "A1", "A2")
    assert not check(campaign, django_capture_on_commit_callbacks)
    rate_all(campaign)
    assert check(campaign, django_capture_on_commit_callbacks)
    assert not check(campaign, django_capture_on_commit_callbacks)
    ((headers, body),) = receiver.got
    notice = json.loads(body)
    total = Assignment.objects.count()
    assert (notice["event"], notice["campaign"]) == ("complete", campaign.slug)
    assert (notice["done"], notice["total"]) == (total, total)
    assert notice["url"] == f"http://localhost:8000{campaign.get_absolute_url()}"
    assert uuid.UUID(notice["id"])
    secret = delivery.secret_of(campaign.slug)
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Touchstone-Signature"] == f"sha256={expected}"
    assert headers["Content-Type"] == "application/json"
    (letter,) = mail.outbox
    assert letter.to == ["lab@example.org"]
    assert letter.subject == f"{campaign.name} is complete"
    assert str(total) in letter.body
    told = AuditEntry.objects.filter(campaign=campaign, action="notified")
    assert {entry.details["channel"] for entry in told} == {"webhook", "email"}


def test_of_two_at_once_only_one_tells(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign)
    first, second = (Campaign.objects.get(pk=campaign.pk) for _ in range(2))
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        told = [notices.check_complete(one) for one in (first, second)]
    assert told == [True, False]
    assert receiver.events == ["complete"]


def test_a_new_completion_is_told_again(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign)
    check(campaign, django_capture_on_commit_callbacks)
    reopened = of(campaign, "A1")[0]
    Assignment.objects.filter(pk=reopened.pk).update(completed_at=None)
    assert not check(campaign, django_capture_on_commit_callbacks)
    campaign.refresh_from_db()
    assert campaign.notified_at is None
    Assignment.objects.filter(pk=reopened.pk).update(completed_at=timezone.now())
    assert check(campaign, django_capture_on_commit_callbacks)
    assert receiver.events == ["complete", "complete"]


def test_every_closing_is_told(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate(of(campaign, "A1")[0], 50)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        close_campaign(campaign=campaign)
        reopen_campaign(campaign=campaign)
        close_campaign(campaign=campaign)
    assert receiver.events == ["closed", "closed"]
    assert json.loads(receiver.got[0][1])["done"] == 1


def test_workers_look_at_open_campaigns_that_somebody_watches(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        notices.check_all()
        notices.check_all()
    assert receiver.events == ["complete"]
    Campaign.objects.filter(pk=campaign.pk).update(notify_webhook="", notified_at=None)
    with CaptureQueriesContext(connection) as queries:
        notices.check_all()
    assert len(queries) == 1


def answer_last(world: World, client: Client) -> tuple[int, str]:
    """Answer the only item that the first annotator has left; return the queries and the reply."""
    assignment = of(world.campaign, "A1")[-1]
    Assignment.objects.filter(annotator=assignment.annotator).exclude(pk=assignment.pk).update(
        completed_at=timezone.now()
    )
    client.force_login(world.annotators[0])
    address = reverse("item", args=[assignment.public_id])
    page = client.get(address)
    (card,) = page.context["cards"]
    form = card.fields() | {"score": "50", "visible_ms": "1000", "active_ms": "900"}
    with CaptureQueriesContext(connection) as queries:
        reply = client.post(address, form, headers={"Accept": "application/json"})
    assert reply.status_code == 200, reply.text
    return len(queries), reply.json()["next"]


def test_the_last_answer_of_the_last_annotator_tells(
    world: World,
    client: Client,
    receiver: Receiver,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign, "A2", "A3")
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        _, following = answer_last(world, client)
    assert following == reverse("annotate-done", args=[campaign.slug])
    assert receiver.events == ["complete"]


def test_an_answer_in_a_campaign_that_nobody_watches_costs_nothing(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(world)
    seen: list[int] = []
    monkeypatch.setattr(monitor, "wanted", lambda _: seen.append(1))
    n_queries, _ = answer_last(world, client)
    assert seen == []
    assert n_queries <= 12


def test_trouble_with_the_notification_never_reaches_the_annotator(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(world, notify_email="lab@example.org")

    def fail(_: Campaign) -> bool:
        raise RuntimeError("broken")

    monkeypatch.setattr(notices, "check_complete", fail)
    answer_last(world, client)


def test_a_queue_that_is_away_leaves_it_to_the_reconciliation(
    world: World,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign)

    def away(*_: object, **__: object) -> None:
        raise OperationalError("no broker")

    with monkeypatch.context() as patched:
        patched.setattr(app.tasks["work.short"], "apply_async", away)
        check(campaign, django_capture_on_commit_callbacks)
    assert receiver.got == []
    Notification.objects.update(sent_at=timezone.now() - timedelta(minutes=1))
    assert reconciling.reconcile({"mail"}) == 1
    assert receiver.events == ["complete"]


def send(campaign: Campaign, channel: str = "webhook") -> None:
    """As a worker does it, but without the waits."""
    row = Notification(campaign=campaign, channel=channel, subject="It is complete", body="{}")
    row.save()
    while working.do_one(notifications):
        Notification.objects.update(not_before=timezone.now() - timedelta(minutes=1))


def failures() -> list[tuple[str, dict[str, Any]]]:
    rows = AuditEntry.objects.filter(action="notification failed")
    reasons: Any = rows.values_list("reason", flat=True)
    return [(each.code, each.parameters) for each in reasons]


@pytest.mark.parametrize("status", [500, 503, 429])
def test_what_may_pass_is_tried_again(world: World, receiver: Receiver, status: int) -> None:
    receiver.answers = [status, status]
    campaign = opened(world, notify_webhook=receiver.url)
    send(campaign)
    assert len(receiver.got) == 3
    assert len({body for _, body in receiver.got}) == 1
    assert failures() == []


def test_after_an_hour_it_gives_up_and_says_so(world: World, receiver: Receiver) -> None:
    receiver.answers = [500] * 20
    send(opened(world, notify_webhook=receiver.url))
    assert len(receiver.got) == notifications.max_attempts
    assert failures() == [("webhook.answer", {"status": "500"})]
    waits = [
        work.FIRST_WAIT_SECONDS * 2**number for number in range(notifications.max_attempts - 1)
    ]
    assert timedelta(minutes=45) < timedelta(seconds=sum(waits)) < timedelta(minutes=90)


def test_another_try_comes_later_and_later(world: World, receiver: Receiver) -> None:
    receiver.answers = [500] * 20
    campaign = opened(world, notify_webhook=receiver.url)
    row = Notification.objects.create(campaign=campaign, channel="webhook", subject="s", body="{}")
    for seconds in (30, 60, 120):
        before = timezone.now()
        assert working.do_one(notifications) == row
        row.refresh_from_db()
        assert row.not_before - before >= timedelta(seconds=seconds)
        assert working.do_one(notifications) is None
        Notification.objects.update(not_before=before)


@pytest.mark.parametrize(("status", "code"), [(404, "webhook.answer"), (302, "webhook.redirect")])
def test_what_will_not_pass_is_not_tried_again(
    world: World, receiver: Receiver, status: int, code: str
) -> None:
    receiver.answers = [status]
    send(opened(world, notify_webhook=receiver.url))
    assert len(receiver.got) == 1
    assert failures() == [(code, {"status": str(status)})]


def test_programs_see_what_was_delivered_and_why_not(
    world: World,
    receiver: Receiver,
    as_admin: Client,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    receiver.answers = [404]
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign)
    assert check(campaign, django_capture_on_commit_callbacks)
    (notice,) = as_admin.get(f"/api/campaigns/{campaign.slug}/notices/").json()["results"]
    assert (notice["channel"], notice["event"], notice["status"]) == (
        "webhook", "complete", "failed",
    )  # fmt: skip
    assert (notice["message"]["code"], notice["message"]["parameters"]) == (
        "webhook.answer", {"status": "404"},
    )  # fmt: skip
    assert receiver.url not in str(notice)


def test_the_address_that_was_checked_is_the_one_that_is_called(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means something else at the second look must not matter: there is none."""
    looked: list[str] = []

    def once(host: str, port: int, *_: object, **__: object) -> list[object]:
        looked.append(host)
        assert host != "hooks.example" or looked.count(host) == 1, "resolved twice"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", once)
    delivery.post(receiver.url.replace("127.0.0.1", "hooks.example"), b"{}", secret="s")
    assert receiver.got[0][0]["Host"].startswith("hooks.example:")


def test_secrets_differ_by_campaign_and_by_site(settings: Settings) -> None:
    first = delivery.secret_of("one")
    assert first != delivery.secret_of("two")
    settings.SECRET_KEY = "another"
    assert delivery.secret_of("one") != first


def test_admins_alone_see_the_secret(world: World, client: Client) -> None:
    campaign = opened(world, notify_webhook="https://hooks.example/x")
    secret, address = delivery.secret_of(campaign.slug), reverse("monitor", args=[campaign.slug])
    client.force_login(world.admin)
    assert secret in client.get(address).text
    client.force_login(world.researcher)
    page = client.get(address).text
    assert secret not in page
    assert "hooks.example" not in page


def test_excluding_the_last_one_at_work_completes_the_campaign(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    campaign = opened(world, notify_webhook=receiver.url)
    rate_all(campaign, "A1", "A2")
    Annotator.objects.filter(campaign=campaign, label="A3").update(excluded_at=timezone.now())
    assert check(campaign, django_capture_on_commit_callbacks)
