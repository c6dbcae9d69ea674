from datetime import timedelta

import pytest
from django.utils import timezone

from metrics import claims
from metrics.models import MetricRun, MetricSignature
from tests.metrics.conftest import reread
from tests.world import World


@pytest.fixture
def run(world: World) -> MetricRun:
    return MetricRun.objects.create(test_set=world.test_set, metric="chrf")


def take(run: MetricRun, worker: str = "w1") -> claims.Claim:
    claim = claims.claim(run.pk, worker=worker)
    assert claim is not None
    return claim


def fall_silent(run: MetricRun, seconds: float = 61) -> None:
    past = timezone.now() - timedelta(seconds=seconds)
    MetricRun.objects.filter(pk=run.pk).update(heartbeat_at=past)


def make_signature() -> MetricSignature:
    return MetricSignature.objects.create(metric="chrf", signature="chrf|v:1", measures=["chrf"])


def test_one_worker_gets_a_queued_run(run: MetricRun) -> None:
    claim = take(run)
    assert claims.claim(run.pk, worker="w2") is None
    row = reread(run)
    assert (row.status, row.worker, row.attempts, row.claim) == ("running", "w1", 1, claim.token)
    assert row.started_at is not None


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_a_run_that_is_over_is_not_taken(run: MetricRun, status: str) -> None:
    MetricRun.objects.update(status=status)
    assert claims.claim(run.pk, worker="w1") is None
    assert reread(run).status == status


def test_a_silent_worker_loses_the_run(run: MetricRun) -> None:
    first = take(run)
    fall_silent(run, 50)
    assert claims.claim(run.pk, worker="w2") is None
    fall_silent(run, 61)
    second = take(run, "w2")
    assert not claims.beat(first)
    assert not claims.advance(first, done=3, reused=0, rate=1.0)
    claims.finish(first)
    claims.fail(first, "too late")
    claims.release(first, message="too late")
    row = reread(run)
    assert (row.status, row.worker, row.done, row.message) == ("running", "w2", 0, "")
    assert claims.beat(second)


def test_a_heartbeat_keeps_the_run(run: MetricRun) -> None:
    claim = take(run)
    fall_silent(run)
    assert claims.beat(claim)
    assert claims.claim(run.pk, worker="w2") is None


def test_a_cancelled_run_is_lost(run: MetricRun) -> None:
    claim = take(run)
    MetricRun.objects.update(status="cancelled")
    assert not claims.beat(claim)


def test_the_sixth_attempt_fails(run: MetricRun) -> None:
    for attempt in range(5):
        take(run, f"w{attempt}")
        fall_silent(run)
    MetricRun.objects.update(message="w4 stopped answering.")
    assert claims.claim(run.pk, worker="w5") is None
    row = reread(run)
    assert row.status == "failed"
    assert row.message == "Given up after 5 attempts. w4 stopped answering."
    assert row.finished_at is not None


def test_reused_are_only_scores_from_before_the_run(run: MetricRun) -> None:
    signature = make_signature()
    assert claims.begin(take(run), signature=signature, total=9, scored=2)
    fall_silent(run)
    assert claims.begin(take(run, "w2"), signature=signature, total=9, scored=6)
    row = reread(run)
    assert (row.reused, row.done, row.total) == (2, 6, 9)


def test_progress_is_stored(run: MetricRun) -> None:
    claim = take(run)
    claims.begin(claim, signature=make_signature(), total=9, scored=2)
    assert claims.advance(claim, done=5, reused=1, rate=2.0)
    row = reread(run)
    assert (row.done, row.reused, row.rate, row.seconds_left) == (5, 3, 2.0, 2.0)
    claims.finish(claim)
    row = reread(run)
    assert (row.status, row.rate, row.claim) == ("done", None, "")


def test_a_released_run_is_queued_for_later(run: MetricRun) -> None:
    claims.release(take(run), message="out of memory", delay=30)
    row = reread(run)
    wait = (row.requeue_at - timezone.now()).total_seconds()
    assert (row.status, row.claim, row.message, row.attempts) == ("queued", "", "out of memory", 1)
    assert 25 < wait < 31


def test_a_stopped_worker_costs_no_attempt(run: MetricRun) -> None:
    claims.release(take(run), message="", is_attempt=False)
    assert reread(run).attempts == 0
