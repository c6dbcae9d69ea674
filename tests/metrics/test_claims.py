"""Leases of one run, taken and given back by several workers in one process."""

import os
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from metrics import claims, run_state
from metrics.claims import Member
from metrics.clock import Now
from metrics.contents import find_missing, pack_ids
from metrics.models import Lease, MetricRun, MetricSignature, RunPlan, RunWorker
from tests.metrics.conftest import plan, reread
from tests.world import World

ONE, TWO = Member("w1@host", "1", "host"), Member("w2@host", "2", "host")
READING = {"device": "cpu", "precision": "", "batch": "", "peak_bytes": 1, "device_peak_bytes": 2}


@pytest.fixture
def run(world: World) -> MetricRun:
    run = MetricRun.objects.create(test_set=world.test_set, metric="chrf")
    run.systems.set(world.test_set.systems.all())
    return run


@pytest.fixture
def planned(run: MetricRun) -> MetricRun:
    return plan(run, ONE)


def take(run: MetricRun, member: Member = ONE, size: int = 3) -> Lease:
    lease = claims.take(run.pk, member, size=size)
    assert lease is not None
    return lease


def complete(lease: Lease, **options: object) -> bool:
    given = {"reused": 0, "seconds": 2.0, "rate": 1.5, "reading": READING} | options
    return claims.complete(lease, **given)  # type: ignore[arg-type]


def test_the_first_lease_is_the_plan_and_only_one_worker_gets_it(run: MetricRun) -> None:
    lease = take(run)
    assert (lease.first, lease.size, lease.worker.name) == (0, 0, "w1@host")
    assert claims.take(run.pk, TWO, size=3) is None
    row = reread(run)
    assert (row.status, row.worker, row.cursor) == ("running", "w1@host", 0)
    assert row.started_at is not None


def test_a_plan_says_what_there_is_to_do(run: MetricRun) -> None:
    lease = take(run)
    signature = MetricSignature.objects.create(metric="chrf", signature="chrf|v:1", measures=[])
    missing = find_missing(run, signature)
    ids = missing.output_ids[2:]
    assert claims.plan(
        lease, signature=signature.pk, total=8, output_ids=pack_ids(ids), reading=READING
    )
    row = reread(run)
    assert (row.planned, row.total, row.done, row.reused) == (6, 8, 2, 2)
    assert row.signature == signature
    assert row.workers.get().device_peak_bytes == 2


def test_a_plan_with_nothing_to_do_ends_the_run(run: MetricRun) -> None:
    signature = MetricSignature.objects.create(metric="chrf", signature="chrf|v:1", measures=[])
    claims.plan(take(run), signature=signature.pk, total=8, output_ids=b"", reading=READING)
    row = reread(run)
    assert (row.status, row.done, row.reused) == ("done", 8, 8)
    assert row.finished_at is not None


def test_every_output_is_leased_once(planned: MetricRun) -> None:
    leases = [take(planned, member) for member in (ONE, TWO, replace(ONE, process="3"))]
    assert [(lease.first, lease.size) for lease in leases] == [(0, 3), (3, 3), (6, 2)]
    assert claims.take(planned.pk, replace(ONE, process="4"), size=3) is None


def test_a_run_is_done_when_nothing_is_left_and_nothing_in_hand(planned: MetricRun) -> None:
    first, second = take(planned, ONE, 5), take(planned, TWO, 5)
    assert complete(second)
    row = reread(planned)
    assert (row.status, row.done, row.rate) == ("running", 3, 1.5)
    assert complete(first, reused=2, rate=4.0)
    row = reread(planned)
    assert (row.status, row.done, row.reused, row.rate) == ("done", 8, 2, None)
    assert not RunPlan.objects.exists()
    log = RunWorker.objects.values_list("name", "segments", "seconds", "device_peak_bytes")
    assert set(log) == {("w1@host", 3, 2.0, 2), ("w2@host", 3, 2.0, 2)}


def test_the_rate_is_of_all_workers_together(planned: MetricRun) -> None:
    for member, rate in ((ONE, 1.0), (TWO, 3.0)):
        complete(take(planned, member, 2), rate=rate)
    assert (reread(planned).rate, reread(planned).seconds_left) == (4.0, 1.0)


def test_a_worker_gets_the_lease_that_it_does_not_know_of(planned: MetricRun) -> None:
    """The database stored it and broke the connection before it said so."""
    assert take(planned).pk == take(planned).pk
    assert Lease.objects.count() == 1


def test_a_slice_counts_once(planned: MetricRun) -> None:
    """The answer to the first commit was lost, so the worker stores again."""
    lease = take(planned)
    assert complete(lease)
    assert complete(lease)
    assert reread(planned).done == 3


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_a_run_that_is_over_is_not_taken(run: MetricRun, status: str) -> None:
    MetricRun.objects.update(status=status)
    assert claims.take(run.pk, ONE, size=3) is None
    assert reread(run).status == status


def test_a_cancelled_run_tells_its_workers(planned: MetricRun) -> None:
    lease = take(planned)
    assert run_state.cancel(planned.pk)
    assert not complete(lease)
    claims.hand_back(lease)
    claims.retry(lease, "too late")
    run_state.fail(planned.pk, "too late")
    claims.leave(planned.pk, ONE)
    row = reread(planned)
    assert (row.status, row.done, row.message) == ("cancelled", 0, "")
    assert not Lease.objects.exists()
    assert not run_state.cancel(planned.pk)


def test_what_is_handed_back_is_taken_by_the_next(planned: MetricRun) -> None:
    lease = take(planned)
    claims.hand_back(lease)
    claims.leave(planned.pk, ONE)
    assert reread(planned).status == "queued"
    again = take(planned, TWO)
    assert (again.pk, again.attempts, again.first) == (lease.pk, 0, 0)


def test_a_slice_to_be_tried_again_waits(
    planned: MetricRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "RETRY_SECONDS", 3600.0)
    lease = take(planned)
    assert claims.retry(lease, "out of memory") == 3600
    assert take(planned, TWO).first == 3
    claims.leave(planned.pk, ONE)
    assert reread(planned).status == "running"
    claims.leave(planned.pk, TWO)
    row = reread(planned)
    wait = (row.requeue_at - timezone.now()).total_seconds()
    assert (row.status, row.message) == ("queued", "Is tried again. out of memory")
    assert 1800 < wait <= 3600
    Lease.objects.filter(worker=None).update(due_at=Now())
    assert take(planned, TWO).first == 3
    assert take(planned, ONE).pk == lease.pk


def test_the_fifth_failure_of_a_slice_fails_the_run(planned: MetricRun) -> None:
    MetricRun.objects.update(cursor=8)
    Lease.objects.create(run=planned, first=0, size=3, attempts=4)
    claims.retry(take(planned), "out of memory")
    row = reread(planned)
    assert (row.status, row.message) == ("failed", "Given up after 5 attempts. out of memory")
    assert not Lease.objects.exists()


def test_a_run_is_planned_anew_only_by_its_only_worker(planned: MetricRun) -> None:
    lease, other = take(planned), take(planned, TWO)
    assert not claims.start_over(lease)
    claims.hand_back(other)
    claims.leave(planned.pk, TWO)
    assert claims.start_over(lease)
    assert take(planned).size == 0


def test_a_sign_of_life(planned: MetricRun) -> None:
    take(planned)
    RunWorker.objects.update(seen_at=timezone.now() - timedelta(seconds=50))
    claims.beat(planned.pk, TWO)
    assert (timezone.now() - RunWorker.objects.get().seen_at).total_seconds() > 45
    claims.beat(planned.pk, ONE)
    assert (timezone.now() - RunWorker.objects.get().seen_at).total_seconds() < 45


def test_threads_and_processes_are_workers_of_their_own() -> None:
    here, others = claims.identify("w"), []
    assert claims.identify("w") == here
    thread = threading.Thread(target=lambda: others.append(claims.identify("w")))
    thread.start()
    thread.join()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, claims.identify("w").process.encode())
        os._exit(0)
    os.waitpid(child, 0)
    tokens = {here.process, others[0].process, os.read(reading, 64).decode()}
    os.close(reading)
    os.close(writing)
    assert len(tokens) == 3
