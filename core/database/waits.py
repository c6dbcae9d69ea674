"""Waiting for the database: limits for locks and silent hosts, retries, and one writer at a time.

Each connection to PostgreSQL has limits, `DATABASE_LOCK_SECONDS` and `DATABASE_IDLE_SECONDS`.
SQLite has one of its own for all writers.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

# Hosts that vanish without closing their connections are noticed within half a minute.
TCP = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds
}
LOCK_NOT_AVAILABLE = "55P03"


def session_limits() -> str:
    """Return the statements that set the limits of a new connection to PostgreSQL."""
    limits = {
        "lock_timeout": f"{settings.DATABASE_LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{settings.DATABASE_IDLE_SECONDS}s",
        # The server's side of `TCP`; without effect on a Unix socket.
        **{f"tcp_{name}": str(TCP[name]) for name in ("keepalives_idle", "keepalives_interval")},
        "tcp_keepalives_count": str(TCP["keepalives_count"]),
        "tcp_user_timeout": str(TCP["tcp_user_timeout"]),
    }
    return "; ".join(f"SET {name} TO '{value}'" for name, value in limits.items())


def limit_lock_waits(milliseconds: int) -> None:
    """Limit how long this thread's statements wait for a lock; then OperationalError."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout TO {int(milliseconds)}")


def is_lock_timeout(error: BaseException) -> bool:
    """Return True if somebody else held a lock for too long."""
    return getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE


logger = logging.getLogger(__name__)
T = TypeVar("T")

# A minute in all.
DATABASE_RETRIES = (0.5, 1, 2, 4, 8, 16, 30)


def db_retry(action: Callable[[], T]) -> T:
    """Repeat an idempotent action while the database is away, for a minute; then raise."""
    for seconds in DATABASE_RETRIES:
        try:
            return action()
        except (OperationalError, InterfaceError) as error:
            logger.warning("Database: %s Trying again in %s s.", error, seconds)
            connection.close()
            time.sleep(seconds)
    return action()


_this_process = threading.Lock()


@contextmanager
def write_lock() -> Iterator[None]:
    """Let no other process write to SQLite within the context; other databases need no lock.

    SQLite lets one writer in and has the others ask again after pauses that grow to 0.1 s, so that
    somebody may wait for seconds while others come and go. A lock on a file wakes them in turn.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with _this_process:
        file = _file(str(connection.settings_dict["NAME"]))
        if file is None:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


@cache
def _file(database: str) -> int | None:
    """Open the lock file next to the database; None for a database in memory."""
    if not Path(database).is_file():
        return None
    return os.open(f"{database}-turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
