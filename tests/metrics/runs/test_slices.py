"""Slices of one run, taken and given back by several workers in one process."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.work import claims, processes, reconciling
from metrics.contents import find_missing, load_part, pack_ids
from metrics.models import FailedText, MetricRun, MetricSignature, RunPlan, RunWorker, Slice
from metrics.runs import scoring, slices, starting, state
from metrics.runs.work import kind
from tests.metrics.conftest import plan, reread, start, take
from tests.world import World, make_test_set

READING = {"device": "cpu", "precision": "", "batch": "", "peak_bytes": 1, "device_peak_bytes": 2}


@pytest.fixture
def run(world: World) -> MetricRun:
    return start(world, "chrf")


def taken(run: MetricRun) -> Slice:
    row = take(run)
    assert row is not None
    return row


def complete(row: Slice, **options: object) -> None:
    given = {"reused": 0, "failed": {}, "seconds": 2.0, "rate": 1.5, "reading": READING}
    slices.complete(row, **given | options)  # type: ignore[arg-type]


def die(row: Slice) -> None:
    """Let the process that claimed a slice fall silent after it loaded the metric."""
    past = timezone.now() - timedelta(seconds=1)
    Slice.objects.filter(pk=row.pk).update(expires_at=past, is_loading=False)
    reconciling.reconcile()


def waiting(run: MetricRun) -> list[tuple[int, int, int]]:
    rows = run.slices.filter(status="queued")
    return list(rows.values_list("first", "size", "attempts"))


def test_the_first_slice_is_the_plan_and_only_one_worker_gets_it(run: MetricRun) -> None:
    processes.set_worker_label("w1@host")
    row = taken(run)
    assert (row.first, row.size, row.worker.name, row.is_loading) == (0, 0, "w1@host", True)
    assert take(run) is None
    assert (reread(run).status, reread(run).worker) == ("running", "w1@host")
    assert reread(run).started_at is not None


def test_a_plan_says_what_there_is_to_do(run: MetricRun) -> None:
    row = taken(run)
    signature = MetricSignature.objects.create(metric="chrf", signature="chrf|v:1", measures=[])
    ids = find_missing(run, signature).output_ids[2:]
    slices.plan(
        row, signature=signature.pk, total=8, output_ids=pack_ids(ids), reading={"device": "cpu"}
    )
    after = reread(run)
    assert (after.total, after.done, after.reused) == (8, 2, 2)
    assert waiting(run) == [(0, 6, 0)]
    assert list(load_part(run.pk, 1, 3)) == list(ids[1:4])
    assert after.workers.get().device == "cpu"


def test_a_plan_of_nothing_ends_the_run(run: MetricRun) -> None:
    row = taken(run)
    signature = MetricSignature.objects.create(metric="chrf", signature="chrf|v:1", measures=[])
    slices.plan(row, signature=signature.pk, total=8, output_ids=b"", reading={})
    assert (reread(run).status, reread(run).done) == ("done", 8)
    assert not RunPlan.objects.exists()


def test_a_long_plan_has_several_slices(run: MetricRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LARGEST", 3)
    plan(run)
    assert waiting(run) == [(0, 3, 0), (3, 3, 0), (6, 2, 0)]


def test_a_slice_is_cut_to_what_its_worker_does_in_a_second(run: MetricRun) -> None:
    plan(run, size=3)
    row = taken(run)
    assert (row.first, row.size) == (0, 3)
    assert waiting(run) == [(3, 5, 0)]
    assert (taken(run).first, taken(run).size) == (3, 2)


def test_completing_counts(run: MetricRun) -> None:
    plan(run, size=5)
    complete(taken(run), reused=2)
    worker = reread(run).workers.get()
    assert (worker.segments, worker.seconds, worker.rate, worker.peak_bytes) == (3, 2.0, 1.5, 1)
    assert (reread(run).done, reread(run).reused, reread(run).status) == (5, 2, "running")
    complete(taken(run))
    assert (reread(run).status, reread(run).done, reread(run).rate) == ("done", 8, None)
    assert not Slice.objects.exists()


def test_a_slice_moves_along_the_plan(run: MetricRun) -> None:
    """Texts come in from behind, and leave at the front; others' are left alone."""
    plan(run, size=2)
    row = taken(run)
    assert waiting(run) == [(2, 6, 0)]
    assert slices.extend(row, 3) == 3
    row.size += 3
    assert (waiting(run), reread(run).slices.get(pk=row.pk).size) == ([(5, 3, 0)], 5)
    complete(row, n=4, failed={1: "no verdict"}, is_final=True)
    left = reread(run).slices.get(pk=row.pk)
    assert (left.first, left.size, left.status) == (4, 1, "running")
    assert (reread(run).done, reread(run).failed, reread(run).status) == (3, 1, "running")
    row.first, row.size = 4, 1
    assert taken(run).first == 5
    assert slices.extend(row, 3) == 0
    die(row)
    assert waiting(run) == [(4, 1, 1), (7, 1, 0)]
    assert slices.extend(row, 3) == 0
    assert complete(row, n=1) is None
    assert reread(run).done == 3


def test_a_slice_that_is_another_s_by_now_counts_once(run: MetricRun) -> None:
    plan(run, size=8)
    first = taken(run)
    claims.give_back(first)
    second = taken(run)
    complete(first)
    assert reread(run).done == 0
    complete(second)
    complete(second)
    assert (reread(run).status, reread(run).done) == ("done", 8)


def test_a_cancelled_run_gives_nothing_and_counts_nothing(run: MetricRun) -> None:
    plan(run, size=3)
    row = taken(run)
    assert starting.cancel(run)
    assert not claims.hold(row)
    complete(row)
    slices.shrink(row, "no")
    slices.put_off(row, "no", 0)
    assert (reread(run).status, reread(run).done) == ("cancelled", 0)
    assert (take(run), Slice.objects.count()) == (None, 0)


def test_texts_that_failed_in_a_slice_are_tried_alone(run: MetricRun) -> None:
    plan(run, size=8)
    complete(taken(run), failed={2: "bad", 5: "worse"})
    assert reread(run).done == 6
    assert waiting(run) == [(2, 1, 1), (5, 1, 1)]
    assert set(run.slices.values_list("message", flat=True)) == {"bad", "worse"}


def test_a_text_at_fault_is_set_apart(run: MetricRun) -> None:
    plan(run, size=8)
    slices.shrink(taken(run), "too long", position=3)
    assert waiting(run) == [(0, 3, 0), (3, 1, 1), (4, 4, 0)]


def test_a_silent_worker_loses_its_slice(run: MetricRun) -> None:
    processes.set_worker_label("w1@host")
    plan(run, size=3)
    row = taken(run)
    reconciling.reconcile()
    assert waiting(run) == [(3, 5, 0)]
    die(row)
    assert waiting(run) == [(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 5, 0)]
    row = reread(run)
    assert row.message.code == "run.worker-lost"
    assert row.message.parameters == {"worker": "w1@host"}
    assert row.workers.get().state.code == "run.worker-state-lost"


def test_a_run_at_which_nobody_is_waits(run: MetricRun) -> None:
    plan(run, size=3)
    row = taken(run)
    state.settle(seconds=0)
    assert reread(run).status == "running"
    assert RunWorker.objects.get().state.code == "run.worker-state-scoring"
    claims.give_back(row)
    state.settle()
    assert reread(run).status == "running"
    MetricRun.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=11), rate=3)
    state.settle()
    assert (reread(run).status, reread(run).rate) == ("queued", None)


def test_a_large_slice_comes_back_in_ten_pieces(run: MetricRun) -> None:
    plan(run)
    run.slices.update(first=100, size=8192)
    scoring._Memory.sizes["chrf"] = 8192
    die(taken(run))
    assert [size for _, size, _ in waiting(run)] == [820] * 9 + [812]
    covered = [at for first, size, _ in waiting(run) for at in range(first, first + size)]
    assert covered == list(range(100, 8292))


@pytest.mark.django_db
def test_a_text_that_kills_workers_is_isolated_and_recorded() -> None:
    """Output 5 kills whoever has it; the others are scored, and the run ends without it."""
    test_set = make_test_set(segments=30)
    run = starting.start(test_set=test_set, metrics=["chrf"], enqueue=False).runs[0]
    plan(run, size=50)
    deaths = 0
    while reread(run).is_active:
        row = taken(run)
        if row.first <= 5 < row.first + row.size:
            deaths += 1
            die(row)
        else:
            complete(row)
    after = reread(run)
    assert (after.status, after.done, after.failed, after.total, deaths) == ("done", 59, 1, 60, 5)
    failure = FailedText.objects.get()
    assert (failure.output.segment.key, failure.output.system.name) == ("3", "weak")
    assert (failure.attempts, failure.error.code) == (3, "run.worker-lost-scoring")


def test_a_metric_that_kills_workers_as_it_loads_fails_the_run(run: MetricRun) -> None:
    """Nothing of that is held against the texts."""
    plan(run, size=8)
    for _ in range(5):
        row = taken(run)
        assert (row.size, row.is_loading) == (8, True)
        Slice.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        reconciling.reconcile()
    after = reread(run)
    assert (after.status, after.failed) == ("failed", 0)
    assert after.message.parameters["error"].code == "run.worker-lost-loading"


def test_only_who_is_alone_plans_a_run_anew(run: MetricRun) -> None:
    plan(run, size=3)
    mine = taken(run)
    other = RunWorker.objects.create(run=run, name="w2", process="2", host="host")
    theirs = taken(run)
    Slice.objects.filter(pk=theirs.pk).update(worker=other)
    assert not slices.start_over(mine)
    claims.give_back(theirs)
    assert slices.start_over(mine)
    assert list(run.slices.values_list("first", "size", "status")) == [(0, 0, "running")]
    assert kind.model is Slice
