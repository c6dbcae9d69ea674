"""The broker without a server, whose messages are files in a folder; and the children of workers.

Its children share a pipe of what is to be done. Billiard's wait at it with its lock in their hands,
so that one that is killed while it waits, as by the kernel out of memory, leaves its successor
waiting for ever. With other brokers each child has a pipe of its own.

With those, Celery watches each child; after it has lost the broker it begins anew, and ended if a
child had died just then and was not replaced yet.

kombu's own broker writes a message into the file that readers look for, so that one may read half
of it. A table of queues, too: of two workers that started at once, one read it empty and ended.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

from billiard.pool import Pool
from billiard.queues import SimpleQueue
from celery.concurrency import asynpool, prefork
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Gives a message or a table its name when it is complete."""

    def _put(self, queue: Any, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        folder, name = Path(self.data_folder_out), f"{time.time_ns()}_{uuid4()}.{queue}.msg"
        unfinished = folder / f"{name}.tmp"
        unfinished.write_text(dumps(payload))  # type: ignore[no-untyped-call]
        os.replace(unfinished, folder / name)

    def _queue_bind(self, exchange: str, *queue: str) -> None:
        table = self._exchange_file(exchange)  # type: ignore[no-untyped-call]
        table.parent.mkdir(exist_ok=True)
        with NamedTemporaryFile("w", dir=table.parent) as empty:
            empty.write("[]")
            empty.flush()
            with suppress(OSError):  # there already, or a disk without links
                os.link(empty.name, table)
        super()._queue_bind(exchange, *queue)  # type: ignore[no-untyped-call]


class Transport(filesystem.Transport):
    """The folder as Celery knows it."""

    Channel = Channel


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


class _WatchedChildren(asynpool.AsynPool):  # type: ignore[misc]
    def _track_child_process(self, proc: Any, hub: Any) -> None:
        """Watch a child unless it is dead, which the pool finds at its next look at all."""
        if getattr(proc, "_sentinel_poll", proc._popen.sentinel) is not None:
            super()._track_child_process(proc, hub)


class TaskPool(prefork.TaskPool):  # type: ignore[misc]
    """Celery's forked children, of which none holds the others up by its death."""

    Pool = _WatchedChildren
    BlockingPool = _Children
