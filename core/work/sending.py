"""Messages: one for each row that waits. What Celery loses of them is sent again.

A message too many finds nothing to do. Where the broker is away a row waits for the reconciliation.
"""

import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction
from kombu.exceptions import OperationalError as BrokerError
from kombu.transport.pyamqp import Transport

from core.work.brokers import app
from core.work.models import Now, Work, kind_of

if TYPE_CHECKING:
    from core.work.kinds import WorkKind

logger = logging.getLogger(__name__)
# A broker that kept somebody waiting for more than a second is not asked again for a while.
SILENT_SECONDS = 1.0
PAUSE_SECONDS = 10.0


class _Broker:
    """What this process knows of the broker: when to ask it again, by the monotonic clock."""

    not_before = 0.0


def send_on_commit(rows: Sequence[Work]) -> None:
    """Send a message for each of some rows of one model that wait, once they are stored."""
    if rows:
        transaction.on_commit(partial(_send_all, rows))


def _send_all(rows: Sequence[Work]) -> None:
    kind = kind_of(type(rows[0]))
    waiting = kind.model._default_manager.filter(status=Work.Status.QUEUED)
    waiting.filter(pk__in=[row.pk for row in rows]).update(sent_at=Now())
    for row in rows:
        if not send(kind, row.pk, row.queue):
            return


def send(kind: "WorkKind[Any]", pk: int, queue: str) -> bool:
    """Send one message; return True if the broker took it.

    Takes seconds where the broker has fallen silent, and no time for a while after that.
    """
    begun = time.monotonic()
    if begun < _Broker.not_before:
        return False
    task = app.tasks["work.long" if kind.is_long else "work.short"]
    limits = {"soft_time_limit": kind.soft_seconds, "time_limit": kind.hard_seconds}
    try:
        task.apply_async(args=[kind.name, pk], queue=queue, **limits)
    except (*Transport.connection_errors, *Transport.channel_errors, BrokerError, OSError):
        if time.monotonic() - begun > SILENT_SECONDS:
            _Broker.not_before = time.monotonic() + PAUSE_SECONDS
        logger.warning("%s %s waits until the broker is back", kind.name, pk, exc_info=True)
        return False
    return True
