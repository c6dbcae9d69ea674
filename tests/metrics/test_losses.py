"""Workers that die with a slice in hand."""

from datetime import timedelta

import pytest
from django.utils import timezone

from metrics import claims, losses
from metrics.claims import Member
from metrics.models import Lease, MetricRun, RunWorker
from tests.metrics.conftest import plan, reread
from tests.world import World, make_test_set

ONE, TWO = Member("w1@host", "1", "host"), Member("w2@host", "2", "host")


@pytest.fixture
def run(world: World) -> MetricRun:
    run = MetricRun.objects.create(test_set=world.test_set, metric="chrf")
    run.systems.set(world.test_set.systems.all())
    return run


def fall_silent(run: MetricRun, seconds: float = 61, name: str = "w1@host") -> None:
    past = timezone.now() - timedelta(seconds=seconds)
    RunWorker.objects.filter(run=run, name=name).update(seen_at=past)


def slices(run: MetricRun) -> list[tuple[int, int, int]]:
    leases = Lease.objects.filter(run=run, worker=None)
    return list(leases.values_list("first", "size", "attempts"))


def test_a_silent_worker_loses_its_slice(run: MetricRun) -> None:
    plan(run, ONE)
    claims.take(run.pk, ONE, size=3)
    fall_silent(run, 20)
    losses.reap()
    assert slices(run) == []
    fall_silent(run)
    losses.reap()
    assert slices(run) == [(0, 1, 1), (1, 1, 1), (2, 1, 1)]
    row = reread(run)
    assert (row.status, row.rate) == ("queued", None)
    assert row.message == "w1@host stopped answering; the run goes on elsewhere."
    assert row.workers.get().state == "stopped answering"


def test_the_next_worker_finds_it_without_a_caretaker(run: MetricRun) -> None:
    plan(run, ONE)
    claims.take(run.pk, ONE, size=8)
    assert claims.take(run.pk, TWO, size=8) is None
    fall_silent(run)
    lease = claims.take(run.pk, TWO, size=8)
    assert lease is not None
    assert (lease.first, lease.size, lease.attempts) == (0, 1, 1)


def test_the_other_workers_go_on(run: MetricRun) -> None:
    plan(run, ONE)
    claims.take(run.pk, ONE, size=3)
    held = claims.take(run.pk, TWO, size=3)
    fall_silent(run)
    losses.reap()
    assert reread(run).status == "running"
    assert Lease.objects.get(worker__name="w2@host") == held


def test_a_worker_that_was_only_slow_is_back(run: MetricRun) -> None:
    plan(run, ONE)
    lease = claims.take(run.pk, ONE, size=8)
    fall_silent(run)
    losses.reap()
    assert lease is not None
    assert claims.complete(lease, reused=0, seconds=1, rate=8, reading={})
    assert reread(run).done == 0
    assert claims.take(run.pk, ONE, size=8) is not None
    assert (reread(run).status, run.workers.get().state) == ("running", "at work")


def test_a_large_slice_comes_back_in_ten_pieces(run: MetricRun) -> None:
    plan(run, ONE)
    worker = RunWorker.objects.get()
    Lease.objects.create(run=run, worker=worker, first=100, size=8192)
    fall_silent(run)
    losses.reap()
    found = slices(run)
    assert [size for _, size, _ in found] == [820] * 9 + [812]
    covered = [number for first, size, _ in found for number in range(first, first + size)]
    assert covered == list(range(100, 8292))


def test_a_lost_plan_is_made_again(run: MetricRun) -> None:
    claims.take(run.pk, ONE, size=8)
    fall_silent(run)
    lease = claims.take(run.pk, TWO, size=8)
    assert lease is not None
    assert (lease.size, lease.attempts) == (0, 1)


@pytest.mark.django_db
def test_a_text_that_kills_workers_is_isolated_and_named() -> None:
    """Output 5 kills whoever has it; the others are scored all the same."""
    test_set = make_test_set(segments=30)
    run = MetricRun.objects.create(test_set=test_set, metric="chrf")
    run.systems.set(test_set.systems.all())
    plan(run, ONE)
    deaths = 0
    while reread(run).is_active:
        lease = claims.take(run.pk, ONE, size=50)
        if lease is None:
            continue
        if lease.first <= 5 < lease.first + lease.size:
            deaths += 1
            fall_silent(run)
            losses.reap()
        else:
            claims.complete(lease, reused=0, seconds=1, rate=1, reading={})
    row = reread(run)
    assert (row.status, row.done, row.total, deaths) == ("failed", 59, 60, 5)
    assert row.message == (
        "Given up after 5 attempts: w1@host, as others before it, stopped answering at "
        "segment 3 of weak."
    )


def test_a_metric_that_kills_workers_as_it_loads_fails_the_run(run: MetricRun) -> None:
    for _ in range(5):
        claims.take(run.pk, ONE, size=8)
        fall_silent(run)
    losses.reap()
    row = reread(run)
    assert row.status == "failed"
    assert "while the metric was loaded or the texts were counted" in row.message
