"""Files and checkpoints that are whole or not there: a new one replaces the old once complete.

A disk that refuses is told in a sentence, and what was half written is removed.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from core import disk
from training.contract import JobError


def save_whole(
    folder: Path, name: str, write: Callable[[Path], None], n_bytes: int | None = None
) -> Path:
    """Have a checkpoint written and make it the one of that name; return its folder.

    A file `<name>.current` names the folder in force and is replaced in one step; then all folders
    before are deleted. `n_bytes` is about what the checkpoint takes. Raises JobError where the disk
    refuses: the checkpoint before stays, and nothing of the new one.
    """
    before = current(folder, name)
    number = int(before.name.rpartition("-")[2]) + 1 if before else 1
    new = folder / f"{name}-{number}"
    _remove_all_but(before, folder, name)
    kept = f"the one before, {before.name}, is whole." if before else "nothing of it was kept."
    with told(folder, f"The checkpoint {name} could not be saved; {kept}", n_bytes):
        with _removed_unless_done(new):
            new.mkdir(parents=True)
            write(new)
            _sync(new)
            _point(folder, name, new)
        _flush(folder)
    _remove_all_but(new, folder, name)
    return new


def current(folder: Path, name: str) -> Path | None:
    """Return the folder of the checkpoint of a name; None where none was completed."""
    pointer = folder / f"{name}.current"
    if not pointer.is_file():
        return None
    named = pointer.read_text(encoding="utf-8")
    found = folder / named
    return found if named and found.is_dir() else None


def write_whole(path: Path, write: Callable[[BinaryIO], Any], n_bytes: int | None = None) -> None:
    """Have a file written beside its place and moved there at once; JobError as above."""
    draft = path.with_name(path.name + ".partial")
    consequence = f"{path.name} could not be saved."
    with told(path.parent, consequence, n_bytes), _removed_unless_done(draft):
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)


class Stream(FileIO):
    """A new file that tells what the disk refused: torch only says that its archive is short."""

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
def told(place: Path, consequence: str, n_bytes: int | None = None) -> Iterator[None]:
    """Turn what the disk refuses into JobError: where, how much is free, and what that means."""
    try:
        yield
    except Exception as error:
        sentence = disk.refusal(error, place, n_bytes)
        if sentence is None:
            raise
        raise JobError(f"{sentence} {consequence}") from error


@contextmanager
def _removed_unless_done(path: Path) -> Iterator[None]:
    """Whatever happens meanwhile, a cancelled command too: half of it is nothing."""
    try:
        yield
    except BaseException:
        _remove(path)
        raise


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _remove_all_but(kept: Path | None, folder: Path, name: str) -> None:
    """Remove what a process that was killed left: half a checkpoint, or one already replaced."""
    for path in folder.glob(f"{name}-*"):
        if path != kept and path.name.removeprefix(f"{name}-").isdecimal():
            shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Have every file on the disk before the pointer moves: a power cut must not swap them."""
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
        if error.errno != errno.EINVAL:  # some file systems do not flush folders
            raise
    finally:
        os.close(descriptor)
