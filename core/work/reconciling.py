"""The reconciliation of every worker: what dead processes held is freed, lost messages are sent.

It runs in the main process, which does no work, so that a child that computes for an hour holds
nothing up. A message goes out again only while this worker has nothing to do although rows wait
that it could take: then the broker has lost it, and no messages pile up.
"""

import logging
import time
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import state
from django.db import OperationalError, connections
from django.db.models import Q

from core.database.waits import is_lock_timeout, limit_lock_waits
from core.work import processes, sending
from core.work.kinds import WorkKind
from core.work.models import Now, Work, all_kinds
from core.work.processes import Periodic
from core.work.working import due

logger = logging.getLogger(__name__)
ROUND_SECONDS = 2.0
RESEND_SECONDS = 3.0
# Messages that nobody gets are repeated ever more rarely: the broker is away, or a worker that
# cannot do the work takes them first.
LONGEST_WAIT = 30.0
AT_ONCE = 16
# No child is forked while a round waits for a lock, so it hardly waits.
LOCK_MS = 200


def reconcile(queues: Collection[str] = (), *, has_room: bool = True) -> int:
    """Bring all rows in line; return how many messages were sent to `queues`."""
    n_sent = 0
    for kind in all_kinds():
        try:
            with processes.forking:
                limit_lock_waits(LOCK_MS)
                kind.tidy()
                _free(kind)
                if has_room:
                    n_sent += _resend(kind, queues)
        except Exception:
            logger.warning("%s is looked after again", kind.name, exc_info=True)
    return n_sent


def _free(kind: WorkKind[Any]) -> None:
    """Release rows of processes that ended on this host, or whose claim has expired."""
    held = kind.model._default_manager.filter(status=Work.Status.RUNNING)
    ours = held.filter(owner__startswith=processes.PLACE).values_list("owner", flat=True)
    dead = [owner for owner in ours if processes.is_dead(owner)]
    # Not all the rows: what was sent to be imported is in them.
    for row in held.filter(Q(expires_at__lt=Now()) | Q(owner__in=dead)):
        try:
            kind.lost(row)
        except OperationalError as error:
            # Another host holds it, and may be silent: the other rows need not wait for that.
            if not is_lock_timeout(error):
                raise
            logger.warning("%s %s is held by another transaction", kind.name, row.pk)


def _resend(kind: WorkKind[Any], queues: Collection[str]) -> int:
    forgotten = Q(sent_at=None) | Q(sent_at__lt=Now() - timedelta(seconds=RESEND_SECONDS))
    lost = due(kind, queues).filter(forgotten)
    n_sent = 0
    for pk, queue in lost.order_by("-priority", "pk").values_list("pk", "queue")[:AT_ONCE]:
        if lost.filter(pk=pk).update(sent_at=Now()):
            if not sending.send(kind, pk, queue):
                break
            n_sent += 1
    return n_sent


class Reconciler:
    """The rounds of one worker with `slots` for work from its `queues`."""

    def __init__(self, queues: Collection[str], slots: int) -> None:
        self.queues, self.slots = queues, slots
        self._taken, self._wait, self._not_before = -1, ROUND_SECONDS, 0.0

    def round(self) -> None:
        """Reconcile; send messages only while a slot is free."""
        taken = sum(state.total_count.values())
        if taken != self._taken:
            self._taken, self._wait, self._not_before = taken, ROUND_SECONDS, 0.0
        is_free = len(state.reserved_requests) < self.slots
        has_room = is_free and time.monotonic() >= self._not_before
        n_sent = reconcile(self.queues, has_room=has_room)
        if n_sent:
            self._not_before = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)


_threads: list[Periodic] = []


def _begin(sender: Any, **_: Any) -> None:
    queues = set(sender.app.amqp.queues.consume_from)
    reconciler = Reconciler(queues, sender.controller.concurrency)
    _threads.append(Periodic("reconciliation", ROUND_SECONDS, reconciler.round))
    _threads[-1].start()


def _end(**_: Any) -> None:
    while _threads:
        _threads.pop().stop()


def _leave(**_: Any) -> None:
    connections.close_all()  # the database may have been restarted meanwhile
    for kind in all_kinds():
        kind.left()


worker_ready.connect(_begin)
worker_shutting_down.connect(_end)
worker_shutdown.connect(_leave)
