"""A worker's host falls silent within a transaction: nobody else waits for it."""

import time
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client

from core.work.models import Work
from core.work.reconciling import reconcile
from metrics.models import MetricRun, RunWorker, Slice
from metrics.runs import state
from tests.world import make_test_set, make_user

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one lock for all"),
    pytest.mark.django_db(transaction=True),
]


def running(metric: str) -> MetricRun:
    """Return a run with a claimed slice whose claim has expired."""
    test_set = make_test_set(slug=f"set-{metric}")
    run = MetricRun.objects.create(
        test_set=test_set, metric=metric, total=2, status=Work.Status.RUNNING
    )
    worker = RunWorker.objects.create(run=run, name=metric, process="gone.1", host="elsewhere")
    Slice.objects.create(
        run=run, first=0, size=2, worker=worker, status=Work.Status.RUNNING,
        owner="gone.1.0", expires_at="2000-01-01T00:00:00Z",
    )  # fmt: skip
    return run


@pytest.fixture
def silent() -> Iterator[MetricRun]:
    """A run whose row a transaction holds that says nothing more."""
    run = running("bleu")
    other = connections.create_connection("default")  # type: ignore[attr-defined]
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT 1 FROM metrics_metricrun WHERE id = %s FOR UPDATE", [run.pk])
        yield run
    finally:
        other.close()


def test_other_rows_are_looked_after(silent: MetricRun) -> None:
    theirs = running("chrf")
    begun = time.monotonic()
    reconcile()
    assert time.monotonic() - begun < 10.0
    assert Slice.objects.filter(run=silent, status=Work.Status.RUNNING).exists()
    assert not Slice.objects.filter(run=theirs, status=Work.Status.RUNNING).exists()


def test_cancelling_answers_at_once(silent: MetricRun, client: Client) -> None:
    client.force_login(make_user("admin", "admin"))
    begun = time.monotonic()
    answer = client.post(f"/api/runs/{silent.pk}/cancel/")
    assert (answer.status_code, answer.json()["error"]) == (503, state.LOCKED.text)
    page = client.post(f"/runs/{silent.pk}/cancel/", follow=True)
    assert state.LOCKED.text in unescape(page.text)
    assert time.monotonic() - begun < 10.0
    assert MetricRun.objects.get(pk=silent.pk).is_active


def test_the_database_ends_the_silent_transaction(settings: Any) -> None:
    settings.DATABASE_IDLE_SECONDS = 1
    run = running("bleu")
    other = connections.create_connection("default")  # type: ignore[attr-defined]
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT 1 FROM metrics_metricrun WHERE id = %s FOR UPDATE", [run.pk])
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout TO '60s'")
        cursor.execute("SELECT 1 FROM metrics_metricrun WHERE id = %s FOR UPDATE", [run.pk])
        cursor.execute("SET lock_timeout TO DEFAULT")
    assert state.cancel(run.pk)
    other.close()
