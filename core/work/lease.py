"""A claim that is kept up while its work is done, and the news that it is lost."""

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db import connection

from core.work import claims, processes
from core.work.kinds import Kind
from core.work.models import Work
from core.work.periodic import Periodic

BEAT_SECONDS = 2.0


class Lease:
    """Keeps a row until the work is done: a thread extends the claim every two seconds.

    Inside a transaction there is no thread: nobody else sees the row, and nobody can take it.
    """

    def __init__(self, kind: Kind[Any], row: Work) -> None:
        self.is_lost = False
        self._kind, self._row = kind, row
        self._moved_at = self._lost_at = time.monotonic()

    def kept_up(self) -> AbstractContextManager[object]:
        """Keep the row as long as this context."""
        if connection.in_atomic_block:
            return nullcontext()
        name = f"claim of {self._kind.name} {self._row.pk}"
        return Periodic(name, BEAT_SECONDS, self._beat)

    @property
    def should_stop(self) -> bool:
        """Whether to stop at once, and to give the row back where it is not lost."""
        return self.is_lost or processes.is_stopping()

    def progress(self) -> None:
        """Say that the work does not hang."""
        self._moved_at = time.monotonic()

    def _beat(self) -> None:
        now, hang = time.monotonic(), self._kind.hang_seconds
        if hang is not None and now - self._moved_at > hang:
            processes.end_now(f"{self._kind.name} {self._row.pk} has not moved for {hang:g} s")
        if self._kind.ends_at_once and processes.is_stopping():
            processes.interrupt()
        if not self.is_lost:
            self._lost_at, self.is_lost = now, not claims.hold(self._row)
        elif now - self._lost_at > self._kind.end_seconds(self._row):
            processes.end_now(f"{self._kind.name} {self._row.pk} is another's or cancelled")
