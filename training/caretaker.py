"""Every worker looks after the jobs of all others, as it does for metric runs."""

from functools import partial
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from metrics.lookout import LOOK_SECONDS, Lookout
from metrics.periodic import Periodic
from training import jobs

ROUND_SECONDS = 5.0


class _Caretaker:
    threads: tuple[Periodic, ...] = ()


def begin_rounds(sender: Any, **_: object) -> None:
    """Look for jobs at once, then go on looking."""
    queues = sender.app.amqp.queues.consume_from
    lookout = Lookout(sender.controller.concurrency, partial(jobs.hand_out_next, queues))
    _Caretaker.threads = (
        Periodic("training caretaker", ROUND_SECONDS, jobs.requeue_stale),
        Periodic("training lookout", LOOK_SECONDS, lookout.look),
    )
    for thread in _Caretaker.threads:
        thread.start()
    lookout.look()


def end_rounds(**_: object) -> None:
    """The worker is leaving; others go on."""
    for thread in _Caretaker.threads:
        thread.stop()


worker_ready.connect(begin_rounds)
worker_shutting_down.connect(end_rounds)
