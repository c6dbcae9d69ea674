"""What every worker does beside its work."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from celery import current_app
from celery.signals import worker_ready, worker_shutting_down
from celery.worker import state

from annotation.notifications import check_all
from metrics import caretaker, lookout, losses, runs, tasks
from metrics.clock import Now
from metrics.lookout import Lookout
from metrics.models import MetricRun
from tests.metrics.conftest import reread
from tests.world import World


@pytest.fixture
def run(world: World) -> MetricRun:
    run = runs.start(test_set=world.test_set, metrics=["rouge"], enqueue=False).runs[0]
    MetricRun.objects.update(requeue_at=Now())
    return run


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Runs for which a message was sent."""
    messages: list[int] = []
    monkeypatch.setattr(runs, "hand_out", lambda run: messages.append(run.pk))
    return messages


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(lookout, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def looking(queue: str) -> Callable[[], bool]:
    return partial(caretaker.hand_out_next, {queue})


def test_every_worker_looks_after_all_runs(run: MetricRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes at once what waits, then goes on looking until it is told to stop."""
    threads = [Mock(), Mock(), Mock()]
    periodic = Mock(side_effect=threads)
    monkeypatch.setattr(caretaker, "Periodic", periodic)
    consumer = SimpleNamespace(
        app=current_app, hostname="w1", controller=SimpleNamespace(concurrency=1)
    )
    caretaker.begin_rounds(sender=consumer)
    assert reread(run).status == "done"
    calls = [call.args[1:] for call in periodic.call_args_list]
    assert calls[0] == (caretaker.ROUND_SECONDS, losses.reap)
    assert calls[1][1].__name__ == "look"
    assert calls[2] == (caretaker.NOTICE_SECONDS, check_all)
    for thread in threads:
        thread.start.assert_called_once()
    worker_shutting_down.send(sender="w1", sig="SIGTERM", how="Warm", exitcode=0)
    tasks._stopping.clear()
    for thread in threads:
        thread.stop.assert_called_once()


def test_it_begins_when_a_worker_is_ready() -> None:
    assert caretaker.begin_rounds in [receiver() for _, receiver in worker_ready.receivers]


def test_an_idle_worker_finds_a_run_whose_message_was_lost(run: MetricRun, sent: list) -> None:
    Lookout(1, looking("gpu")).look()
    assert sent == []
    Lookout(1, looking("cpu")).look()
    assert sent == [run.pk]


def test_a_busy_worker_does_not_look(
    run: MetricRun, sent: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "reserved_requests", {"a request"})
    Lookout(1, looking("cpu")).look()
    assert sent == []
    Lookout(2, looking("cpu")).look()
    assert sent == [run.pk]


def test_a_run_that_is_not_due_is_left_alone(run: MetricRun, sent: list) -> None:
    MetricRun.objects.update(requeue_at=Now() + timedelta(seconds=30))
    Lookout(1, looking("cpu")).look()
    assert sent == []


def test_messages_that_nobody_takes_get_rarer(
    run: MetricRun, sent: list, clock: SimpleNamespace
) -> None:
    out, times = Lookout(1, looking("cpu")), []
    for _ in range(2000):
        before = len(sent)
        out.look()
        if len(sent) > before:
            times.append(clock.now - 1000)
        clock.now += 1
    assert times[:8] == [0, 2, 6, 14, 30, 62, 126, 254]
    assert {late - early for early, late in pairwise(times[8:])} == {300}


def test_a_message_that_was_taken_makes_it_look_again_at_once(
    run: MetricRun, sent: list, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Lookout(1, looking("cpu"))
    out.look()
    out.look()
    assert len(sent) == 1
    monkeypatch.setattr(state, "total_count", {"metrics.tasks.score_run": 1})
    out.look()
    assert len(sent) == 2
