"""How many connections of an endpoint are in use, counted over all workers.

A row for each connection that may be open. Who holds one says so every few seconds; the rows of a
process that was killed are free after `HELD_SECONDS`. A run's budget is held in the same way, by
one process at a time: two that read what is left at the same moment would spend it twice.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from django.db.models import QuerySet

from core.database.waits import db_retry
from core.work.models import Now
from metrics.families.judges.desk import Endpoint
from metrics.models import JudgeConnection

HELD_SECONDS, BEAT_SECONDS, LOOK_SECONDS = 20.0, 5.0, 0.2


class Connections:
    """Those that this process holds of one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.holder = endpoint, uuid.uuid4().hex
        self._told_at = 0.0

    @contextmanager
    def hold(self, meanwhile: Callable[[], None] = lambda: None) -> Iterator[int]:
        """Wait until connections are free; take all of them, give them back at the end.

        `meanwhile` is called while there are none.
        """
        db_retry(self._prepare)
        try:
            while not (n := db_retry(self.take)):
                meanwhile()
                time.sleep(LOOK_SECONDS)
            self._told_at = time.monotonic()
            yield n
        finally:
            mine = JudgeConnection.objects.filter(holder=self.holder)
            db_retry(partial(mine.update, holder="", expires_at=Now()))

    def keep(self) -> None:
        """Say that they are in use, now and then."""
        if time.monotonic() - self._told_at > BEAT_SECONDS:
            self._told_at = time.monotonic()
            mine = JudgeConnection.objects.filter(holder=self.holder)
            db_retry(partial(mine.update, expires_at=self._end()))

    def _end(self) -> object:
        return Now() + timedelta(seconds=HELD_SECONDS)

    def _prepare(self) -> None:
        wanted = range(self.endpoint.connections)
        rows = [JudgeConnection(endpoint=self.endpoint.name, number=number) for number in wanted]
        if self._rows().count() < len(rows):
            JudgeConnection.objects.bulk_create(rows, ignore_conflicts=True)

    def _rows(self) -> QuerySet[JudgeConnection]:
        return JudgeConnection.objects.filter(
            endpoint=self.endpoint.name, number__lt=self.endpoint.connections
        )

    def take(self) -> int:
        """Take all that are free now, and return how many."""
        free = self._rows().filter(expires_at__lte=Now())
        return free.update(holder=self.holder, expires_at=self._end())


def account(run: int) -> Connections:
    """Return the budget of a run, which one process at a time holds, as a connection of its own."""
    return Connections(Endpoint(name=f"budget of run {run}", url="", connections=1))
