from collections.abc import Iterator

import pytest
from celery import current_app
from celery.signals import worker_shutting_down

from metrics import runs, tasks
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
    assert [worker.segments for worker in run.workers.all()] == [8]


def test_a_worker_that_stops_hands_the_run_back(run: MetricRun, shutting_down: None) -> None:
    tasks.score_run.apply(args=[run.pk])
    assert reread(run).status == "queued"


def test_queues_have_keys_of_their_own() -> None:
    """Two queues with one key would each get every message."""
    keys = {queue.name: queue.routing_key for queue in current_app.conf.task_queues}
    assert keys == {"cpu": "cpu", "gpu": "gpu"}


def test_a_message_also_starts_what_else_waits(run: MetricRun) -> None:
    other = runs.start(test_set=run.test_set, metrics=["chrf"]).runs[0]
    tasks.score_run.apply(args=[run.pk])
    assert (reread(run).status, reread(other).status) == ("done", "done")
