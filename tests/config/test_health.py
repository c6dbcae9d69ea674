"""The addresses that load balancers ask: alive, and ready or why not."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.utils import timezone
from kombu.connection import Connection

from config import health
from core import caching
from core.caching import clear_ttl_cache
from core.work.brokers import app
from dashboards.models import Analysis
from metrics.models.fleet import Worker
from tests.world import World


@pytest.fixture(autouse=True)
def fresh() -> None:
    clear_ttl_cache()


def checks(client: Client, status: int) -> dict[str, bool]:
    answer = client.get("/readyz")
    assert answer.status_code == status, answer.json()
    assert "no-store" in answer["Cache-Control"]
    return {name: each["ok"] for name, each in answer.json()["checks"].items()}


def test_a_process_is_alive_without_its_database(client: Client) -> None:
    # The mark `db` is missing on purpose: a query would fail the test.
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_site_with_all_that_it_needs_is_ready(db: None, client: Client) -> None:
    assert set(checks(client, 200).values()) == {True}


def test_what_is_missing_is_named(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def away() -> dict[str, object]:
        raise OperationalError("password=secret")

    (tmp_path / "file").write_text("")
    monkeypatch.setattr(health, "_database", away)
    monkeypatch.setattr(settings, "VAR_DIR", tmp_path / "file")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "secret" not in answer.text
    clear_ttl_cache()
    found = checks(client, 503)
    # What would ask the database, too, is not asked.
    assert found == {"database": False, "broker": True, "storage": False}


def test_pages_need_workers_of_their_queues(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ANALYSES_IN_PLACE", False)
    assert not checks(client, 503)["workers"]
    now = timezone.now()
    queues = ["documents", "documents-slow", "lab-of-somebody"]
    Worker.objects.create(
        uid="a", name="w", host="h", pid=1, queues=queues, started_at=now, seen_at=now
    )
    clear_ttl_cache()
    assert checks(client, 200)["workers"]


def test_strangers_learn_no_names_of_queues(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    Worker.objects.create(
        uid="a", name="w", host="h", pid=1, queues=["lab-secret"], started_at=now, seen_at=now
    )
    monkeypatch.setattr(settings, "ANALYSES_IN_PLACE", False)
    answer = client.get("/readyz")
    assert answer.json()["checks"]["workers"]["missing"] == ["documents", "documents-slow"]
    assert "lab-secret" not in answer.text


@pytest.mark.parametrize("scheme", ["amqp", "redis"])
def test_a_broker_that_refuses_is_not_waited_for(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError(f"waited for {seconds} s")

    monkeypatch.setattr("kombu.utils.functional.sleep", wait)
    monkeypatch.setitem(app.conf, "task_always_eager", False)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"{scheme}://127.0.0.1:{closed.getsockname()[1]}//"
        broker = Connection(address)  # type: ignore[no-untyped-call]
        monkeypatch.setattr(app, "connection_for_write", lambda: broker)
        with pytest.raises(Exception, match="refused"):
            health.broker()


@contextmanager
def one_reader_hangs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the checks of another reader hang for as long as the context lasts."""
    begun, may_end = Event(), Event()

    def hang() -> health.Answers:
        begun.set()
        may_end.wait(30)
        return health.Answers({}, 0.0)

    monkeypatch.setattr(health, "_check_all", hang)
    thread = Thread(target=status, daemon=True)
    thread.start()
    assert begun.wait(30)
    try:
        yield
    finally:
        may_end.set()
        thread.join(30)


def status() -> int:
    return health.readyz(RequestFactory().get("/readyz")).status_code


def test_nobody_waits_while_the_checks_of_another_reader_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caching, "SECONDS", 1.0)
    now = [1000.0]
    for module in (caching, health):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with one_reader_hangs(monkeypatch):
        assert status() == 503
    clear_ttl_cache()
    fine = health.Answers({"database": {"ok": True}}, now[0])
    monkeypatch.setattr(health, "_check_all", lambda: fine)
    assert status() == 200
    now[0] += caching.LONGEST_SECONDS
    with one_reader_hangs(monkeypatch):
        assert status() == 200
        now[0] += health.HANGING_SECONDS
        assert status() == 503


def test_documents_that_wait_too_long_are_noticed(world: World, client: Client) -> None:
    long_ago = timezone.now() - timedelta(seconds=health.OLD_SECONDS + 60)
    Analysis.objects.create(
        campaign=world.campaign, kind="trust", question="q", status="queued", not_before=long_ago
    )
    assert not checks(client, 503)["documents"]
