"""Every worker's analysts: threads that compute the documents that pages wait for.

The requests are rows, so no message can be lost, and a worker that is busy with a long metric run
computes them all the same. One of the two leaves alone what takes long, so that fresh numbers do
not queue behind intervals.
"""

from functools import partial

from celery.signals import worker_ready, worker_shutting_down

from dashboards.results import compute_waiting
from metrics.periodic import Periodic

LOOK_SECONDS = 0.5
_threads: list[Periodic] = []


def begin_looking(**_: object) -> None:
    """Start to look for requests."""
    for name, only_quick in (("analyst", False), ("quick analyst", True)):
        look = partial(compute_waiting, only_quick=only_quick)
        _threads.append(Periodic(name, LOOK_SECONDS, look))
        _threads[-1].start()


def end_looking(**_: object) -> None:
    """The worker is leaving; others go on."""
    while _threads:
        _threads.pop().stop()


worker_ready.connect(begin_looking)
worker_shutting_down.connect(end_looking)
