"""Work off rows: take the first row, process it, and repeat while rows wait.

The Celery tasks go on with the next rows for a few seconds, so that small ones do not wait for a
message each, and pass on what they leave.
"""

import logging
import math
import time
from collections.abc import Collection
from functools import partial
from threading import local
from typing import Any, TypeVar

from celery import Task
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet

from core import tracing
from core.database.waits import db_retry
from core.work import claims, processes, sending
from core.work.brokers import app
from core.work.kinds import Lease, WorkKind
from core.work.models import Now, Work, kind_named

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=Work)
# How often others may be faster before this worker gives up for now.
TRIES = 20
# Work that gives way pauses for this many times as long as others kept it waiting.
WAITS = 8.0
# How often it looks meanwhile whether something urgent has come.
LOOK_SECONDS = 1.0


class _Busy(local):
    """The kinds that this thread works off: work that it requests runs in the same loop."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()


_busy = _Busy()


def due(kind: WorkKind[Row], queues: Collection[str] | None = None) -> QuerySet[Row]:
    """Return the rows that this host could process now, of some queues or of all."""
    rows = kind.model._default_manager.filter(status=Work.Status.QUEUED, not_before__lte=Now())
    if queues is not None:
        rows = rows.filter(queue__in=queues)
    return kind.fit(rows.filter(requires__in=["", *kind.serves()]))


def take(kind: WorkKind[Row], rows: QuerySet[Row] | None = None) -> Row | None:
    """Take the first of these rows; None if no row can be taken."""
    for _ in range(TRIES):
        row = kind.choose(due(kind) if rows is None else rows)
        if row is None:
            return None
        with transaction.atomic():
            if kind.claim(row):
                return row
    return None


def do(kind: WorkKind[Row], row: Row) -> None:
    """Process a taken row. The row stores the outcome.

    Raises only where the database stays away: then the row waits until its claim expires.
    """
    try:
        lease = Lease(kind, row)
        with lease.kept_up():
            kind.do(row, lease)
        db_retry(partial(claims.finish, row))
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        if kind.ends_at_once and processes.is_stopping():
            db_retry(partial(claims.give_back, row))
            return
        logger.exception("%s %s failed", kind.name, row.pk)
        tracing.failed(type(error).__name__)
        db_retry(partial(kind.failed, row, error))
    except BaseException:
        claims.give_back(row)
        raise


def do_one(kind: WorkKind[Row], rows: QuerySet[Row] | None = None) -> Row | None:
    """Take one row and process it; None if no row could be taken."""
    row = db_retry(partial(take, kind, rows))
    if row is not None:
        with tracing.span(f"job {kind.name}", **{"job.id": row.pk, "job.attempt": row.attempts}):
            do(kind, row)
    return row


def drain(kind: WorkKind[Any], rows: Any = None, *, seconds: float = math.inf) -> int:
    """Process rows until none waits or the time is over; return their number."""
    if kind.name in _busy.kinds:
        return 0
    deadline, n_done = time.monotonic() + seconds, 0
    _busy.kinds.add(kind.name)
    try:
        while not processes.is_stopping() and time.monotonic() < deadline:
            waited = processes.waited()
            if do_one(kind, rows) is None:
                break
            n_done += 1
            if kind.gives_way:
                seconds = min(kind.gives_way, WAITS * (processes.waited() - waited))
                _rest(kind, due(kind) if rows is None else rows, seconds)
    finally:
        _busy.kinds.discard(kind.name)
    return n_done


def _rest(kind: WorkKind[Row], rows: QuerySet[Row], seconds: float) -> None:
    """Leave the processor to others for some seconds, or until a row is urgent."""
    while seconds > 0 and not db_retry(partial(kind.is_urgent, rows.all())):
        if not processes.rest(min(seconds, LOOK_SECONDS)):
            return
        seconds -= LOOK_SECONDS


TASK_SECONDS = 5.0


def _work(task: Task, name: str, pk: int, *_more: object, **_named: object) -> None:
    """Work for a while, in the place of one who asked where tasks are run there.

    During an upgrade, messages come from another version too: what they say in addition is not
    needed, and a row of an unknown kind waits for a worker that knows it.
    """
    if name not in settings.WORK_KINDS:
        logger.warning("%s %s is left to workers of another version", name, pk)
        return
    processes.set_worker_label(task.request.hostname or "in place")
    seconds = math.inf if task.request.is_eager else TASK_SECONDS
    kind, queues = kind_named(name), set(app.amqp.queues.consume_from)
    rows = due(kind, queues)
    if drain(kind, rows, seconds=seconds) and seconds < math.inf:
        processes.end_if_asked()
        left = kind.choose(rows)
        if left is not None and not processes.is_stopping():
            sending.send(kind, left.pk, left.queue)


work = app.task(_work, name="work.short", bind=True)
# Work of hours acknowledges its message at once.
work_long = app.task(_work, name="work.long", bind=True, acks_late=False)
