"""Report how far long work has come: loops count their rows, and whoever started the work listens.

Without a listener, counting costs next to nothing. A listener may raise, which ends the work.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

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
