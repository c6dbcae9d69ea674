"""Locks on folders: one training in a folder at a time.

The kernel holds a lock for a process and releases it however the process ends.
"""

import errno
import fcntl
import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from metaeval.messages import Message, from_json, message
from metaeval.results import plain
from training.contract import JobError
from training.jobs.saving import disk_errors

logger = logging.getLogger(__name__)
LOCK = "lock"
LOOK_SECONDS = 0.2
NOT_TRAINED = message("folder.not-trained", "Nothing was trained.")
UNKNOWN = message("folder.unknown-holder", "another process")


@contextmanager
def locked(folder: Path, trained_by: Message, timeout: float = 0.0) -> Iterator[None]:
    """Lock a folder while something is trained in it; other processes can read `trained_by`.

    Waits `timeout` seconds for the lock, then raises JobError that names the holder. Raises
    JobError, too, if the folder cannot be written.
    """
    with disk_errors(folder, NOT_TRAINED):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a+b", buffering=0)
    with file:
        deadline = time.monotonic() + timeout
        while not _lock(file):
            if time.monotonic() >= deadline:
                raise JobError(_refusal(folder, _read(file)))
            time.sleep(LOOK_SECONDS)
        with disk_errors(folder, NOT_TRAINED):
            _write(file, _holder(trained_by))
        yield


def holder(folder: Path) -> Message | None:
    """Return which process of this machine has locked a folder; None if none has."""
    try:
        with (folder / LOCK).open("a+b", buffering=0) as file:
            return None if _lock(file) else _read(file)
    except OSError:
        return None


def _holder(trained_by: Message) -> Message:
    return message(
        "folder.holder",
        "{name}, process {process} on {host}",
        name=trained_by,
        process=str(os.getpid()),
        host=socket.gethostname(),
    )


def _lock(file: IO[bytes]) -> bool:
    """Return True if this process got the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        logger.warning("%s is on a file system without locks", file.name)
    return True


def _refusal(folder: Path, holder: Message) -> Message:
    return message(
        "folder.in-use",
        "{folder} is in use by {holder}. Two trainings in one folder would overwrite each other.",
        folder=str(folder),
        holder=holder,
    )


def _read(file: IO[bytes]) -> Message:
    file.seek(0)
    try:
        return from_json(json.loads(file.read()))
    except ValueError:
        return UNKNOWN


def _write(file: IO[bytes], holder: Message) -> None:
    file.truncate(0)
    file.write(json.dumps(plain(holder)).encode())
