"""A judge at the tests' server."""

from collections.abc import Callable
from typing import Any

import pytest

from extensions.judges import client
from metrics import catalogue
from metrics.models import (
    MetricRun,
)
from metrics.runs import scoring, starting
from metrics.support import NO_LIMIT, Budget
from tests.extensions.judges.server import Server
from tests.world import World


@pytest.fixture
def judge(world: World, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., MetricRun]:
    """Configure a judge at a server and start a run of it, which waits for nothing."""
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(scoring, "RETRY_SECONDS", 0.0)

    def start(server: Server, budget: Budget = NO_LIMIT, **given: Any) -> MetricRun:
        fields = given.pop("endpoint", {})
        settings.JUDGE_ENDPOINTS = [server.endpoint(**fields)]
        options = {"endpoint": "local", "model": "tiny", "template": "direct-assessment@1"} | given
        if catalogue.find("judge-a") is None:
            catalogue.configure(family="judge", name="judge-a", label="Judge A", options=options)
        started = starting.start(
            test_set=world.test_set, metrics=["judge-a"], enqueue=False, budget=budget
        )
        assert not started.refused, started.refused
        return started.runs[0]

    return start
