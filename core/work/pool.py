"""The children of a worker, where the broker has no event loop: the embedded one.

They share a pipe of what is to be done. Billiard's wait at it with its lock in their hands, so that
one that is killed while it waits, as by the kernel out of memory, leaves its successor waiting for
ever. Elsewhere each child has a pipe of its own.
"""

from typing import Any

from billiard.pool import Pool
from billiard.queues import SimpleQueue
from celery.concurrency import prefork


class _Pipe(SimpleQueue):  # type: ignore[misc]
    def get_payload(self) -> Any:
        """Return the next message; the lock is held only while it is read."""
        while True:
            self._reader.poll(None)
            with self._rlock:
                if self._reader.poll(0):
                    return self._reader.recv_bytes()


class _Children(Pool):  # type: ignore[misc]
    _inqueue: SimpleQueue

    def _setup_queues(self) -> None:
        super()._setup_queues()
        self._inqueue.close()
        self._inqueue = _Pipe(ctx=self._ctx)
        self._quick_put = self._inqueue._writer.send


class TaskPool(prefork.TaskPool):  # type: ignore[misc]
    """Celery's forked children, of which none holds the others up by its death."""

    BlockingPool = _Children
