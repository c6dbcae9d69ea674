"""Every worker looks after the jobs of all others, as it does for metric runs."""

from celery.signals import worker_ready, worker_shutting_down

from metrics.periodic import Periodic
from training import jobs

ROUND_SECONDS = 5.0


class _Caretaker:
    thread: Periodic | None = None


def begin_rounds(**_: object) -> None:
    """Hand out all waiting jobs, then go on looking."""
    _Caretaker.thread = Periodic("training caretaker", ROUND_SECONDS, jobs.requeue_stale)
    _Caretaker.thread.start()
    jobs.requeue_stale(everything=True)


def end_rounds(**_: object) -> None:
    """The worker is leaving; others go on."""
    if _Caretaker.thread:
        _Caretaker.thread.stop()


worker_ready.connect(begin_rounds)
worker_shutting_down.connect(end_rounds)
