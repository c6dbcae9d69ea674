"""What an idle worker takes up."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from types import SimpleNamespace

import pytest
from django.utils import timezone

from metrics import agenda, registry, runs, scoring
from metrics.clock import Now
from metrics.models import Lease, MetricRun
from tests.metrics import fakes
from tests.metrics.conftest import reread
from tests.world import World

QUEUES = {"cpu"}
CHECKPOINTS = {"plain": "", "bert": "bert", "xlm": "xlm", "bert2": "bert", "other": ""}


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agenda._Memory, "checkpoint", "")
    monkeypatch.setattr(agenda._Memory, "resting", {})


@pytest.fixture
def start(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[MetricRun]]:
    for name, checkpoint in CHECKPOINTS.items():
        info = replace(fakes.make_info(name), checkpoint=checkpoint)
        monkeypatch.setitem(registry.METRICS, name, (info, "tests.metrics.fakes:Counting"))
    fakes.Counting.seen.clear()

    def start(*metrics: str) -> list[MetricRun]:
        started = runs.start(test_set=world.test_set, metrics=metrics, enqueue=False).runs
        MetricRun.objects.update(requeue_at=Now())
        return started

    return start


def order(resident: str = "") -> list[str]:
    """The order in which a worker takes all that waits."""
    taken: list[int] = []
    names = []
    while run := agenda.next_run(QUEUES, resident=resident, without=taken):
        taken.append(run.pk)
        names.append(run.metric)
        resident = CHECKPOINTS[run.metric]
    return names


def test_runs_of_one_checkpoint_follow_each_other(start: Callable[..., list[MetricRun]]) -> None:
    start("plain", "bert", "xlm", "bert2", "other")
    assert order() == ["plain", "bert", "bert2", "xlm", "other"]
    assert order(resident="xlm") == ["xlm", "plain", "bert", "bert2", "other"]


def test_only_runs_of_ones_queues(start: Callable[..., list[MetricRun]]) -> None:
    start("plain")
    assert agenda.next_run({"gpu"}) is None


def test_a_run_that_is_not_due_waits_unless_a_message_names_it(
    start: Callable[..., list[MetricRun]],
) -> None:
    (run,) = start("plain")
    MetricRun.objects.update(requeue_at=timezone.now() + timedelta(seconds=30))
    assert agenda.next_run(QUEUES) is None
    assert agenda.next_run(QUEUES, hinted=run.pk) == run


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_a_run_that_is_over_is_nobodys(start: Callable[..., list[MetricRun]], status: str) -> None:
    (run,) = start("plain")
    MetricRun.objects.update(status=status)
    assert agenda.next_run(QUEUES, hinted=run.pk) is None


def test_a_run_in_hand_is_joined_where_that_helps(
    start: Callable[..., list[MetricRun]],
) -> None:
    run, other = start("plain", "other")
    row = MetricRun.objects.filter(pk=run.pk)
    row.update(status="running", planned=1000, cursor=100, rate=100)
    assert order() == ["other", "plain"]
    MetricRun.objects.filter(pk=other.pk).update(status="done")
    row.update(cursor=900)  # Its worker needs one second more.
    assert order() == []
    row.update(cursor=100, rate=None)  # Nobody knows yet.
    assert order() == []
    Lease.objects.create(run=run, first=0, size=5, attempts=1)
    assert order() == ["plain"]


def test_a_slice_that_is_not_due_is_no_work(start: Callable[..., list[MetricRun]]) -> None:
    (run,) = start("plain")
    MetricRun.objects.update(planned=5, cursor=5)
    due = timezone.now() + timedelta(seconds=30)
    Lease.objects.create(run=run, first=0, size=5, attempts=1, due_at=due)
    assert agenda.next_run(QUEUES) is None
    Lease.objects.update(due_at=Now())
    assert agenda.next_run(QUEUES) == run


def work(hinted: int = 0, **options: object) -> None:
    given = {"queues": QUEUES, "worker": "w1", "should_stop": lambda: False} | options
    agenda.work(hinted=hinted, **given)  # type: ignore[arg-type]


def test_a_worker_drains_its_queues(start: Callable[..., list[MetricRun]]) -> None:
    started = start("plain", "bert", "xlm", "bert2")
    work()
    assert [reread(run).status for run in started] == ["done"] * 4
    assert agenda.resident() == "xlm"


def test_a_worker_that_must_stop_takes_nothing_more(
    start: Callable[..., list[MetricRun]],
) -> None:
    first, second = start("plain", "bert")
    work(should_stop=lambda: len(fakes.Counting.seen) == 8)
    assert (reread(first).status, reread(second).status) == ("done", "queued")


def test_other_tasks_have_their_turn_after_a_while(
    start: Callable[..., list[MetricRun]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = start("plain", "bert")
    clock = count(0, 50)
    # Not the clock of the whole process: other threads would move it, too.
    monkeypatch.setattr(agenda, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(scoring, "CHUNK_SECONDS", 1.0)
    work()
    assert reread(first).status == "done"
    assert reread(second).status == "queued"


def test_a_run_without_work_for_this_worker_does_not_spin(
    start: Callable[..., list[MetricRun]], monkeypatch: pytest.MonkeyPatch
) -> None:
    idle, resting = start("plain", "bert")
    outcomes = {
        idle.pk: scoring.Outcome(is_idle=True),
        resting.pk: scoring.Outcome(rest_seconds=30),
    }
    calls: list[int] = []

    def work_off(run_id: int, **options: object) -> scoring.Outcome:
        calls.append(run_id)
        return outcomes[run_id]

    monkeypatch.setattr(scoring, "work_off", work_off)
    work()
    assert calls == [idle.pk, resting.pk]
    assert agenda.resting() == {resting.pk}
    assert agenda.next_run(QUEUES, without=agenda.resting()) == idle
