from datetime import timedelta
from io import StringIO

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.models import Output, Reference
from core.work import reconciling, sending, working
from metrics import registry
from metrics.models import MetricRun, SegmentScore, Slice
from metrics.runs import starting
from tests.metrics import fakes
from tests.metrics.conftest import drain, plan, reread, take
from tests.refusals import refused
from tests.world import World, make_test_set


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Messages: (run, queue), kept here instead of being sent."""
    messages: list[tuple[int, str]] = []

    def send(kind: object, pk: int, queue: str) -> bool:
        messages.append((Slice.objects.get(pk=pk).run_id, queue))
        return True

    monkeypatch.setattr(sending, "send", send)
    return messages


def age(run: MetricRun, **fields: float) -> None:
    """Move times of a run into the past (seconds; negative into the future)."""
    now = timezone.now()
    times = {name: now - timedelta(seconds=seconds) for name, seconds in fields.items()}
    MetricRun.objects.filter(pk=run.pk).update(**times)


def test_each_metric_becomes_a_run(
    world: World, sent: list, django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        started = starting.start(
            test_set=world.test_set, metrics=["chrf", "ter", "chrf"], user=world.researcher
        )
        assert sent == []
    assert [run.metric for run in started.runs] == ["chrf", "ter"]
    assert sent == [(run.pk, "cpu") for run in started.runs]
    row = reread(started.runs[0])
    assert (row.status, row.total, row.created_by) == ("queued", 8, world.researcher)
    assert {system.name for system in row.systems.all()} == {"strong", "weak"}


def test_a_run_goes_to_the_queue_of_its_metric(
    world: World,
    sent: list,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: object,
) -> None:
    entry = (fakes.make_info("neural", "gpu"), "tests.metrics.fakes:Counting")
    monkeypatch.setitem(registry.METRICS, "neural", entry)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        started = starting.start(test_set=world.test_set, metrics=["neural"])
    assert sent == [(started.runs[0].pk, "gpu")]


def test_a_started_run_is_worked_off(
    world: World, django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        started = starting.start(test_set=world.test_set, metrics=["rouge"])
    assert reread(started.runs[0]).status == "done"


def test_an_identical_active_run_is_not_started_twice(world: World) -> None:
    strong = world.test_set.systems.filter(name="strong")
    first = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs[0]
    again = starting.start(test_set=world.test_set, metrics=["chrf", "ter"], enqueue=False)
    assert ([run.metric for run in again.runs], again.active) == (["ter"], [first])
    part = starting.start(test_set=world.test_set, metrics=["chrf"], systems=strong, enqueue=False)
    assert len(part.runs) == 1


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_a_run_that_is_over_can_be_started_again(world: World, status: str) -> None:
    starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False)
    MetricRun.objects.update(status=status)
    assert len(starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs) == 1


def test_without_references_only_what_needs_none_starts(
    db: None, fake_metrics: type[fakes.Counting]
) -> None:
    test_set = make_test_set("bare", references=False)
    started = starting.start(test_set=test_set, metrics=["chrf", "counting"], enqueue=False)
    assert [run.metric for run in started.runs] == ["counting"]
    assert [each.code for each in started.refused] == ["run.no-references"]


def test_segments_without_a_reference_are_skipped_and_named(world: World, as_admin: Client) -> None:
    Reference.objects.filter(segment__position=2).delete()
    page = as_admin.get(reverse("run-start", args=[world.test_set.slug]))
    assert page.context["without_reference"].parameters == {"n": 1, "segments": ["3"]}
    started = starting.start(test_set=world.test_set, metrics=["ter"], enqueue=False)
    assert not started.refused
    run = drain(started.runs[0])
    assert (run.status, run.done, run.total) == ("done", run.total, run.total)
    skipped = set(Output.objects.filter(segment__position=2).values_list("content_key", flat=True))
    scored = set(SegmentScore.objects.values_list("content_key", flat=True))
    every = set(Output.objects.values_list("content_key", flat=True))
    assert scored == every - skipped
    page = as_admin.get(run.get_absolute_url())
    (warning,) = page.context["warnings"]
    assert warning.code == "segments_without_reference"
    assert warning.message.parameters == {"n": 1, "segments": ["3"]}


def test_an_unknown_metric_is_refused(world: World) -> None:
    started = starting.start(test_set=world.test_set, metrics=["meteor", "ter"], enqueue=False)
    (refusal,) = started.refused
    assert (refusal.code, refusal.parameters) == ("metric.unknown", {"metric": "meteor"})
    assert len(started.runs) == 1


def test_nothing_to_score_is_an_error(world: World) -> None:
    empty = make_test_set("empty", systems=())
    for systems in (None, []):
        with refused("run.no-systems"):
            starting.start(test_set=empty, metrics=["ter"], systems=systems)


def test_a_system_of_another_test_set_is_an_error(world: World) -> None:
    other = make_test_set("other")
    with pytest.raises(ValueError, match="systems: strong belongs to another test set"):
        starting.start(test_set=world.test_set, metrics=["ter"], systems=other.systems.all())
    assert not MetricRun.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_run_outlives_a_broker_that_is_away(
    monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    def away(**kwargs: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(working.work, "apply_async", away)
    started = starting.start(test_set=make_test_set(), metrics=["chrf"])
    assert reread(started.runs[0]).status == "queued"
    assert "waits until the broker is back" in logged.getvalue()


@pytest.mark.django_db(transaction=True)
def test_nothing_is_sent_when_the_transaction_fails(sent: list) -> None:
    test_set = make_test_set()
    with transaction.atomic():
        starting.start(test_set=test_set, metrics=["chrf"])
        transaction.set_rollback(True)
    assert sent == []
    assert not MetricRun.objects.exists()


def test_cancelling(world: World) -> None:
    run = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs[0]
    assert starting.cancel(run)
    assert reread(run).status == "cancelled"
    assert reread(run).finished_at is not None
    assert not starting.cancel(run)
    MetricRun.objects.update(status="done")
    assert not starting.cancel(run)
    assert reread(run).status == "done"


def test_workers_hear_of_a_started_run_at_once_and_of_one_scored_here_later(
    world: World, sent: list
) -> None:
    for metric, enqueue in (("chrf", True), ("ter", False)):
        starting.start(test_set=world.test_set, metrics=[metric], enqueue=enqueue)
    assert reconciling.reconcile({"cpu"}) == 1
    assert sent == [(MetricRun.objects.get(metric="chrf").pk, "cpu")]
    wait = (Slice.objects.get(run__metric="ter").sent_at - timezone.now()).total_seconds()
    assert 30 < wait <= 60


def test_idle_queues_are_those_without_a_busy_worker(world: World) -> None:
    started = starting.start(test_set=world.test_set, metrics=["chrf", "ter"], enqueue=False)
    waiting, other = started.runs
    assert starting.idle_queues([reread(waiting)]) == []
    age(waiting, created_at=16)
    Slice.objects.update(not_before=timezone.now() - timedelta(seconds=16))
    assert starting.idle_queues([reread(waiting)]) == ["cpu"]
    assert take(other)
    assert starting.idle_queues([reread(waiting)]) == []
    Slice.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert starting.idle_queues([reread(waiting)]) == ["cpu"]


def test_a_run_that_waits_for_its_retry_is_no_sign_of_idleness(world: World) -> None:
    run = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs[0]
    age(run, created_at=100)
    Slice.objects.update(not_before=timezone.now() + timedelta(seconds=60))
    assert starting.idle_queues([reread(run)]) == []
    Slice.objects.update(not_before=timezone.now() - timedelta(seconds=20))
    assert starting.idle_queues([reread(run)]) == ["cpu"]


def test_silence_is_that_of_the_worker_heard_last(world: World) -> None:
    run = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs[0]
    assert starting.silence(run) is None
    plan(run)
    assert take(run)
    assert starting.silence(reread(run)) is None
    Slice.objects.filter(status="running").update(expires_at=timezone.now() + timedelta(seconds=20))
    assert 40 <= (starting.silence(reread(run)) or 0) < 60
    assert take(run)
    assert starting.silence(reread(run)) is None
