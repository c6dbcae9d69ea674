"""Several workers at one run, in one process."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from core.work import processes, reconciling
from core.work.models import Now
from metaeval.messages import message
from metrics.base import MetricError
from metrics.models import MetricRun, RunPlan, SegmentScore, Slice
from metrics.runs import scoring, starting
from tests.metrics import fakes
from tests.metrics.conftest import drain, reread, start
from tests.world import World, make_test_set

Counting = type[fakes.Counting]


def test_a_slice_that_was_taken_away_is_done_by_its_new_owner(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker was thought dead during its first slice: the scores stay and count once."""
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 3)
    run = start(world, "acting")

    def fall_silent() -> None:
        monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: None))
        past = timezone.now() - timedelta(seconds=1)
        Slice.objects.filter(status="running").update(expires_at=past)
        reconciling.reconcile()

    monkeypatch.setattr(fakes.Acting, "act", staticmethod(fall_silent))
    row = drain(run)
    assert (row.status, row.done, row.reused) == ("done", 8, 3)
    assert len(fake_metrics.seen) == SegmentScore.objects.count() == 8


def test_two_workers_share_a_run(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second joins during the first slice and does all the rest."""
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 3)
    run = start(world, "acting")

    def help_out() -> None:
        monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: None))
        scoring.drain(run.pk, worker="helper")
        assert reread(run).status == "running"

    monkeypatch.setattr(fakes.Acting, "act", staticmethod(help_out))
    row = drain(run)
    assert (row.status, row.done, row.reused) == ("done", 8, 0)
    assert dict(row.workers.values_list("name", "segments")) == {"test": 3, "helper": 5}
    assert len(fake_metrics.seen) == SegmentScore.objects.count() == 8
    assert not Slice.objects.exists()
    assert not RunPlan.objects.exists()


class Precise(fakes.Acting):
    def signature(self) -> str:
        return "acting|precision:fine"


@pytest.mark.parametrize("leaves", [False, True])
def test_scores_of_two_signatures_are_never_mixed(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    """A second worker computes in another precision: it may only have the run for itself."""
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 3)
    run = start(world, "acting")

    def join_in() -> None:
        monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: None))
        if leaves:
            Slice.objects.filter(status="running").update(status="queued", owner="", worker=None)
        with monkeypatch.context() as other:
            other.setattr(fakes, "Acting", Precise)
            scoring.forget()
            scoring.drain(run.pk, worker="other")
        scoring.forget()

    monkeypatch.setattr(fakes.Acting, "act", staticmethod(join_in))
    row = drain(run)
    assert (row.status, row.done) == ("done", 8)
    assert row.signature.signature == ("acting|precision:fine" if leaves else "acting|version:1")
    assert row.signature.scores.count() == 8


def test_what_another_run_scored_meanwhile_is_not_scored_again(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 2)
    monkeypatch.setattr(scoring, "LARGEST_CHUNK", 2)
    run, weak = start(world, "acting"), world.test_set.systems.filter(name="weak")
    other = start(world, "acting", systems=weak)

    def overtake() -> None:
        monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: None))
        drain(other)

    monkeypatch.setattr(fakes.Acting, "act", staticmethod(overtake))
    row = drain(run)
    # 2 in the first chunk, 4 by the other run (one of them in that chunk), the remaining 3.
    assert (row.status, row.done, row.reused) == ("done", 8, 3)
    assert (len(fake_metrics.seen), SegmentScore.objects.count()) == (9, 8)


def test_others_go_on_while_one_worker_rests(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One runs out of memory on its first slice; another takes the rest, then that one."""
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 3)
    run, error = (
        start(world, "acting"),
        MetricError(message("test.problem", "out of memory"), permanent=False),
    )

    def fail() -> None:
        monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: None))
        raise error

    monkeypatch.setattr(fakes.Acting, "act", staticmethod(fail))
    scoring.drain(run.pk, worker="small")
    assert reread(run).done == 0
    scoring.forget()  # another process
    monkeypatch.setattr(processes, "name", lambda: "2")
    scoring.drain(run.pk, worker="large")
    assert (reread(run).status, reread(run).done) == ("running", 5)
    Slice.objects.update(not_before=Now())
    scoring.drain(run.pk, worker="large")
    row = reread(run)
    assert (row.status, row.done, row.message) == ("done", 8, "")
    assert dict(row.workers.values_list("name", "segments")) == {"small": 0, "large": 8}


@pytest.mark.django_db(transaction=True)
def test_many_at_once_do_everything_once(
    fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six threads in slices of one and two, so that they meet at every step."""
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 1)
    monkeypatch.setattr(scoring, "LARGEST_CHUNK", 2)
    run = starting.start(test_set=make_test_set(segments=30), metrics=["counting"], enqueue=False)
    pk, go = run.runs[0].pk, Barrier(6)

    def work(name: str) -> None:
        go.wait()
        while MetricRun.objects.filter(pk=pk, status__in=MetricRun.ACTIVE).exists():
            scoring.drain(pk, worker=name)
        connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [f"w{number}" for number in range(6)]))
    row = reread(run.runs[0])
    assert (row.status, row.done, row.reused) == ("done", 60, 0)
    assert sum(worker.segments for worker in row.workers.all()) == 60
    assert len(fake_metrics.seen) == SegmentScore.objects.count() == 60
