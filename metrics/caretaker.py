"""Every worker looks after all runs: what a dead worker held is freed, and what waits is noticed.

An idle worker looks for work by itself and sends the message that wakes it, or another that is
idle: no run waits because a message was lost, and a run in hand gets helpers when some are free.
It also looks for campaigns that have become complete, so that their admins are told.

Threads, because a worker that scores for an hour must still notice that another one died; in
every worker, because then there is no clock process that somebody could forget to start.
"""

import time
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from celery.worker import state

from annotation.notifications import check_all
from metrics import agenda, losses, runs
from metrics.periodic import Periodic

ROUND_SECONDS = 5.0
LOOK_SECONDS = 2.0
NOTICE_SECONDS = 60.0
# A message that nobody takes (the broker is away, too) is repeated ever more rarely.
LONGEST_WAIT = 300.0


class Lookout:
    """Looks for work while the worker has some of its `slots` free."""

    def __init__(self, queues: Any, slots: int) -> None:
        self.queues, self.slots = queues, slots
        self._taken, self._wait, self._not_before = -1, LOOK_SECONDS, 0.0

    def look(self) -> None:
        """Send a message where something waits in our queues and we have nothing to do."""
        if len(state.reserved_requests) >= self.slots:
            return
        taken = sum(state.total_count.values())
        if taken != self._taken:
            self._wait, self._not_before = LOOK_SECONDS, 0.0
        if time.monotonic() < self._not_before:
            return
        run = agenda.next_run(
            set(self.queues), resident=agenda.resident(), without=agenda.resting()
        )
        if run:
            runs.hand_out(run)
            self._taken = taken
            self._not_before = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)


class _Caretaker:
    threads: tuple[Periodic, ...] = ()


def begin_rounds(sender: Any, **_: object) -> None:
    """Look for work at once, then go on looking."""
    lookout = Lookout(sender.app.amqp.queues.consume_from, sender.controller.concurrency)
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
