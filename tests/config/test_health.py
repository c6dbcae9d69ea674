"""The addresses that load balancers ask: alive, and ready or why not."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from config import health
from core.caching import clear_ttl_cache
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
    monkeypatch.setattr(health.settings, "VAR_DIR", tmp_path / "file")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "secret" not in answer.text
    clear_ttl_cache()
    found = checks(client, 503)
    assert [name for name, ok in found.items() if not ok] == ["database", "storage"]


def test_pages_need_workers_of_their_queues(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health.settings, "ANALYSES_IN_PLACE", False)
    assert not checks(client, 503)["workers"]
    now = timezone.now()
    queues = ["documents", "documents-slow"]
    Worker.objects.create(
        uid="a", name="w", host="h", pid=1, queues=queues, started_at=now, seen_at=now
    )
    clear_ttl_cache()
    assert checks(client, 200)["workers"]


def test_documents_that_wait_too_long_are_noticed(world: World, client: Client) -> None:
    long_ago = timezone.now() - timedelta(seconds=health.OLD_SECONDS + 60)
    Analysis.objects.create(
        campaign=world.campaign, kind="trust", question="q", status="queued", not_before=long_ago
    )
    assert not checks(client, 503)["documents"]
