"""Every worker looks after all runs: what a dead worker held is freed, and what waits is noticed.

An idle worker looks for work by itself and sends the message that wakes it, or another that is
idle: no run waits because a message was lost, and a run in hand gets helpers when some are free.
It also looks for campaigns that have become complete, so that their admins are told.

Threads, because a worker that scores for an hour must still notice that another one died; in
every worker, because then there is no clock process that somebody could forget to start.
"""

from collections.abc import Container
from functools import partial
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from annotation.notifications import check_all
from metrics import agenda, losses, runs
from metrics.lookout import LOOK_SECONDS, Lookout
from metrics.periodic import Periodic

ROUND_SECONDS = 5.0
NOTICE_SECONDS = 60.0


def hand_out_next(queues: Container[str]) -> bool:
    """Send a message for the run that this worker does best to take up; whether there is one."""
    run = agenda.next_run(queues, resident=agenda.resident(), without=agenda.resting())
    if run:
        runs.hand_out(run)
    return run is not None


class _Caretaker:
    threads: tuple[Periodic, ...] = ()


def begin_rounds(sender: Any, **_: object) -> None:
    """Look for work at once, then go on looking."""
    queues = sender.app.amqp.queues.consume_from
    lookout = Lookout(sender.controller.concurrency, partial(hand_out_next, queues))
    _Caretaker.threads = (
        Periodic("caretaker", ROUND_SECONDS, losses.reap),
        Periodic("lookout", LOOK_SECONDS, lookout.look),
        Periodic("notifications", NOTICE_SECONDS, check_all),
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
