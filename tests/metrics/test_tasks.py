from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from celery import current_app
from celery.signals import worker_ready, worker_shutting_down

from metrics import caretaker, runs, tasks
from metrics.models import MetricRun
from tests.metrics.conftest import reread
from tests.world import World


@pytest.fixture
def run(world: World) -> MetricRun:
    return runs.start(test_set=world.test_set, metrics=["rouge"], enqueue=False).runs[0]


@pytest.fixture
def shutting_down() -> Iterator[None]:
    """A worker of ours has been told to stop."""
    worker_shutting_down.send(sender="w1", sig="SIGTERM", how="Warm", exitcode=0)
    yield
    tasks._stopping.clear()


def test_the_task_works_the_run_off(run: MetricRun) -> None:
    tasks.score_run.apply(args=[run.pk])
    assert reread(run).status == "done"
    assert reread(run).worker


def test_the_task_of_a_deleted_run_does_nothing(db: None) -> None:
    assert tasks.score_run.apply(args=[123456]).successful()


def test_a_second_message_does_nothing(run: MetricRun) -> None:
    for _ in range(2):
        tasks.score_run.apply(args=[run.pk])
    assert reread(run).attempts == 1


def test_a_worker_that_stops_hands_the_run_back(run: MetricRun, shutting_down: None) -> None:
    tasks.score_run.apply(args=[run.pk])
    assert (reread(run).status, reread(run).attempts) == ("queued", 0)


def test_queues_have_keys_of_their_own() -> None:
    """Two queues with one key would each get every message."""
    keys = {queue.name: queue.routing_key for queue in current_app.conf.task_queues}
    assert keys == {"cpu": "cpu", "gpu": "gpu"}


def test_every_worker_looks_after_all_runs(run: MetricRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hands out at once what waits, then goes on looking until it is told to stop."""
    thread = Mock()
    periodic = Mock(return_value=thread)
    monkeypatch.setattr(caretaker, "Periodic", periodic)
    worker_ready.send(sender="w1")
    assert reread(run).status == "done"
    assert periodic.call_args.args[1:] == (caretaker.ROUND_SECONDS, runs.requeue_stale)
    thread.start.assert_called_once()
    worker_shutting_down.send(sender="w1", sig="SIGTERM", how="Warm", exitcode=0)
    tasks._stopping.clear()
    thread.stop.assert_called_once()
