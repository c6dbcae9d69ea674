"""The addresses that load balancers and Prometheus ask: alive, ready or why not, and how busy."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.utils import timezone
from kombu.connection import Connection
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Judgment
from config import health
from core import caching
from core.caching import clear_ttl_cache
from core.work.brokers import app
from core.work.models import Work
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


# Prometheus, whose own client library parses what it reads.

TOKEN = "of-prometheus"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def counting(settings: Any) -> None:
    clear_ttl_cache()
    settings.PROMETHEUS_TOKEN = TOKEN


def read(client: Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The value of each sample by its name and labels."""
    answer = client.get("/prometheus", headers=BEARER)
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def labels(**values: str) -> frozenset[tuple[str, str]]:
    return frozenset(values.items())


def test_without_a_token_the_address_is_not_there(db: None, client: Client) -> None:
    assert client.get("/prometheus", headers=BEARER).status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer other", f"Basic {TOKEN}"])
def test_only_the_token_opens_it(
    db: None, counting: None, admin_client: Client, given: str
) -> None:
    answer = admin_client.get("/prometheus", headers={"Authorization": given})
    assert (answer.status_code, answer.content) == (401, b"")


def test_requests_are_counted_by_view_and_no_link_is_told(
    db: None, counting: None, client: Client
) -> None:
    link = "k" * 43
    key = "touchstone_requests_total"
    asked = labels(method="GET", view="personal-link", status="404")
    timed = labels(view="personal-link")
    before = read(client)
    client.get(f"/a/{link}/")
    client.get("/nowhere/")
    client.generic("PURGE", "/nowhere/")
    after = read(client)
    assert after[key, asked] == before.get((key, asked), 0) + 1
    seconds = "touchstone_request_seconds_count"
    assert after[seconds, timed] == before.get((seconds, timed), 0) + 1
    assert after[key, labels(method="other", view="none", status="404")] >= 1
    assert link not in client.get("/prometheus", headers=BEARER).text


def test_work_workers_and_judgments(world: World, counting: None, client: Client) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    about = {"kind": "people", "queue": "documents"}
    queued = Analysis.objects.create(question="a", status=Work.Status.QUEUED, **about)
    Analysis.objects.filter(pk=queued.pk).update(not_before=long_ago)
    Analysis.objects.create(question="b", status=Work.Status.FAILED, **about)
    gpu = {"kind": "gpu", "name": "H200", "total": 8 << 30, "free": 3 << 30}
    common = {"host": "one", "devices": [gpu], "started_at": long_ago}
    for name, seen in (("w1", timezone.now()), ("w2", timezone.now()), ("old", long_ago)):
        Worker.objects.create(
            uid=name, name=name, pid=1, queues=["gpu", "own"], memory=5, seen_at=seen, **common
        )
    found = read(client)
    items = "touchstone_work_items"
    documents = {"kind": "document", "queue": "documents"}
    assert found[items, labels(**documents, status="queued")] == 1
    assert found[items, labels(**documents, status="failed")] == 1
    waited = found["touchstone_work_oldest_seconds", labels(**documents)]
    assert 3600 <= waited < 3700
    workers = {dict(k[1])["queue"]: v for k, v in found.items() if k[0] == "touchstone_workers"}
    assert (workers["gpu"], workers["own"], workers["documents"]) == (2, 2, 0)
    memory = {k[1]: v for k, v in found.items() if k[0] == "touchstone_gpu_memory_bytes"}
    one = {"host": "one", "gpu": "0 H200"}
    assert memory == {labels(**one, state="total"): 8 << 30, labels(**one, state="free"): 3 << 30}
    assert found["touchstone_judgments", frozenset()] == Judgment.objects.count()


COUNTED_TOGETHER = """
import django, os
django.setup()
from django.test import Client
answer = Client().get("/healthz")
assert answer.status_code == 200
if os.fork():
    os.wait()
    told = Client().get("/prometheus", headers={"Authorization": "Bearer of-prometheus"})
    print(told.text)
else:
    Client().get("/healthz")
    os._exit(0)
"""


def test_the_processes_of_a_web_server_count_together(tmp_path: Path) -> None:
    (tmp_path / "counts").mkdir()
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "ALLOWED_HOSTS": "testserver",
        "PROMETHEUS_TOKEN": TOKEN,
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "counts"),
        "TOUCHSTONE_VAR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'none.sqlite3'}",
    }
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"],
        cwd=root, env=environment, check=True,
    )  # fmt: skip
    told = subprocess.run(
        [sys.executable, "-c", COUNTED_TOGETHER],
        cwd=root, env=environment, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    samples = {
        frozenset(sample.labels.items()): sample.value
        for family in text_string_to_metric_families(told)
        for sample in family.samples
        if sample.name == "touchstone_requests_total"
    }
    assert samples[labels(method="GET", view="healthz", status="200")] == 2
