"""The fake metrics, registered for the length of a test."""

from collections.abc import Iterator

import pytest

from metrics import registry
from metrics.models import MetricRun
from tests.metrics import fakes

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
