"""Every worker's analyst: a thread that computes the documents that pages wait for.

The requests are rows, so no message can be lost, and a worker that is busy with a long metric run
computes them all the same.
"""

from celery.signals import worker_ready, worker_shutting_down

from dashboards.results import compute_waiting
from metrics.periodic import Periodic

LOOK_SECONDS = 0.5


class _Analyst:
    thread: Periodic | None = None


def begin_looking(**_: object) -> None:
    """Start to look for requests."""
    _Analyst.thread = Periodic("analyst", LOOK_SECONDS, compute_waiting)
    _Analyst.thread.start()


def end_looking(**_: object) -> None:
    """The worker is leaving; others go on."""
    if _Analyst.thread:
        _Analyst.thread.stop()


worker_ready.connect(begin_looking)
worker_shutting_down.connect(end_looking)
