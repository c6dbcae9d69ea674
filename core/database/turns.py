"""Short writes to SQLite take turns instead of trying again and again.

SQLite lets one writer in and has the others ask anew after pauses that grow to 0.1 s, so that
somebody may wait for seconds while others come and go. A lock on a file wakes them one by one.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.db import connection

_here = threading.Lock()


@contextmanager
def turn() -> Iterator[None]:
    """Within, no other short write runs, in whatever process; nothing to wait for elsewhere."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with _here:
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
    """Beside the database; None for one in memory, which has one process."""
    if not Path(database).is_file():
        return None
    return os.open(f"{database}-turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
