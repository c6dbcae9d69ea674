import logging
import socket

import numpy as np
import pytest
from django.db import OperationalError

from annotation.models import Output
from metrics import patience, runs, scoring
from metrics.base import MetricError
from metrics.clock import Now
from metrics.models import Lease, MetricRun, SegmentScore
from metrics.scores import system_scores
from tests.metrics import fakes
from tests.metrics.conftest import reread, start, work_off
from tests.world import World, add_system, make_test_set

Counting = type[fakes.Counting]


def test_every_output_gets_its_score(world: World, fake_metrics: Counting) -> None:
    run = work_off(start(world))
    assert (run.status, run.done, run.total, run.reused) == ("done", 8, 8, 0)
    assert run.signature.signature == "counting|version:1"
    table = system_scores(world.test_set)
    for row, system in enumerate(table.systems):
        for column, segment in enumerate(table.segments):
            output = Output.objects.get(system=system, segment=segment)
            lengths = (len(output.text), len(output.segment.source))
            found = [measure.values[row, column] for measure in table.measures.values()]
            assert found == list(lengths)


def test_metrics_see_source_output_and_references(world: World, fake_metrics: Counting) -> None:
    segment = world.test_set.segments.get(position=2)
    segment.references.create(name="B", text="A second reference.")
    work_off(start(world))
    seen = [item for item in fake_metrics.seen if item.source == segment.source]
    assert len(seen) == 2
    assert {item.references for item in seen} == {
        ("Sentence 2: the harbour was quiet all morning.", "A second reference.")
    }
    assert {item.hypothesis for item in seen} == set(segment.outputs.values_list("text", flat=True))


def test_running_again_scores_nothing(world: World, fake_metrics: Counting) -> None:
    work_off(start(world))
    run = work_off(start(world))
    assert len(fake_metrics.seen) == 8
    assert (run.status, run.done, run.reused) == ("done", 8, 8)


def test_a_new_system_costs_only_itself(world: World, fake_metrics: Counting) -> None:
    work_off(start(world))
    add_system(world.test_set, "late")
    run = work_off(start(world))
    assert {item.hypothesis for item in fake_metrics.seen[8:]} == {
        f"Sentence {n} by etal: the harbour was quiet." for n in range(4)
    }
    assert (run.total, run.reused) == (12, 8)


def test_equal_contents_are_scored_once(world: World, fake_metrics: Counting) -> None:
    strong = world.test_set.systems.get(name="strong")
    copy = add_system(world.test_set, "copy")
    for output in copy.outputs.all():
        twin = strong.outputs.get(segment=output.segment)
        Output.objects.filter(pk=output.pk).update(text=twin.text, content_key=twin.content_key)
    run = work_off(start(world))
    assert (run.total, run.done, len(fake_metrics.seen)) == (8, 8, 8)
    assert system_scores(world.test_set).measures["counting-output"].is_complete


def test_only_the_chosen_systems_are_scored(world: World, fake_metrics: Counting) -> None:
    weak = world.test_set.systems.filter(name="weak")
    run = work_off(start(world, systems=weak))
    assert (run.total, SegmentScore.objects.count()) == (4, 4)


def test_an_empty_output_is_scored(world: World, fake_metrics: Counting) -> None:
    Output.objects.filter(system__name="weak", segment__position=0).update(text="")
    assert work_off(start(world)).status == "done"
    assert "" in {item.hypothesis for item in fake_metrics.seen}


def test_a_cancelled_run_stops_after_its_chunk(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 2)
    run = start(world, "acting")
    monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: runs.cancel(run)))
    row = work_off(run)
    assert (row.status, len(fake_metrics.seen)) == ("cancelled", 2)
    assert SegmentScore.objects.count() == 2


def test_a_worker_that_must_stop_hands_the_run_back(world: World, fake_metrics: Counting) -> None:
    row = work_off(start(world), should_stop=lambda: True)
    assert row.status == "queued"
    assert fake_metrics.seen == []


def test_a_worker_that_stops_midway_leaves_the_rest_to_others(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 3)
    row = work_off(start(world), should_stop=lambda: bool(fake_metrics.seen))
    assert (row.status, row.done, row.rate) == ("queued", 3, None)
    assert row.workers.get().left_at is not None
    assert work_off(row).status == "done"
    assert len(fake_metrics.seen) == 8


def test_an_interrupt_hands_the_run_back(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fakes.Failing, "error", KeyboardInterrupt())
    run = start(world, "failing")
    with pytest.raises(KeyboardInterrupt):
        work_off(run)
    assert reread(run).status == "queued"
    assert set(Lease.objects.values_list("worker", "attempts")) == {(None, 0)}


def test_a_permanent_error_names_the_segment(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = MetricError("too long", permanent=True, index=3)
    monkeypatch.setattr(fakes.Failing, "error", error)
    row = work_off(start(world, "failing"))
    assert (row.status, row.message) == ("failed", "too long (segment 2 of weak)")
    assert row.finished_at is not None


def test_an_error_that_may_pass_is_tried_again_later(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = MetricError("out of memory", permanent=False)
    monkeypatch.setattr(fakes.Failing, "error", error)
    run = start(world, "failing")
    waits = []
    for _ in range(4):
        waits.append(scoring.work_off(run.pk, worker="test").rest_seconds)
        row = reread(run)
        assert (row.status, row.message) == ("queued", "Is tried again. out of memory")
        assert scoring.work_off(run.pk, worker="test").is_idle
        Lease.objects.update(due_at=Now())
    assert waits == [15, 30, 60, 120]
    row = work_off(run)
    assert (row.status, row.message) == ("failed", "Given up after 5 attempts. out of memory")


def test_any_other_error_fails_the_run_and_is_logged(
    world: World,
    fake_metrics: Counting,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(fakes.Failing, "error", ZeroDivisionError("division by zero"))
    row = work_off(start(world, "failing"))
    assert (row.status, row.message) == ("failed", "ZeroDivisionError: division by zero")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((8, 3)), "ValueError: Broken returned (8, 3) scores, not (8, 2)"),
        (np.ones((7, 2)), "ValueError: Broken returned (7, 2) scores, not (8, 2)"),
        (
            np.array([[1.0, 2.0]] * 2 + [[1.0, np.nan]] + [[1.0, 2.0]] * 5),
            "Broken gave no finite score (segment 2 of strong)",
        ),
    ],
)
def test_what_is_no_score_is_not_stored(
    world: World,
    fake_metrics: Counting,
    monkeypatch: pytest.MonkeyPatch,
    rows: np.ndarray,
    message: str,
) -> None:
    monkeypatch.setattr(fakes.Broken, "rows", rows)
    row = work_off(start(world, "broken"))
    assert (row.status, row.message) == ("failed", message)
    assert SegmentScore.objects.count() == 0


def test_a_metric_that_cannot_be_loaded_fails_the_run(world: World) -> None:
    run = MetricRun.objects.create(test_set=world.test_set, metric="gone")
    row = work_off(run)
    assert row.status == "failed"
    assert row.message.startswith("Unknown metric 'gone'")


def test_a_hiccup_of_the_database_costs_nothing(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, failures = scoring.store_scores, [OperationalError("server closed the connection")]

    def flaky(*args: object) -> None:
        if failures:
            raise failures.pop()
        store(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(scoring, "store_scores", flaky)
    monkeypatch.setattr(patience, "DATABASE_RETRIES", (0, 0))
    monkeypatch.setattr(patience.connection, "close", lambda: None)
    row = work_off(start(world))
    assert (row.status, len(fake_metrics.seen)) == ("done", 8)


def test_a_database_that_stays_away_leaves_the_run_to_the_next(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise OperationalError("no route to host")

    monkeypatch.setattr(scoring, "store_scores", broken)
    monkeypatch.setattr(patience, "DATABASE_RETRIES", (0, 0))
    monkeypatch.setattr(patience.connection, "close", lambda: None)
    run = start(world)
    with pytest.raises(OperationalError):
        work_off(run)
    assert reread(run).status == "running"


def test_chunks_grow_to_a_second() -> None:
    assert scoring._next_size(16, 0.001) == 64
    assert scoring._next_size(64, 2.0) == 32
    assert scoring._next_size(8192, 0.01) == 8192
    assert scoring._next_size(1, 100.0) == 1


@pytest.mark.django_db
def test_queries_do_not_grow_with_the_outputs(
    fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: object
) -> None:
    """Two slices cost the same, be they of 15 outputs or of 150."""
    for slug, segments in (("short", 15), ("long", 150)):
        monkeypatch.setattr(scoring, "FIRST_CHUNK", segments)
        test_set = make_test_set(slug, segments=segments, systems=(f"one-{slug}", f"two-{slug}"))
        run = runs.start(test_set=test_set, metrics=["counting"], enqueue=False).runs[0]
        with django_assert_max_num_queries(95):  # type: ignore[operator]
            scoring.work_off(run.pk, worker="test")
    assert SegmentScore.objects.count() == 330


def test_progress_is_reported(world: World, fake_metrics: Counting) -> None:
    steps: list[int] = []
    work_off(start(world), report=lambda progress: steps.append(progress.done))
    assert steps == [0, 8]


def test_the_log_says_what_a_worker_did(world: World, fake_metrics: Counting) -> None:
    worker = work_off(start(world)).workers.get()
    assert (worker.name, worker.host, worker.segments) == ("test", socket.gethostname(), 8)
    assert (worker.device, worker.precision, worker.batch) == ("cpu", "", "")
    assert worker.seconds > 0
    assert worker.peak_bytes > 2**20
    assert (worker.device_peak_bytes, worker.state) == (None, "left")
