"""The fake metrics, registered for the length of a test."""

from collections.abc import Iterator
from typing import Any

import pytest

from metrics import claims, registry, runs, scoring
from metrics.contents import find_missing, pack_ids
from metrics.models import MetricRun, MetricSignature
from tests.metrics import fakes
from tests.world import World

# Settings of other processes: importing them here would change the metrics of this one.
collect_ignore = ["worker_settings.py"]
FAKES = ("Counting", "Failing", "Acting", "Broken")


@pytest.fixture
def fake_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[fakes.Counting]]:
    """Register counting, failing, acting and broken; returns the class that counts."""
    for name in FAKES:
        entry = (fakes.make_info(name.lower()), f"tests.metrics.fakes:{name}")
        monkeypatch.setitem(registry.METRICS, name.lower(), entry)
    fakes.Counting.seen.clear()
    yield fakes.Counting
    fakes.Counting.seen.clear()


def reread(run: MetricRun) -> MetricRun:
    """The run as it is now."""
    return MetricRun.objects.get(pk=run.pk)


def plan(run: MetricRun, member: claims.Member) -> MetricRun:
    """Let a worker plan a run: all its contents are missing."""
    lease = claims.take(run.pk, member, size=1)
    assert lease is not None
    signature, _ = MetricSignature.objects.get_or_create(
        signature="chrf|v:1", defaults={"metric": "chrf", "measures": ["chrf"]}
    )
    missing = find_missing(run, signature)
    packed = pack_ids(missing.output_ids)
    claims.plan(lease, signature=signature.pk, total=missing.total, output_ids=packed, reading={})
    return reread(run)


def start(world: World, metric: str = "counting", **options: Any) -> MetricRun:
    """A new run over the test set of the world."""
    started = runs.start(test_set=world.test_set, metrics=[metric], enqueue=False, **options)
    return started.runs[0]


def work_off(run: MetricRun, **options: Any) -> MetricRun:
    """Take part in a run, and read it again."""
    scoring.work_off(run.pk, worker="test", **options)
    return reread(run)
