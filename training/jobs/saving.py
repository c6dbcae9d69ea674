"""Write files and checkpoints atomically: a new one replaces the old one when it is complete.

If the disk refuses, JobError says so, and incomplete files are removed.
"""

import errno
import fcntl
import json
import logging
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO

from core import disk
from metaeval.messages import Message, from_json, message
from metaeval.results import plain
from training.contract import JobError


def save_whole(
    folder: Path, name: str, write: Callable[[Path], None], n_bytes: int | None = None
) -> Path:
    """Write a checkpoint, make it the current one of its name, and return its folder.

    A file `<name>.current` names the current folder and is replaced in one step; then all older
    folders are deleted. `n_bytes` is the approximate size. Raises JobError if the disk refuses;
    the previous checkpoint then stays and the new one is removed.
    """
    before = current(folder, name)
    number = int(before.name.rpartition("-")[2]) + 1 if before else 1
    new = folder / f"{name}-{number}"
    _remove_all_but(before, folder, name)
    with disk_errors(folder, _unsaved(name, before), n_bytes):
        with _removed_unless_done(new):
            new.mkdir(parents=True)
            write(new)
            _sync(new)
            _point(folder, name, new)
        _flush(folder)
    _remove_all_but(new, folder, name)
    return new


def _unsaved(name: str, before: Path | None) -> Message:
    if before is None:
        return message("saving.checkpoint", "The checkpoint {name} could not be saved.", name=name)
    return message(
        "saving.checkpoint-kept",
        "The checkpoint {name} could not be saved. The previous one, {before}, is complete.",
        name=name,
        before=before.name,
    )


def current(folder: Path, name: str) -> Path | None:
    """Return the folder of the current checkpoint of a name; None if none was completed."""
    pointer = folder / f"{name}.current"
    if not pointer.is_file():
        return None
    named = pointer.read_text(encoding="utf-8")
    found = folder / named
    return found if named and found.is_dir() else None


def write_whole(path: Path, write: Callable[[BinaryIO], Any], n_bytes: int | None = None) -> None:
    """Write a temporary file and move it to its path in one step; JobError as above."""
    draft = path.with_name(path.name + ".partial")
    consequence = message("saving.file", "{file} could not be saved.", file=path.name)
    with disk_errors(path.parent, consequence, n_bytes), _removed_unless_done(draft):
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)


class Stream(FileIO):
    """A new file that raises the error of the disk; torch only says that its archive is short."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "wb")
        self._refused: OSError | None = None

    def write(self, part: Any) -> int:
        """Write all of a part, as torch expects."""
        rest = memoryview(part)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self._refused = error
            raise
        return len(part)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._refused:
            raise self._refused from error


@contextmanager
def disk_errors(place: Path, consequence: Message, n_bytes: int | None = None) -> Iterator[None]:
    """Turn errors of the disk into JobError: where, how much is free, and the consequence."""
    try:
        yield
    except Exception as error:
        refusal = disk.refusal(error, place, n_bytes)
        if refusal is None:
            raise
        raise JobError(refusal, consequence) from error


@contextmanager
def _removed_unless_done(path: Path) -> Iterator[None]:
    """Remove an incomplete file or folder after any error, including a cancelled command."""
    try:
        yield
    except BaseException:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        raise


def _remove_all_but(current: Path | None, folder: Path, name: str) -> None:
    """Remove what a killed process left: an incomplete checkpoint, or one already replaced."""
    for path in folder.glob(f"{name}-*"):
        if path != current and path.name.removeprefix(f"{name}-").isdecimal():
            shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Flush every file before the pointer moves, so that a power cut cannot reorder them."""
    for path in (*folder.rglob("*"), folder):
        _flush(path)


def _point(folder: Path, name: str, new: Path) -> None:
    draft = folder / f"{name}.next"
    with _removed_unless_done(draft):
        draft.write_text(new.name, encoding="utf-8")
        _flush(draft)
        draft.replace(folder / f"{name}.current")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot flush folders
            raise
    finally:
        os.close(descriptor)


# Locks on folders: one training in a folder at a time. The kernel holds a lock for a process
# and releases it however the process ends.

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
