"""Budgets, and the connections of an endpoint, over one run and several workers."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from annotation.models import Project, TestSet
from extensions.judges import spending
from extensions.judges.replies import Connections, RunContext, account
from extensions.judges.scoring.scorer import Judge
from metrics import catalogue
from metrics.models import (
    JudgeConnection,
    JudgeSpending,
    MetricRun,
)
from metrics.runs import starting
from metrics.runs.allowance import spent
from metrics.support import Budget
from tests.extensions.judges.answers import score_by_length, scores
from tests.extensions.judges.server import Answer, prompt_of, serving
from tests.metrics.conftest import drain
from tests.world import World

Status = MetricRun.Status


def test_no_connection_waits_for_the_end_of_a_slice(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first text is answered once one from behind its slice is asked about."""
    monkeypatch.setattr(Judge, "first_slice", 2)
    is_further = threading.Event()

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "to judge" in prompt_of(asked):
            if len({prompt_of(each) for each in server.seen}) > 3:  # the probe, and a slice
                is_further.set()
            assert is_further.wait(60)
        return score_by_length(asked, times)

    with serving(respond) as server:
        run = drain(judge(server, endpoint={"connections": 3, "timeout": 120}))
    assert (run.status, run.done, run.failed) == (Status.DONE, run.total, 0)
    worker = run.workers.get()
    assert (worker.segments, run.slices.count()) == (run.total, 0)


def test_a_budget_is_never_exceeded_and_what_was_answered_stays(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    paid = {"prompt_price": 1_000_000.0 - 1, "completion_price": 1.0, "connections": 3}
    with serving(score_by_length) as server:
        run = drain(judge(server, Budget(money=800.0), endpoint=paid))
        n = len(server.seen)
        row = JudgeSpending.objects.get(run=run)
        assert run.status == Status.FAILED
        assert run.message.code == "judge.budget-spent"
        assert 0 < row.money <= 800
        assert 0 < sum(np.isfinite(list(scores(world).values()))) < run.total
        # With more money it goes on, and pays for the rest alone.
        again = drain(judge(server, Budget(money=1e6), endpoint=paid))
        assert again.status == Status.DONE
        assert len(server.seen) - n == again.total - again.reused


def test_a_budget_is_spent_by_one_process_at_a_time(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the connections are free for a second worker, the budget is not."""
    keep, seen = RunContext.keep_connections, []

    def look(context: RunContext) -> None:
        JudgeConnection.objects.filter(endpoint="local", number__gt=1).update(
            holder="", expires_at="2000-01-01T00:00:00Z"
        )
        other = account(run.pk)
        seen.append((other.take(), Connections(context.endpoint).take()))
        keep(context)

    monkeypatch.setattr(RunContext, "keep_connections", look)
    with serving(score_by_length) as server:
        run = judge(server, Budget(tokens=10**6), endpoint={"connections": 4})
        assert drain(run).status == Status.DONE
    assert seen[0] == (0, 2)
    assert account(run.pk).take() == 1


def test_without_a_budget_nobody_waits(judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        run = drain(judge(server))
    assert not JudgeConnection.objects.filter(endpoint=f"budget of run {run.pk}").exists()


def test_what_costs_money_does_not_start_without_a_budget(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    with serving(score_by_length) as server, pytest.raises(AssertionError, match="no-budget"):
        judge(server, endpoint={"completion_price": 2.0})
    assert not MetricRun.objects.exists()


def test_no_more_connections_than_declared_are_open(judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        drain(judge(server, endpoint={"connections": 3}))
        assert server.most_open > 1
        assert server.most_asked_now <= 3
    assert set(JudgeConnection.objects.values_list("holder", flat=True)) == {""}


def test_connections_in_use_elsewhere_are_left_alone(judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        run = judge(server, endpoint={"connections": 3})
        held = [JudgeConnection(endpoint="local", number=n, holder="other") for n in (0, 1)]
        JudgeConnection.objects.bulk_create(held)
        later = "2999-01-01T00:00:00Z"
        JudgeConnection.objects.update(expires_at=later)
        assert drain(run).status == Status.DONE
        assert server.most_asked_now == 1


def test_the_estimate_follows_what_was_seen(world: World, judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        run = drain(judge(server, endpoint={"completion_price": 1e6}, budget=Budget(money=1e9)))
        info = catalogue.get("judge-a")
        found = spending.estimate(info, world.test_set)
    assert found is not None
    row = JudgeSpending.objects.get(run=run)
    assert found.is_seen
    assert found.calls == run.total
    # The probe was counted, too.
    assert found.tokens == pytest.approx(row.tokens, rel=0.1)
    assert found.money == pytest.approx(5 * run.total)


def test_judges_of_a_project_share_its_budget(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    project = Project.objects.create(slug="port", name="Port", max_money=800.0, max_tokens=10**6)
    TestSet.objects.filter(pk=world.test_set.pk).update(project=project)
    world.test_set.refresh_from_db()
    paid = {"prompt_price": 1_000_000.0 - 1, "completion_price": 1.0, "connections": 3}
    with serving(score_by_length) as server:
        # Without a budget of its own, a run gets what is left.
        run = judge(server, endpoint=paid)
        assert (run.spending.budget_money, run.spending.budget_tokens) == (800.0, 10**6)
        assert spent(project).reserved_money == 800.0
        first = world.test_set.systems.first()
        assert first is not None

        def again() -> list[str]:
            started = starting.start(
                test_set=world.test_set, metrics=["judge-a", "chrf"], systems=[first],
                enqueue=False, budget=Budget(money=5.0),
            )  # fmt: skip
            return [each.code for each in started.refused]

        JudgeSpending.objects.filter(run=run).update(budget_tokens=10**5)
        # An active run may still spend all of it; metrics that cost nothing start.
        assert again() == ["project.money"]
        assert MetricRun.objects.filter(metric="chrf").exists()
        drain(run)
        row = JudgeSpending.objects.get(run=run)
        assert 0 < spent(project).money == row.money <= 800
        assert spent(project).reserved_money == row.money
        Project.objects.filter(pk=project.pk).update(max_money=row.money + 3)
        world.test_set.refresh_from_db()
        assert again() == []
        newest = MetricRun.objects.filter(metric="judge-a").latest("pk")
        assert newest.spending.budget_money == pytest.approx(3.0)
        Project.objects.filter(pk=project.pk).update(max_money=None, max_tokens=1)
        MetricRun.objects.filter(pk=newest.pk).update(status="failed")
        world.test_set.refresh_from_db()
        assert again() == ["project.tokens"]
