"""Checkpoints that are whole or not there: a new one replaces the old only once it is complete."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from training.kinds import JobError


def save_whole(folder: Path, name: str, write: Callable[[Path], None]) -> Path:
    """Have a checkpoint written and make it the one of that name; return its folder.

    A file `<name>.current` names the folder in force and is replaced in one step; then the folder
    before is deleted. Raises JobError where the disk is full: the checkpoint before stays.
    """
    before = current(folder, name)
    number = int(before.name.rpartition("-")[2]) + 1 if before else 1
    new = folder / f"{name}-{number}"
    shutil.rmtree(new, ignore_errors=True)
    try:
        new.mkdir(parents=True)
        write(new)
        _sync(new)
        pointer = folder / f"{name}.next"
        pointer.write_text(new.name, encoding="utf-8")
        pointer.replace(folder / f"{name}.current")
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        kept = f" The one before, {before.name}, is whole." if before else ""
        message = f"The checkpoint {name} could not be saved: {error}.{kept}"
        raise JobError(message) from error
    if before:
        shutil.rmtree(before, ignore_errors=True)
    return new


def current(folder: Path, name: str) -> Path | None:
    """Return the folder of the checkpoint of a name; None where none was completed."""
    pointer = folder / f"{name}.current"
    if not pointer.is_file():
        return None
    found = folder / pointer.read_text(encoding="utf-8")
    return found if found.is_dir() else None


def _sync(folder: Path) -> None:
    """Have every file on the disk before the pointer moves: a power cut must not swap them."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
