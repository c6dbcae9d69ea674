"""Which run a worker serves next."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from core.work import working
from metrics import registry
from metrics.models import MetricRun, RunWorker, Slice
from metrics.runs import queue, starting
from metrics.runs.work import kind
from metrics.workers import capability
from tests.metrics import fakes
from tests.metrics.conftest import drain, plan, reread
from tests.world import World

CHECKPOINTS = {"plain": "", "bert": "bert", "xlm": "xlm", "bert2": "bert", "other": ""}
Start = Callable[..., list[MetricRun]]


@pytest.fixture
def start(world: World, monkeypatch: pytest.MonkeyPatch) -> Start:
    for name, checkpoint in CHECKPOINTS.items():
        info = replace(fakes.make_info(name), checkpoint=checkpoint)
        monkeypatch.setitem(registry.METRICS, name, (info, "tests.metrics.fakes:Counting"))

    # No host has these checkpoints.
    everything = MetricRun.objects.values_list("pk", flat=True)
    monkeypatch.setattr(capability, "fit", lambda: list(everything.all()))

    def start(*metrics: str) -> list[MetricRun]:
        runs = starting.start(test_set=world.test_set, metrics=metrics, enqueue=False).runs
        MetricRun.objects.update(created_at=timezone.now())  # a slow machine takes a while
        return runs

    return start


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=1000.0)
    # Not the clock of the whole process: other threads would see it, too.
    monkeypatch.setattr(queue, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def order(resident: str = "") -> list[str]:
    """The order in which a worker with this checkpoint in memory serves all that waits."""
    queue.memory.take_up(resident)
    runs = MetricRun.objects.filter(status__in=MetricRun.ACTIVE)
    return [one.run.metric for one in queue.in_order(queue.waiting(runs), queue.memory)]


def put_to_work(run: MetricRun) -> None:
    worker = RunWorker.objects.create(run=run, name="w1", process="1", host="host")
    Slice.objects.create(run=run, status="running", worker=worker)


def test_runs_of_one_checkpoint_follow_each_other(start: Start) -> None:
    start(*CHECKPOINTS)
    assert order() == ["plain", "other", "bert", "bert2", "xlm"]
    assert order(resident="xlm") == ["xlm", "plain", "other", "bert", "bert2"]


def test_a_short_run_is_not_stuck_behind_a_long_one(start: Start, clock: SimpleNamespace) -> None:
    """One without a checkpoint at once, one of another checkpoint after a minute."""
    start("plain", "other", "bert", "xlm")
    MetricRun.objects.filter(metric__in=["plain", "bert"]).update(total=100_000)
    assert order(resident="bert") == ["bert", "other", "xlm", "plain"]
    clock.now += 61
    assert order(resident="bert") == ["other", "xlm", "plain", "bert"]


def test_a_long_run_is_not_overtaken_for_ever(start: Start) -> None:
    """It needs 100 s; once it has waited for as long it comes before any new one."""
    start("plain", "other")
    MetricRun.objects.filter(metric="plain").update(total=100_000)
    assert order() == ["other", "plain"]
    MetricRun.objects.filter(metric="plain").update(
        heartbeat_at=timezone.now() - timedelta(seconds=101)
    )
    assert order() == ["plain", "other"]


def test_a_run_in_hand_is_joined_where_that_helps(start: Start) -> None:
    bert, _ = start("bert", "other")
    put_to_work(bert)
    MetricRun.objects.filter(pk=bert.pk).update(total=1000, rate=100)
    assert order() == ["other", "bert"]
    rows = working.due(kind).filter(run=bert)
    assert queue.choose(rows) is not None
    MetricRun.objects.filter(pk=bert.pk).update(done=900)  # Its worker needs one second more.
    assert queue.choose(rows) is None
    queue.memory.take_up("bert")
    assert queue.choose(rows) is not None


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_a_run_that_is_over_is_nobodys(start: Start, status: str) -> None:
    start("plain")
    MetricRun.objects.update(status=status)
    assert queue.choose(working.due(kind)) is None


def test_a_run_left_alone_gets_its_turn_later(start: Start, clock: SimpleNamespace) -> None:
    (run,) = start("plain")
    queue.memory.leave(run.pk, 30)
    assert queue.choose(working.due(kind)) is None
    clock.now += 31
    assert queue.choose(working.due(kind)) == run.slices.get()


def test_a_slice_that_has_failed_is_last_unless_no_text_has_a_score(start: Start) -> None:
    (run,) = start("plain")
    plan(run)
    Slice.objects.create(run=run, first=7, size=1, attempts=1)
    rows = working.due(kind)
    assert [row.attempts for row in (queue.choose(rows),) if row] == [1]
    MetricRun.objects.update(done=1)
    assert [row.attempts for row in (queue.choose(rows),) if row] == [0]


def test_a_worker_serves_all_runs(start: Start) -> None:
    started = start(*CHECKPOINTS)
    fakes.Counting.seen.clear()
    working.drain(kind)
    assert [reread(run).status for run in started] == ["done"] * 5
    assert drain(started[0]).status == "done"
