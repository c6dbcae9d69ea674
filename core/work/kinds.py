"""Kinds of work: how rows of a kind are processed, and what follows a failure.

A lease extends the claim on a row while it is processed, and detects when the claim is lost.
"""

import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, ClassVar, Generic, TypeVar

from django.db import connection
from django.db.models import QuerySet

from core.work import claims, processes
from core.work.models import Work
from core.work.processes import Periodic
from metaeval.messages import Message, message

# Report how far long work has come: loops count their rows, and whoever started the work
# listens. Without a listener, counting costs next to nothing. A listener may raise, which ends
# the work.

READING, CHECKING, STORING = "reading", "checking", "storing"
# Rows between two reports; shorter loops report nothing.
EVERY = 5_000
T = TypeVar("T")
Listener = Callable[[str, int, int], object]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard(listener: Listener) -> Iterator[None]:
    """Let `listener` hear the stage, the number of rows that are done, and of how many."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def counted(stage: str, rows: Collection[T]) -> Iterator[T]:
    """Yield rows, and report their number at intervals."""
    listener = _listener.get()
    if listener is None or len(rows) < EVERY:
        yield from rows
        return
    for n, row in enumerate(rows):
        if n % EVERY == 0:
            listener(stage, n, len(rows))
        yield row
    listener(stage, len(rows), len(rows))


Row = TypeVar("Row", bound=Work)
END_SECONDS = 4.0
LOST = message("work.lost", "The worker of this job stopped responding.")


def unexpected(error: Exception) -> Message:
    """Return the message about an error that no code handles: its type and text."""
    return message("work.unexpected", "{kind}: {text}", kind=type(error).__name__, text=str(error))


def tell(stage: str, done: int, total: int) -> None:
    """Report how much of a stage is done."""
    if (listener := _listener.get()) is not None:
        listener(stage, done, total)


def blocks(stage: str, rows: int) -> Iterator[slice]:
    """Yield the places of some rows in blocks, and report their number after each."""
    for start in range(0, rows, EVERY):
        yield slice(start, min(start + EVERY, rows))
        if rows >= EVERY:
            tell(stage, min(start + EVERY, rows), rows)


class WorkKind(ABC, Generic[Row]):
    """One kind of work; stateless.

    After `max_attempts` a row fails. Celery ends a task that exceeds its limits. A child that does
    not call :meth:`Lease.progress` for `hang_seconds` ends itself (None: no check). Work that
    `is_long` acknowledges its message at once, because RabbitMQ closes a channel without an answer
    for half an hour, and the row is enough to repeat the work. Work that `ends_at_once` is
    returned when its worker has to stop. If a kind `gives_way`, a process pauses after each row
    for eight times as long as others kept it waiting for a processor, up to that many seconds, but
    only while no row :meth:`is_urgent`.
    """

    name: ClassVar[str]
    model: type[Row]
    max_attempts = 3
    soft_seconds: float | None = 600
    hard_seconds: float | None = 660
    hang_seconds: float | None = None
    is_long = False
    ends_at_once = False
    gives_way = 0.0

    def fit(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Exclude waiting rows that this host cannot process."""
        return rows

    def choose(self, rows: QuerySet[Row]) -> Row | None:
        """Return the row to take first, of those that this process may take now."""
        return rows.order_by("-priority", "pk").first()

    def is_urgent(self, rows: QuerySet[Row]) -> bool:
        """Return True if one of these rows must not wait until others have enough processors."""
        return False

    def overdue(self, seconds: float) -> QuerySet[Row]:
        """Return the rows that have waited for so long that a worker should have taken them."""
        rows = self.model._default_manager.filter(status=Work.Status.QUEUED)
        return rows.filter(not_before__lte=claims.after(-seconds))

    def serves(self) -> set[str]:
        """Return the requirements of rows that this host meets."""
        return {f"host:{socket.gethostname()}"}

    def end_seconds(self, row: Row) -> float:
        """Return how long work may go on, once its row is lost, before it is ended by force."""
        return END_SECONDS

    def claim(self, row: Row) -> bool:
        """Claim a row in a transaction; return True if this process got it."""
        return claims.claim(row)

    @abstractmethod
    def do(self, row: Row, lease: "Lease") -> None:
        """Process a row. One that is not ended by `fail`, `retry` or `give_back` is finished."""

    def failed(self, row: Row, error: Exception) -> None:
        """Handle an error of the work: by default, retry."""
        claims.retry(row, unexpected(error))

    def lost(self, row: Row) -> None:
        """Handle a row whose process ended or stopped responding: by default, retry."""
        claims.retry(row, LOST)

    def ended(self, row: Row) -> None:
        """Handle a row that has failed finally, in the same transaction."""

    def tidy(self) -> None:
        """Maintain the rows; every worker calls this every two seconds."""

    def left(self) -> None:
        """Handle that this worker has stopped and has no current task."""


BEAT_SECONDS = 2.0


class Lease:
    """Keeps a row until the work is done: a thread extends the claim every two seconds.

    Inside a transaction there is no thread: nobody else sees the row, and nobody can take it.
    """

    def __init__(self, kind: WorkKind[Any], row: Work) -> None:
        self.is_lost = False
        self._kind, self._row = kind, row
        self._moved_at = self._lost_at = time.monotonic()
        self._fields: dict[str, Any] = {}

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

    def progress(self, **fields: Any) -> None:
        """Report that the work makes progress; the next beat writes `fields` of the row."""
        self._moved_at, self._fields = time.monotonic(), fields

    def _beat(self) -> None:
        now, hang = time.monotonic(), self._kind.hang_seconds
        if hang is not None and now - self._moved_at > hang:
            processes.end_now(f"{self._kind.name} {self._row.pk} has not moved for {hang:g} s")
        if self._kind.ends_at_once and processes.is_stopping():
            processes.interrupt()
        if not self.is_lost:
            self._lost_at, self.is_lost = now, not claims.hold(self._row, **self._fields)
        elif now - self._lost_at > self._kind.end_seconds(self._row):
            processes.end_now(f"{self._kind.name} {self._row.pk} is another's or cancelled")
