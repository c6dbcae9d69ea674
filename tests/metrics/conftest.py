"""The fake metrics, registered for the length of a test."""

from collections.abc import Iterator
from typing import Any

import pytest

from core.work import working
from metrics import registry
from metrics.contents import find_missing, pack_ids
from metrics.models import MetricRun, MetricSignature, Slice
from metrics.runs import scoring, slices, starting
from metrics.runs.work import kind
from tests.metrics import fakes
from tests.world import World

FAKES = ("Counting", "Failing", "Acting", "Broken", "Truncating", "Silent")
# Of a family that may truncate texts.
WITH_LIMIT = ("Truncating", "Silent")


@pytest.fixture
def fake_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[fakes.Counting]]:
    """Register the fakes by their names in small letters; returns the class that counts."""
    for name in FAKES:
        family = "fake" if name in WITH_LIMIT else ""
        info = fakes.make_info(name.lower(), family=family)
        entry = (info, f"tests.metrics.fakes:{name}")
        monkeypatch.setitem(registry.METRICS, name.lower(), entry)
    fakes.Counting.seen.clear()
    yield fakes.Counting
    fakes.Counting.seen.clear()


def reread(run: MetricRun) -> MetricRun:
    """The run as it is now."""
    return MetricRun.objects.get(pk=run.pk)


def take(run: MetricRun) -> Slice | None:
    """Take what comes first of a run."""
    return working.take(kind, working.due(kind).filter(run=run))


def plan(run: MetricRun, size: int = 1) -> MetricRun:
    """Plan a run of which nothing is scored; from now on we take this number of texts at once."""
    row = take(run)
    assert row is not None
    signature, _ = MetricSignature.objects.get_or_create(
        signature="chrf|v:1", defaults={"metric": "chrf", "measures": ["chrf"]}
    )
    missing = find_missing(run, signature)
    packed = pack_ids(missing.output_ids)
    slices.plan(row, signature=signature.pk, total=missing.total, output_ids=packed, reading={})
    scoring._Memory.sizes[run.metric] = size
    return reread(run)


def start(world: World, metric: str = "counting", **options: Any) -> MetricRun:
    """A new run over the test set of the world."""
    started = starting.start(test_set=world.test_set, metrics=[metric], enqueue=False, **options)
    return started.runs[0]


def drain(run: MetricRun, **options: Any) -> MetricRun:
    """Take part in a run, and read it again."""
    scoring.drain(run.pk, worker="test", **options)
    return reread(run)
