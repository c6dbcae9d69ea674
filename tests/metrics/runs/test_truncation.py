"""How many outputs of a run were truncated: over slices, workers, retries and earlier runs."""

from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Output
from core.work import processes
from metrics.models import MetricRun, SegmentScore
from metrics.runs import scoring, starting
from metrics.scores import system_scores, truncation_of
from metrics.truncation import Counts
from tests.house.templates.seen import seen
from tests.metrics import fakes
from tests.metrics.conftest import drain, reread, start, take
from tests.world import World, add_system

Counting = type[fakes.Counting]
SAME = "x" * fakes.Truncating.longest


@pytest.fixture
def texts(world: World, fake_metrics: Counting) -> World:
    """Of eight outputs two differ only after the limit, one ends there, and five are short."""
    outputs = Output.objects.filter(system__test_set=world.test_set).order_by("pk")
    ends = [SAME + "a", SAME + "b", SAME, *"cdefg"]
    for output, text in zip(outputs, ends, strict=True):
        Output.objects.filter(pk=output.pk).update(text=text)
    return world


def test_outputs_that_differ_after_the_limit_are_counted(texts: World) -> None:
    run = drain(start(texts, "truncating"))
    assert truncation_of(run) == Counts(8, 2, 0)
    alike, other, *_ = (
        SegmentScore.objects.get(content_key=output.content_key)
        for output in Output.objects.order_by("pk")
    )
    assert bytes(alike.values) == bytes(other.values)


def test_a_run_counts_what_earlier_runs_scored(texts: World) -> None:
    drain(start(texts, "truncating", systems=[texts.test_set.systems.first()]))
    run = drain(start(texts, "truncating"))
    assert run.reused == 4
    assert truncation_of(run) == Counts(8, 2, 0)


@pytest.fixture
def _one_text_a_slice(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 1)
    monkeypatch.setattr(scoring, "LARGEST_CHUNK", 1)
    yield
    scoring.forget()


@pytest.mark.usefixtures("_one_text_a_slice")
def test_two_workers_and_a_retry(texts: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both take texts in turn; every third attempt fails."""
    attempts = iter(range(1_000))

    def fail_now_and_then() -> None:
        if next(attempts) % 3 == 2:
            raise RuntimeError("no luck")

    monkeypatch.setattr(fakes.Truncating, "act", staticmethod(fail_now_and_then))
    run = start(texts, "truncating")
    for turn in range(40):
        processes.set_worker_label(f"worker {turn % 2}")
        if (row := take(run)) is None:
            break
        try:
            scoring.work(row)
        except RuntimeError as error:
            scoring.give_up(row, error)
    run = reread(run)
    assert (run.status, run.done, run.failed) == ("done", 8, 0)
    assert {worker.name for worker in run.workers.all()} == {"worker 0", "worker 1"}
    assert truncation_of(run) == Counts(8, 2, 0)


def test_equal_outputs_of_two_systems_are_one_in_a_run_and_two_in_a_table(texts: World) -> None:
    first = Output.objects.order_by("pk").first()
    assert first is not None
    copy = add_system(texts.test_set, "copy")
    twin = copy.outputs.filter(segment=first.segment)
    assert twin.update(text=first.text, content_key=first.content_key) == 1
    run = drain(start(texts, "truncating"))
    counts = truncation_of(run)
    assert counts is not None
    # Two more outputs of the new system are longer than 40 characters, as is the third.
    longer = sum(len(text) > 40 for text in copy.outputs.values_list("text", flat=True))
    assert (counts.n_scored, counts.n_truncated) == (11, 2 + longer - 1)
    measure = system_scores(texts.test_set).measures["truncating-output"]
    (warning,) = measure.warnings
    assert warning.code == "truncated"
    found = warning.message.parameters
    assert (found["n"], found["total"]) == (2 + longer, 12)


@pytest.mark.parametrize("metric", ["silent", "truncating"])
def test_what_is_not_known_is_not_zero(texts: World, metric: str, as_researcher: Client) -> None:
    """A metric that does not say, and scores that were stored before it was recorded."""
    run = drain(start(texts, metric))
    SegmentScore.objects.update(is_truncated=None)
    assert truncation_of(run) == Counts(8, 0, 8)
    page = as_researcher.get(f"/runs/{run.pk}/").text
    assert "<dt>Truncated</dt><dd>unknown</dd>" in seen(page)
    (warning,) = system_scores(texts.test_set).measures[f"{metric}-output"].warnings
    assert warning.code == "truncation_unknown"


def test_a_metric_that_does_not_say_is_not_asked_again(texts: World) -> None:
    drain(start(texts, "silent"))
    assert set(SegmentScore.objects.values_list("is_truncated", flat=True)) == {None}


def test_metrics_that_read_everything_have_no_warning(texts: World) -> None:
    run = drain(start(texts, "chrf"))
    assert set(SegmentScore.objects.values_list("is_truncated", flat=True)) == {False}
    SegmentScore.objects.update(is_truncated=None)  # as before marks were stored
    assert truncation_of(run) == Counts(8, 0, 0)
    assert system_scores(texts.test_set).measures["chrf"].warnings == ()


def test_page_api_and_command_say_how_many(texts: World, as_researcher: Client) -> None:
    out = StringIO()
    call_command("score", "harbour", "--metric", "truncating", "--here", stderr=out, stdout=out)
    run = MetricRun.objects.get()
    sentence = "of 2 of 8 outputs, because"
    assert sentence in out.getvalue()
    page = as_researcher.get(f"/runs/{run.pk}/").text
    assert "<dt>Truncated</dt><dd>2 of 8</dd>" in seen(page)
    assert sentence in page
    found = as_researcher.get(f"/api/runs/{run.pk}/").json()
    assert found["truncation"] == {
        "n_scored": 8,
        "n_truncated": 2,
        "n_unknown": 0,
        "in_parts": False,
    }


def test_before_a_run_has_a_signature_nothing_is_known(texts: World, as_researcher: Client) -> None:
    (run,) = starting.start(test_set=texts.test_set, metrics=["truncating"], enqueue=False).runs
    assert truncation_of(run) is None
    assert as_researcher.get(f"/api/runs/{run.pk}/").json()["truncation"] is None
    assert "Truncated" not in as_researcher.get(f"/runs/{run.pk}/").text
