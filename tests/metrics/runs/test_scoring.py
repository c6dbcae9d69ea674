import json
import socket
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from annotation.models import Output
from core.database import waits
from core.work import processes, working
from core.work.models import Now
from metaeval.messages import message, plural
from metrics.base import MetricError, MetricWarning, SegmentInput
from metrics.contents import _unscored
from metrics.models import FailedText, MetricRun, MetricSignature, SegmentScore, Slice
from metrics.runs import saving, scoring, starting
from metrics.runs.work import kind
from metrics.scores import system_scores
from tests.metrics import fakes
from tests.metrics.conftest import drain, plan, reread, start
from tests.world import World, add_system, make_test_set

Counting = type[fakes.Counting]


def test_every_output_gets_its_score(world: World, fake_metrics: Counting) -> None:
    run = drain(start(world))
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
    drain(start(world))
    seen = [item for item in fake_metrics.seen if item.source == segment.source]
    assert len(seen) == 2
    assert {item.references for item in seen} == {
        ("Sentence 2: the harbour was quiet all morning.", "A second reference.")
    }
    assert {item.hypothesis for item in seen} == set(segment.outputs.values_list("text", flat=True))


def test_running_again_scores_nothing(world: World, fake_metrics: Counting) -> None:
    drain(start(world))
    run = drain(start(world))
    assert len(fake_metrics.seen) == 8
    assert (run.status, run.done, run.reused) == ("done", 8, 8)


def test_a_new_system_costs_only_itself(world: World, fake_metrics: Counting) -> None:
    drain(start(world))
    add_system(world.test_set, "late")
    run = drain(start(world))
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
    run = drain(start(world))
    assert (run.total, run.done, len(fake_metrics.seen)) == (8, 8, 8)
    assert system_scores(world.test_set).measures["counting-output"].is_complete


def test_only_the_chosen_systems_are_scored(world: World, fake_metrics: Counting) -> None:
    weak = world.test_set.systems.filter(name="weak")
    run = drain(start(world, systems=weak))
    assert (run.total, SegmentScore.objects.count()) == (4, 4)


def test_an_empty_output_is_scored(world: World, fake_metrics: Counting) -> None:
    Output.objects.filter(system__name="weak", segment__position=0).update(text="")
    assert drain(start(world)).status == "done"
    assert "" in {item.hypothesis for item in fake_metrics.seen}


def test_a_cancelled_run_stops_after_its_chunk(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 2)
    run = start(world, "acting")
    monkeypatch.setattr(fakes.Acting, "act", staticmethod(lambda: starting.cancel(run)))
    row = drain(run)
    assert (row.status, len(fake_metrics.seen)) == ("cancelled", 2)
    assert SegmentScore.objects.count() == 2


def test_a_worker_that_stops_midway_leaves_the_rest_to_others(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 3)
    run = start(world)
    working.do_one(kind)
    working.do_one(kind)
    kind.left()
    row = reread(run)
    assert (row.status, row.done, row.rate) == ("queued", 3, None)
    assert row.workers.get().state.code == "run.worker-state-finished"
    assert drain(row).status == "done"
    assert len(fake_metrics.seen) == 8


def test_an_interrupt_hands_the_run_back(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fakes.Failing, "error", KeyboardInterrupt())
    run = start(world, "failing")
    with pytest.raises(KeyboardInterrupt):
        drain(run)
    assert list(Slice.objects.values_list("status", "attempts")) == [("queued", 0)]


def test_what_is_wrong_with_the_metric_fails_the_run(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = MetricError(message("test.problem", "no such language"), permanent=True)
    monkeypatch.setattr(fakes.Failing, "error", error)
    row = drain(start(world, "failing"))
    assert (row.status, row.message) == ("failed", message("test.problem", "no such language"))
    assert row.finished_at is not None


def failures(run: MetricRun) -> list[tuple[str, str, int]]:
    rows = FailedText.objects.filter(run=run)
    return [(row.output.text, str(row.error), row.attempts) for row in rows]


def spoil(monkeypatch: pytest.MonkeyPatch, text: str, error: Exception) -> list[int]:
    """Let the fake "acting" fail over one text; returns the sizes of what it was given."""
    sizes: list[int] = []

    def score(self: fakes.Acting, inputs: Sequence[SegmentInput]) -> np.ndarray:
        sizes.append(len(inputs))
        texts = [each.hypothesis for each in inputs]
        if text in texts:
            if isinstance(error, MetricError) and error.index is not None:
                error.index = texts.index(text)
            raise error
        return fakes.Counting.score(self, inputs)

    monkeypatch.setattr(fakes.Acting, "score", score)
    return sizes


BAD = "Sentence 2 by kaew: the harbour was quiet."


@pytest.mark.parametrize(
    ("error", "expected", "n_calls"),
    [
        (MetricError(message("test.problem", "too long"), permanent=True, index=0), "too long", 5),
        (ValueError("no words"), "ValueError: no words", 11),
        (MemoryError("full"), "MemoryError: full", 11),
    ],
)
def test_one_bad_text_does_not_end_a_run(
    world: World,
    fake_metrics: Counting,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    expected: str,
    n_calls: int,
) -> None:
    """Where the metric does not say which text it is, the eight are tried one by one."""
    sizes = spoil(monkeypatch, BAD, error)
    row = drain(start(world, "acting"))
    assert (row.status, row.done, row.failed, row.left) == ("done", 7, 1, 0)
    assert [(text, str(error), n) for text, error, n in failures(row)] == [(BAD, expected, 3)]
    assert (SegmentScore.objects.count(), len(sizes)) == (7, n_calls)
    again = drain(start(world, "acting"))
    assert (again.status, again.reused, again.failed) == ("done", 7, 1)


def test_texts_without_a_finite_score_are_recorded(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(self: fakes.Acting, inputs: Sequence[SegmentInput]) -> np.ndarray:
        rows = fakes.Counting.score(self, inputs)
        rows[[each.hypothesis == BAD for each in inputs], 1] = np.nan
        return rows

    monkeypatch.setattr(fakes.Acting, "score", score)
    row = drain(start(world, "acting"))
    assert (row.status, row.done, row.failed) == ("done", 7, 1)
    assert failures(row) == [(BAD, "Acting returned no finite score.", 3)]
    assert FailedText.objects.get(run=row).error.code == "run.no-finite-score"
    assert len(fake_metrics.seen) == 8 + 2


def test_a_run_without_any_score_has_failed(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fakes.Failing, "error", ZeroDivisionError("division by zero"))
    row = drain(start(world, "failing"))
    assert (row.status, row.failed) == ("failed", 8)
    error = "ZeroDivisionError: division by zero"
    assert row.message.code == "run.no-text-scored-because"
    assert str(row.message.parameters["error"]) == str(error)


@pytest.mark.django_db
def test_a_hopeless_run_is_given_up_early(
    fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten texts that fail before any has a score are enough to know of 800."""
    monkeypatch.setattr(fakes.Failing, "error", ZeroDivisionError("no"))
    test_set = make_test_set(segments=400)
    run = starting.start(test_set=test_set, metrics=["failing"], enqueue=False).runs[0]
    row = drain(run)
    assert (row.status, row.failed) == ("failed", 10)
    assert (row.message.code, row.message.parameters["count"]) == ("run.first-texts-failed", 10)
    assert str(row.message.parameters["error"]) == "ZeroDivisionError: no"


def test_what_may_pass_is_tried_again_later_and_ever_smaller(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory: the process rests, and no text is thought at fault before it is alone."""
    spoil(monkeypatch, BAD, MetricError(message("test.problem", "out of memory"), permanent=False))
    run = start(world, "acting")
    row = drain(run)
    assert (row.status, row.done, row.failed) == ("running", 0, 0)
    waiting = Slice.objects.filter(not_before__gt=timezone.now())
    assert list(waiting.values_list("size", "attempts")) == [(1, 0)] * 8
    Slice.objects.update(not_before=Now())
    assert drain(run).done == 0
    for _ in range(3):
        assert reread(run).failed == 0
        scoring.forget()
        Slice.objects.update(not_before=Now())
        drain(run)
    row = reread(run)
    assert (row.status, row.done) == ("done", 7)
    assert [(text, str(error), n) for text, error, n in failures(row)] == [
        (BAD, "out of memory", 3)
    ]


def test_a_broken_gpu_ends_the_child(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    monkeypatch.setattr(processes, "end_child", ended.append)
    spoil(monkeypatch, BAD, RuntimeError("CUDA error: an illegal memory access\nCompile with"))
    assert drain(start(world, "acting")).failed == 1
    assert set(ended) == {"CUDA error: an illegal memory access"}


def test_rows_of_another_shape_fail_the_run(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rows in (np.ones((8, 3)), np.ones((7, 2))):
        monkeypatch.setattr(fakes.Broken, "rows", rows)
        row = drain(start(world, "broken"))
        assert (row.status, row.message.code) == ("failed", "run.wrong-shape")
        assert row.message.parameters["shape"] == str(rows.shape)
    assert SegmentScore.objects.count() == 0


def test_a_metric_that_this_code_does_not_know_is_left_to_others(world: World) -> None:
    run = MetricRun.objects.create(test_set=world.test_set, metric="gone")
    Slice.objects.create(run=run)
    assert drain(run).status == "queued"
    assert Slice.objects.get().attempts == 0


def test_a_hiccup_of_the_database_costs_nothing(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, failures = saving.store_scores, [OperationalError("server closed the connection")]

    def flaky(*args: object) -> None:
        if failures:
            raise failures.pop()
        store(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(saving, "store_scores", flaky)
    monkeypatch.setattr(waits, "DATABASE_RETRIES", (0, 0))
    monkeypatch.setattr(waits.connection, "close", lambda: None)
    row = drain(start(world))
    assert (row.status, len(fake_metrics.seen)) == ("done", 8)


def test_a_database_that_stays_away_leaves_the_run_to_the_next(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise OperationalError("no route to host")

    monkeypatch.setattr(saving, "store_scores", broken)
    monkeypatch.setattr(waits, "DATABASE_RETRIES", (0, 0))
    monkeypatch.setattr(waits.connection, "close", lambda: None)
    run = start(world)
    with pytest.raises(OperationalError):
        drain(run)
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
        run = starting.start(test_set=test_set, metrics=["counting"], enqueue=False).runs[0]
        with django_assert_max_num_queries(120):  # type: ignore[operator]
            scoring.drain(run.pk, worker="test")
    assert SegmentScore.objects.count() == 330


def test_progress_is_reported(world: World, fake_metrics: Counting) -> None:
    run, steps = start(world), []
    drain(run, report=lambda: steps.append(reread(run).done))
    assert steps == [0, 8]


def test_the_log_says_what_a_worker_did(world: World, fake_metrics: Counting) -> None:
    worker = drain(start(world)).workers.get()
    assert (worker.name, worker.host, worker.segments) == ("test", socket.gethostname(), 8)
    assert (worker.device, worker.precision, worker.batch) == ("cpu", "", "")
    assert worker.seconds > 0
    assert worker.peak_bytes > 2**20
    assert (worker.device_peak_bytes, worker.state.code) == (None, "run.worker-state-finished")


def test_what_a_metric_warns_of_is_counted_and_shown(
    world: World,
    fake_metrics: Counting,
    monkeypatch: pytest.MonkeyPatch,
    client: Client,
) -> None:
    """The texts of a warning are added up over slices; other warnings are none of the metric's."""

    def act() -> None:
        odd = plural("test.odd", "{n} text is odd.", "{n} texts are odd.", n=2)
        warnings.warn(MetricWarning(odd), stacklevel=1)
        warnings.warn("not of a metric", UserWarning, stacklevel=1)

    monkeypatch.setattr(fakes.Acting, "act", staticmethod(act))
    run = start(world, "acting")
    plan(run, size=4)
    with pytest.warns(UserWarning, match="not of a metric"):
        done = drain(run)
    n = done.total // 4
    ((warning, count),) = done.remarks.items()
    assert (done.status, json.loads(warning)["code"], count) == ("done", "test.odd", 2 * n)
    client.force_login(world.researcher)
    assert f"{2 * n} texts are odd." in client.get(done.get_absolute_url()).text


def rows_looked_at(plan: dict[str, Any]) -> float:
    """The rows of all steps of PostgreSQL's plan, with those that it met and did not want."""
    removed = sum(plan.get(f"Rows Removed by {by}", 0) for by in ("Filter", "Join Filter"))
    below = sum(rows_looked_at(each) for each in plan.get("Plans", []))
    return below + plan["Actual Loops"] * (plan["Actual Rows"] + removed)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL tells what it does")
@pytest.mark.django_db
def test_scores_that_the_database_has_not_counted_yet_cost_nothing() -> None:
    """As in the middle of the run of a new metric: old ones were counted, its own were not."""
    many, few = 3_000, 40
    old, new = (
        MetricSignature.objects.create(metric=name, signature=name, measures=[]) for name in "ab"
    )
    for signature in (old, new):
        SegmentScore.objects.bulk_create(
            SegmentScore(signature=signature, content_key=f"{n:032}", values=b"")
            for n in range(many)
        )
        if signature == old:
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE metrics_segmentscore")
    outputs = Output.objects.filter(
        system=make_test_set("t", segments=few, systems=("one",)).systems.get()
    )
    pks = list(outputs.values_list("pk", flat=True))
    assert len(pks) == few
    [[plan]] = [json.loads(_unscored(new, pks).explain(analyze=True, format="json"))]
    assert rows_looked_at(plan["Plan"]) < 20 * few
    assert _unscored(new, pks).count() == few
    key = outputs[0].content_key
    SegmentScore.objects.create(signature=new, content_key=key, values=b"")
    assert set(_unscored(new, pks)) == set(outputs.exclude(content_key=key))
