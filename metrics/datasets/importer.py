"""Every worker's importer: a thread that takes up imports of whole sets.

The requests are rows, so no message can be lost.
"""

from celery.signals import worker_ready, worker_shutting_down

from metrics.datasets.waiting import work_off
from metrics.periodic import Periodic

LOOK_SECONDS = 1.0
_threads: list[Periodic] = []


def begin_looking(**_: object) -> None:
    """Start to look for imports."""
    _threads.append(Periodic("importer", LOOK_SECONDS, work_off))
    _threads[-1].start()


def end_looking(**_: object) -> None:
    """The worker is leaving; others go on."""
    while _threads:
        _threads.pop().stop()


worker_ready.connect(begin_looking)
worker_shutting_down.connect(end_looking)
