"""A daemon thread that does one small thing over and over, with its own database connection."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

from django.db import connections

from core.work import processes

logger = logging.getLogger(__name__)


class Periodic(Thread):
    """Call `action` every `seconds` until stopped or until it returns False.

    An action that raises is logged and called again: a database that restarts must not end a
    heartbeat. Its connection is closed after every call; none is left open between calls. No child
    is forked meanwhile: it would inherit locks of the database's library.
    """

    def __init__(self, name: str, seconds: float, action: Callable[[], object]) -> None:
        super().__init__(name=name, daemon=True)
        self._seconds, self._action, self._stopping = seconds, action, Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.join()

    def stop(self) -> None:
        """Ask the thread to end; it does so before its next call."""
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.wait(self._seconds):
            if not self._call():
                return

    def _call(self) -> bool:
        """Whether to go on."""
        try:
            return self._action() is not False
        except Exception:
            logger.warning("%s failed and is tried again", self.name, exc_info=True)
            return True
        finally:
            with processes.forking:
                connections.close_all()
