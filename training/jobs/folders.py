"""One training in a folder at a time. The kernel holds the lock for a process, and lets go of it
however that ends: nothing is left to clear away after a kill."""

import errno
import fcntl
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from training.contract import JobError
from training.jobs.saving import told

logger = logging.getLogger(__name__)
LOCK = "lock"
LOOK_SECONDS = 0.2


@contextmanager
def held(folder: Path, trained_by: str, patience: float = 0.0) -> Iterator[None]:
    """Hold a folder while something is trained in it; other processes are told `trained_by`.

    Waits `patience` seconds for who still has it, then raises JobError that names them; JobError,
    too, where the folder cannot be written.
    """
    with told(folder, "Nothing was trained."):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a+b", buffering=0)
    with file:
        deadline = time.monotonic() + patience
        while not _lock(file):
            if time.monotonic() >= deadline:
                raise JobError(_refusal(folder, _read(file)))
            time.sleep(LOOK_SECONDS)
        with told(folder, "Nothing was trained."):
            _write(file, f"{trained_by}, process {os.getpid()} on {socket.gethostname()}")
        yield


def holder(folder: Path) -> str:
    """Return who trains in a folder at this moment; empty where nobody does, as far as is seen
    from this machine."""
    try:
        with (folder / LOCK).open("a+b", buffering=0) as file:
            return "" if _lock(file) else _read(file)
    except OSError:
        return ""


def _lock(file: IO[bytes]) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        logger.warning("%s is on a file system without locks", file.name)
    return True


def _refusal(folder: Path, found: str) -> str:
    return f"{folder} is in use by {found}: two trainings in one folder would spoil each other."


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode() or "another process"


def _write(file: IO[bytes], text: str) -> None:
    file.truncate(0)
    file.write(text.encode())
