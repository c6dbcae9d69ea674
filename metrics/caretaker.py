"""Every worker looks after all runs: what a dead worker left behind is handed out again.

A thread, because a worker that scores for an hour must still notice that another one died; in
every worker, because then there is no clock process that somebody could forget to start.
"""

from celery.signals import worker_ready, worker_shutting_down

from metrics import runs
from metrics.periodic import Periodic

ROUND_SECONDS = 5.0


class _Caretaker:
    thread: Periodic | None = None


def begin_rounds(**_: object) -> None:
    """Hand out all waiting runs, then go on looking."""
    _Caretaker.thread = Periodic("caretaker", ROUND_SECONDS, runs.requeue_stale)
    _Caretaker.thread.start()
    runs.requeue_stale(everything=True)


def end_rounds(**_: object) -> None:
    """The worker is leaving; others go on."""
    if _Caretaker.thread:
        _Caretaker.thread.stop()


worker_ready.connect(begin_rounds)
worker_shutting_down.connect(end_rounds)
