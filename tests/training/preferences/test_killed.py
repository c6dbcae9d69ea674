"""A worker that is killed in the middle of an analysis: another one ends it, nothing is double."""

import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.metrics.sites import Broker
from tests.training.test_killed import TrainingSite

START = """
from annotation.models import Reference, Segment, TestSet
from tests.metrics.worker_settings import QUEUE
from training.models import TrainingJob
from training.preferences import starting
made = TestSet.objects.create(slug="quay", name="Quay", source_language="de", target_language="en")
for n in range(40):
    segment = Segment.objects.create(test_set=made, position=n, key=str(n), source=f"Satz {n}")
    Reference.objects.create(segment=segment, text=f"sentence {n} about the harbour")
job, _ = starting.start(
    test_set=made, metrics=["slower"], conditions=["reorder", "shuffle", "repeat", "clauses"],
    files={}, enqueue=False,
)
TrainingJob.objects.update(options=job.options | {"queue": QUEUE})
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TrainingSite]:
    site = TrainingSite(tmp_path, f"touchstone-{uuid4().hex[:12]}", None, Broker(tmp_path))
    try:
        site.manage("migrate", "-v0")
        yield site
    finally:
        for worker in site.workers.values():
            worker.kill()
            worker.wait()


def test_a_killed_analysis_is_ended_by_another_worker(site: TrainingSite) -> None:
    def stored() -> list[tuple[str, str]]:
        return site.query("SELECT condition, measure FROM training_preferenceresult ORDER BY id")

    site.manage("shell", "-v0", "-c", START)
    first = site.start_worker("first")
    site.wait_for("the first condition", lambda: bool(stored()))
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = stored()
    assert site.status("preferences-quay") == "running"
    assert 2 <= len(before) < 8
    site.start_worker("second")
    site.wait_for_job("preferences-quay")
    assert stored()[: len(before)] == before
    assert len(stored()) == len(set(stored())) == 8
    ((n, attempts),) = site.query("SELECT COUNT(*), MAX(attempts) FROM training_trainingjob")
    assert (n, attempts) == (1, 2)
