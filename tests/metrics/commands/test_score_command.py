import re
from contextlib import nullcontext
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from metaeval.messages import message
from metrics.base import MetricError
from metrics.models import MetricRun
from metrics.runs import scoring, starting
from tests.metrics import fakes
from tests.metrics.fleet import make_worker
from tests.refusals import refused, tells
from tests.world import World, add_system, make_test_set

Counting = type[fakes.Counting]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def score(*arguments: str, stdout: StringIO | None = None) -> str:
    out = stdout or StringIO()
    call_command("score", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_scoring_here_needs_no_worker(world: World, fake_metrics: Counting) -> None:
    out = score("harbour", "--metric", "counting", "--metric", "chrf", "--here")
    assert "Counting: done, 8 of 8" in out
    assert "chrF: done, 8 of 8" in out
    assert len(re.findall(r"  manage.py score on .*: cpu, 8 texts in .*, peak memory \d", out)) == 2
    assert len(fake_metrics.seen) == 8
    assert set(MetricRun.objects.values_list("status", flat=True)) == {"done"}


def test_scoring_again_says_what_was_reused(world: World, fake_metrics: Counting) -> None:
    score("harbour", "--metric", "counting", "--here")
    assert "8 of 8, 8 reused" in score("harbour", "--metric", "counting", "--here")
    assert len(fake_metrics.seen) == 8


def test_systems_are_chosen_by_name_and_ratio(world: World, fake_metrics: Counting) -> None:
    add_system(world.test_set, "strong", "0.50")
    score("harbour", "--metric", "counting", "--system", "strong@0.5", "--here")
    assert len(fake_metrics.seen) == 4
    run = MetricRun.objects.get()
    assert [(s.name, str(s.length_ratio)) for s in run.systems.all()] == [("strong", "0.50")]
    score("harbour", "--metric", "counting", "--system", "strong", "--system", "weak", "--here")
    assert MetricRun.objects.first().systems.count() == 3


@pytest.mark.django_db(transaction=True)
def test_workers_score_while_the_command_waits(fake_metrics: Counting) -> None:
    make_test_set()
    assert "Counting: done, 8 of 8" in score("harbour", "--metric", "counting", "--wait")


@pytest.mark.parametrize("wait", [[], ["--wait"]])
def test_what_hosts_lack_is_said_before_the_start(world: World, wait: list[str]) -> None:
    make_worker("cpu0@poor", lacks={"chrf": ["The package x is missing."]})
    out = StringIO()
    with pytest.raises(CommandError) if wait else nullcontext():
        score("harbour", "--metric", "chrf", *wait, stdout=out)
    assert out.getvalue().startswith("chrF: The package x is missing.")
    assert MetricRun.objects.count() == (0 if wait else 1)


@pytest.mark.django_db(transaction=True)
def test_without_waiting_the_runs_are_named(fake_metrics: Counting) -> None:
    make_test_set()
    out = score("harbour", "--metric", "counting")
    assert out == f"Counting: run {MetricRun.objects.get().pk} over 8 texts\n"


def test_the_line_is_live_on_a_terminal(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 2)
    out = score("harbour", "--metric", "counting", "--here", stdout=Terminal())
    lines = out.split("\n")[1]
    steps = [step.split(",")[1].strip() for step in lines.split("\r\x1b[K")[1:]]
    assert steps == ["0 of 8", "2 of 8", "8 of 8"]


def test_a_failed_run_fails_the_command(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = MetricError(message("test.problem", "no such language"), permanent=True)
    monkeypatch.setattr(fakes.Failing, "error", error)
    out = StringIO()
    with refused("command.runs-failed", kind=CommandError, n=1, total=2):
        score("harbour", "--metric", "failing", "--metric", "counting", "--here", stdout=out)
    assert "Failing: Failed. no such language" in out.getvalue()
    assert len(fake_metrics.seen) == 8


def test_an_interrupt_cancels_and_keeps_the_scores(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fakes.Failing, "error", KeyboardInterrupt())
    with refused("command.interrupted", "command.runs-cancelled", kind=CommandError, n=1):
        score("harbour", "--metric", "counting", "--metric", "failing", "--here")
    statuses = MetricRun.objects.values_list("metric", "status")
    assert dict(statuses) == {"counting": "done", "failing": "cancelled"}


def test_refused_metrics_fail_the_command_and_the_others_run(
    db: None, fake_metrics: Counting
) -> None:
    make_test_set("bare", references=False)
    out = StringIO()
    with refused("command.not-all-started", kind=CommandError):
        score("bare", "--metric", "ter", "--metric", "counting", "--here", stdout=out)
    assert tells(out.getvalue(), "run.no-references")
    assert len(fake_metrics.seen) == 8


NO_SYSTEM = ["command.no-system", "command.known"]
BOTH = ["strong@0.8", "weak@0.8"]


@pytest.mark.parametrize(
    ("arguments", "codes", "known"),
    [
        (["nowhere", "--metric", "chrf"], ["command.no-test-set", "command.known"], ["harbour"]),
        (
            ["harbour", "--metric", "chrf", "--system", "x"],
            NO_SYSTEM,
            BOTH,
        ),
        (
            ["harbour", "--metric", "chrf", "--system", "weak@half"],
            NO_SYSTEM,
            BOTH,
        ),
    ],
)
def test_mistakes_are_named(
    world: World, arguments: list[str], codes: list[str], known: list[str]
) -> None:
    with refused(*codes, kind=CommandError, names=known):
        score(*arguments)
    assert not MetricRun.objects.exists()


def test_an_unknown_metric_and_options_that_exclude_each_other(world: World) -> None:
    with refused("metric.unknown", "command.known", kind=CommandError, metric="meteor"):
        score("harbour", "--metric", "meteor")
    with pytest.raises(CommandError):
        score("harbour", "--metric", "chrf", "--wait", "--here")
    assert not MetricRun.objects.exists()


def test_a_run_under_way_is_followed(
    world: World, fake_metrics: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting.start(test_set=world.test_set, metrics=["counting"], enqueue=False)
    out = score("harbour", "--metric", "counting", "--here")
    assert MetricRun.objects.count() == 1
    assert f"run {MetricRun.objects.get().pk} " in out
    assert "Counting: done, 8 of 8" in out
    assert MetricRun.objects.count() == 1
