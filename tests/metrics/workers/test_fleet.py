"""The rows of workers (metrics/models/fleet.py): who lives, who works, what waits."""

import pytest

from metrics.models import ConfiguredMetric, MetricRun, fleet
from metrics.models.fleet import Part, Worker
from metrics.runs import starting
from tests.metrics.fleet import found, make_child, make_worker, put_to_work
from tests.world import World

pytestmark = pytest.mark.django_db


def states() -> dict[str, str]:
    return {seat.worker.name: seat.state for seat in fleet.fleet()}


def test_the_state_of_a_worker(world: World) -> None:
    make_worker("a@one")
    make_worker("b@one", is_stopping=True)
    make_worker("c@one", silent=40)
    worker = make_worker("d@two", memory=1000)
    idle = make_child(worker, 7, memory=100)
    busy = make_child(worker, 8, memory=20)
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    put_to_work(run, "d@two", 7.5)
    assert states() == {"a@one": "idle", "b@one": "stopping", "c@one": "silent", "d@two": "working"}
    *others, seat = fleet.fleet()
    assert [other.children for other in others] == [[], [], []]
    assert seat.children == [(idle, None), (busy, Part(run, 7.5))]
    assert seat.memory == 1120


def test_seconds_since_the_last_sign_of_life_are_the_databases() -> None:
    make_worker("c@one", silent=3600)
    [seat] = fleet.fleet()
    assert 3599 < seat.seconds < 3660


def test_who_lives() -> None:
    make_worker("a@one")
    make_worker("c@one", silent=40)
    assert [row.name for row in fleet.live_workers()] == ["a@one"]


def test_who_is_dropped() -> None:
    """Silent for a day; or silent, and another process has the name and the host now."""
    kept = make_worker("kept@one", silent=23 * 3600)
    make_worker("old@one", silent=25 * 3600)
    make_worker("gpu0@one", pid=1, silent=60)
    twin = make_worker("gpu0@one", pid=2)
    row = make_worker("gpu0@one", pid=3)
    fleet.drop_old(row)
    assert set(Worker.objects.all()) == {kept, twin, row}


@pytest.mark.needs("extensions.neural")
def test_queues_count_workers_that_would_take_something(world: World) -> None:
    make_worker("a@one", queues=["cpu"])
    make_worker("b@one", queues=["cpu", "gpu"], silent=40)
    make_worker("c@one", queues=["cpu", "gpu"], is_stopping=True)
    chosen = ["chrf", "ter", "bleurt-20"]
    chrf, *_ = starting.start(test_set=world.test_set, metrics=chosen, enqueue=False).runs
    MetricRun.objects.filter(pk=chrf.pk).update(status="running")
    cpu, gpu = fleet.queue_states(fleet.fleet(), ["cpu", "gpu"])
    assert (len(cpu.workers), cpu.waiting, cpu.running, cpu.is_starved) == (1, 1, 1, False)
    assert (len(gpu.workers), gpu.waiting, gpu.running, gpu.is_starved) == (0, 1, 0, True)


def test_a_configured_metric_waits_in_its_queue(world: World) -> None:
    ConfiguredMetric.objects.create(
        name="bs", label="BS", family="bertscore", description={"queue": "gpu"}
    )
    for name in ("bs", "unknown"):
        MetricRun.objects.create(test_set=world.test_set, metric=name)
    cpu, gpu = fleet.queue_states([], ["cpu", "gpu"])
    assert (cpu.waiting, gpu.waiting) == (1, 1)


def test_a_queue_that_no_setting_names_is_shown_too() -> None:
    make_worker("a@one", queues=["night"])
    assert [q.name for q in fleet.queue_states(fleet.fleet(), ["cpu"])] == ["cpu", "night"]


def test_workers_of_one_name_are_told_apart(world: World) -> None:
    make_worker("celery@one", pid=1)
    make_child(make_worker("celery@one", pid=7))
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    put_to_work(run, "celery@one", 7.5)
    assert [seat.state for seat in fleet.fleet()] == ["idle", "working"]


def test_the_layers_of_an_encoder_are_known_from_a_worker() -> None:
    make_worker("a@one", checkpoints={"acme/x": found(layers=None)})
    make_worker("b@two", checkpoints={"acme/x": found(layers=25)})
    assert fleet.layers_on_workers("acme/x") == 25
    assert fleet.layers_on_workers("acme/y") is None


def test_versions_begin_with_our_own() -> None:
    make_worker(versions={"torch": "2.13.0", "python": "3.11.7", "touchstone": "abc"})
    [seat] = fleet.fleet()
    assert seat.versions == [("touchstone", "abc"), ("python", "3.11.7"), ("torch", "2.13.0")]
