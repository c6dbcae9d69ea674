"""Manage the processes of a worker: their names, the signal to stop and the end of a child.

The main process consumes messages and forks children, which do the work. What is made here before
the fork is theirs, too: the name of the worker and one shared byte that says it is stopping.
"""

import hashlib
import logging
import mmap
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

from celery.signals import worker_process_init, worker_shutting_down
from django.db import connections

logger = logging.getLogger(__name__)

# A worker that stops interrupts a pause within this many seconds.
MOMENT = 0.2


def process_space() -> str:
    """Identify the processes among which a process id means one process: 12 hex digits.

    They share a host name, a boot of its kernel, and Linux namespaces of process ids and of time.
    Containers of one name, and hosts of one name, differ. Without /proc: a random identifier.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        spaces = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "time")]
    except OSError:
        return secrets.token_hex(6)
    parts = "\n".join([socket.gethostname(), boot, *spaces])
    return hashlib.sha256(parts.encode()).hexdigest()[:12]


def started_at(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot.

    None for a zombie. Raises ProcessLookupError if there is no such process, and another OSError
    if it cannot be looked at.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        os.kill(pid, 0)  # there is one that /proc hides (hidepid), or no /proc
        raise
    # Fields 3 and 22 of proc(5); the second, a name in parentheses, may hold anything.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


PLACE = process_space()
# The common prefix of the names of all processes of this worker.
NODE = PLACE + secrets.token_hex(4)
_claims = count()
_stopping = mmap.mmap(-1, 1)
# A child that is forked while a thread of ours talks to the database or the broker would inherit
# locks that nobody in it ever opens.
forking = Lock()
os.register_at_fork(
    before=forking.acquire, after_in_parent=forking.release, after_in_child=forking.release
)


class _Self:
    """State of this process: whether it is a child, and why the child must end."""

    is_child = False
    must_end = ""
    label = "in place"


def name() -> str:
    """Return the name of this process; names of one worker have a common prefix."""
    return f"{NODE}.{os.getpid()}"


def label() -> str:
    """Return the name of this process for people: that of its worker, as Celery has it."""
    return _Self.label


def set_worker_label(label: str) -> None:
    """Give this process its name for people."""
    _Self.label = label


def new_owner() -> str:
    """Name a claim that this process makes: by its process id, its start and a number."""
    try:
        start = started_at(os.getpid())
    except OSError:
        start = 0
    return f"{name()}.{start}.{next(_claims)}"


def is_dead(owner: str) -> bool:
    """Return True if a claim's process, of this worker or of another one in this place, has ended.

    A process that took its id since then started at another time.
    """
    node, _, process = owner.partition(".")
    if not node.startswith(PLACE) or process.count(".") != 2:
        return False
    pid, start, _ = process.split(".")
    try:
        return started_at(int(pid)) != int(start)
    except ProcessLookupError:
        return True
    except OSError:
        return False


def is_stopping() -> bool:
    """Return whether this worker has to stop; true in its children, too."""
    return bool(_stopping[0])


def end_child(reason: str) -> None:
    """Let this child end after its current task: its memory or GPU is unusable."""
    _Self.must_end = reason


def end_if_asked() -> None:
    """End at once if :func:`end_child` was called; the worker forks another child."""
    if _Self.must_end:
        end_now(_Self.must_end)


def end_now(reason: str) -> None:
    """End this process at once; does nothing outside of a forked child."""
    logger.warning("This process ends: %s", reason)
    if _Self.is_child:
        os._exit(1)


def interrupt() -> None:
    """Interrupt the main thread of a forked child as if its time limit were exceeded."""
    if _Self.is_child:
        os.kill(os.getpid(), signal.SIGUSR1)


def waited() -> float:
    """Return the seconds that this thread waited for a processor; 0 if unknown."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def rest(seconds: float) -> bool:
    """Leave the processor to others, until the worker stops; False if this process may not."""
    until = time.monotonic() + seconds
    while is_own := _Self.is_child and not is_stopping():
        if (left := until - time.monotonic()) <= 0:
            break
        time.sleep(min(left, MOMENT))
    return is_own


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
        """Ask the thread to end before its next call."""
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.wait(self._seconds):
            if not self._call():
                return

    def _call(self) -> bool:
        """Return whether to go on."""
        try:
            return self._action() is not False
        except Exception:
            logger.warning("%s failed and is tried again", self.name, exc_info=True)
            return True
        finally:
            with forking:
                connections.close_all()


def _begin_child(**_: Any) -> None:
    _Self.is_child = True


def _stop(**_: Any) -> None:
    _stopping[0] = 1


worker_process_init.connect(_begin_child)
worker_shutting_down.connect(_stop)
