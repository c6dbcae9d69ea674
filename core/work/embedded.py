"""The broker without a server: messages are files in a folder.

Its children share a pipe of what is to be done. Billiard's wait at it with its lock in their hands,
so that one that is killed while it waits, as by the kernel out of memory, leaves its successor
waiting for ever. With other brokers each child has a pipe of its own.

kombu's own writes a message into the file that readers look for, so that one may read half of it.
"""

import os
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from billiard.pool import Pool
from billiard.queues import SimpleQueue
from celery.concurrency import prefork
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Gives a message its name when it is complete."""

    def _put(self, queue: Any, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        folder, name = Path(self.data_folder_out), f"{time.time_ns()}_{uuid4()}.{queue}.msg"
        unfinished = folder / f"{name}.tmp"
        unfinished.write_text(dumps(payload))  # type: ignore[no-untyped-call]
        os.replace(unfinished, folder / name)


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


class TaskPool(prefork.TaskPool):  # type: ignore[misc]
    """Celery's forked children, of which none holds the others up by its death."""

    BlockingPool = _Children
