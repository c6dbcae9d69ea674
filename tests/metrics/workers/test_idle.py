"""Why what waits is not taken: nobody is there, or whoever is there refuses, is busy or hangs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from core.work.models import Now
from metrics.models import Loading, MetricRun, Slice
from metrics.models.fleet import Worker
from metrics.runs import starting, waiting
from metrics.workers import idle
from metrics.workers.idle import Idle, Reason, explain
from tests.metrics.fleet import make_child, make_worker, uid_of
from tests.world import World
from training.models import TrainingJob

MISSING = "The checkpoint x is missing: manage.py models --fetch x"
MEMORY = "The GPU has 8 GiB, and the metric needs 16 GiB."
PLUGIN = "The plug-in mt-x is not installed: pip install mt-x"


@pytest.fixture
def run(world: World) -> MetricRun:
    """A run that has waited for long in the queue cpu."""
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    then = timezone.now() - timedelta(minutes=5)
    MetricRun.objects.update(created_at=then)
    Slice.objects.update(not_before=then)
    return run


def texts(idle: list[Idle]) -> list[Idle]:
    """The same with messages as their English text."""
    return [
        replace(
            each, workers={name: tuple(map(str, about)) for name, about in each.workers.items()}
        )
        for each in idle
    ]


def found(run: MetricRun) -> list[Idle]:
    run = MetricRun.objects.get(pk=run.pk)
    waiting.attach([run])
    return waiting.idle([run])


def take(worker: str, run: MetricRun, *, pid: int = 8, seconds: float = 60) -> None:
    """Give a process of a worker a slice of another run."""
    expires = timezone.now() + timedelta(seconds=seconds)
    Slice.objects.create(
        run=run, queue="gpu", status="running", owner=f"{uid_of(worker)}.{pid}.1.1",
        expires_at=expires,
    )  # fmt: skip


@pytest.fixture
def other(run: MetricRun, world: World) -> MetricRun:
    """A run of another queue."""
    return MetricRun.objects.create(test_set=world.test_set, metric="ter", status="running")


def test_nobody_is_there(run: MetricRun) -> None:
    assert texts(found(run)) == [Idle("cpu", Reason.ABSENT)]
    make_worker("gpu0@one", queues=["gpu"])
    make_worker("cpu0@gone", silent=60)
    make_worker("cpu1@one", is_stopping=True, pid=9)
    assert texts(found(run)) == [Idle("cpu", Reason.ABSENT)]


@pytest.mark.parametrize("lacks", [MISSING, PLUGIN])
def test_whoever_is_there_refuses(run: MetricRun, lacks: str) -> None:
    make_worker("cpu0@one", lacks={"chrf": [lacks]})
    assert texts(found(run)) == [Idle("cpu", Reason.REFUSING, {"cpu0@one": (lacks,)})]


def test_whoever_is_there_could_not_load_it(run: MetricRun) -> None:
    make_worker("cpu0@one")
    until = timezone.now() + timedelta(hours=1)
    Loading.objects.create(metric="chrf", host="one", problem=MEMORY, until=until)
    assert texts(found(run)) == [Idle("cpu", Reason.REFUSING, {"cpu0@one": (MEMORY,)})]


def test_whoever_is_there_is_busy_elsewhere(run: MetricRun, other: MetricRun) -> None:
    worker = make_worker("cpu0@one")
    make_child(worker, 8)
    take("cpu0@one", other)
    assert texts(found(run)) == [Idle("cpu", Reason.BUSY, {"cpu0@one": ("TER",)})]
    make_child(worker, 9)
    assert texts(found(run)) == [Idle("cpu", Reason.UNKNOWN, {"cpu0@one": ("TER",)})]
    TrainingJob.objects.create(
        name="job", kind="sentinel", status="running", owner=f"{uid_of('cpu0@one')}.9.1.1",
        expires_at=timezone.now() + timedelta(seconds=60),
    )  # fmt: skip
    busy = {"cpu0@one": ("TER", "a training job")}
    assert texts(found(run)) == [Idle("cpu", Reason.BUSY, busy)]


def test_a_refusing_worker_beside_a_busy_one_is_not_named(run: MetricRun, other: MetricRun) -> None:
    make_worker("cpu0@one", lacks={"chrf": [MISSING]})
    make_worker("cpu0@two")
    take("cpu0@two", other)
    assert texts(found(run)) == [Idle("cpu", Reason.BUSY, {"cpu0@two": ("TER",)})]


def test_a_claim_that_has_expired_keeps_nobody_busy(run: MetricRun, other: MetricRun) -> None:
    make_worker("cpu0@one")
    take("cpu0@one", other, seconds=-1)
    assert texts(found(run)) == [Idle("cpu", Reason.UNKNOWN, {"cpu0@one": ()})]


def test_one_who_can_take_a_part_of_what_waits_does_not_refuse() -> None:
    assert explain({}) == []


@pytest.mark.django_db
def test_a_worker_refuses_where_it_lacks_something_for_all_that_waits() -> None:
    make_worker("cpu0@one")
    each = {"one": [MISSING]}
    assert explain({"cpu": [each, each]})[0].workers == {"cpu0@one": (MISSING,)}
    assert explain({"cpu": [each, {}]})[0].reason == Reason.UNKNOWN


@pytest.mark.parametrize("address", ["/runs/", "/workers/", "run"])
def test_pages_tell_a_busy_worker_from_none(
    run: MetricRun, other: MetricRun, as_researcher: Client, address: str
) -> None:
    address = run.get_absolute_url() if address == "run" else address
    page = as_researcher.get(address).text
    assert 'data-idle="absent"' in page
    assert "python manage.py worker" in page
    make_worker("cpu0@one")
    take("cpu0@one", other)
    page = as_researcher.get(address).text
    assert 'data-idle="busy"' in page
    assert "python manage.py worker" not in page
    Worker.objects.update(lacks={"chrf": [MISSING]}, seen_at=Now() + timedelta(hours=1))
    page = as_researcher.get(address).text
    assert 'data-idle="busy"' not in page
    assert MISSING in page


def test_jobs_say_what_hosts_lack(world: World, as_researcher: Client) -> None:
    then = timezone.now() - timedelta(minutes=5)
    job = TrainingJob.objects.create(
        name="job", kind="sentinel", queue="gpu", lacks={"one": [MISSING]}, not_before=then
    )
    TrainingJob.objects.update(created_at=then)
    assert 'data-idle="absent"' in as_researcher.get("/training/").text
    make_worker("gpu0@one")
    page = as_researcher.get("/training/").text
    assert 'data-idle="refusing"' in page
    assert MISSING in page
    assert as_researcher.get(job.get_absolute_url()).text.count(MISSING) == 1
    assert MISSING in as_researcher.get("/workers/").text
    assert idle.waiting_jobs() == {"gpu": [{"one": job.lacking["one"]}]}


def test_what_a_job_would_wait_for_is_known_before_it_starts(db: None) -> None:
    assert [each.code for each in idle.missing("gpu")] == ["start.no-worker"]
    make_worker("gpu0@one", queues=["gpu"], checkpoints={"acme/x": {}})
    assert idle.missing("gpu", ["acme/x", "", "/folder"]) == []
    (found,) = idle.missing("gpu", ["acme/x", "acme/y", "acme/y"])
    assert (found.code, found.parameters["checkpoint"]) == ("start.no-checkpoint", "acme/y")
