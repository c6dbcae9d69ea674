"""Recognise errors of a full or read-only disk, which Python, Rust and C++ raise differently.

This module needs neither Django nor torch: metric families and commands without a database use it.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from metaeval.messages import Message, message

MEGABYTE = 1e6
# How Rust (safetensors, tokenizers) ends its messages about errors of the operating system.
_RUST = re.compile(r"\(os error (\d+)\)")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CLOSED = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.EIO,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
)
# Codes of databases: PostgreSQL's state, SQLite's primary codes.
POSTGRESQL_FULL = "53100"
_DATABASE_FULL = message("disk.database-full", "The disk of the database is full.")
_SQLITE = {
    13: _DATABASE_FULL,
    10: message("disk.database-error", "The database cannot be written to disk."),
    8: message("disk.database-read-only", "The database is read-only."),
}


def refusal(error: BaseException, place: Path, n_bytes: int | None = None) -> Message | None:
    """Return why a disk, or that of the database, could not be written; None for other errors.

    `n_bytes` is the approximate number of bytes to be written at the place.
    """
    for each in _chain(error):
        if problem := _by_database(each):
            return problem
    number = fault(error)
    return None if number is None else problem_of(number, place, n_bytes)


def _by_database(error: BaseException) -> Message | None:
    if getattr(error, "sqlstate", None) == POSTGRESQL_FULL:
        return _DATABASE_FULL
    return _SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)


def fault(error: BaseException) -> int | None:
    """Return the error number of a disk that could not be written, from the chain of errors.

    None for any other error.
    """
    numbers = {number for each in _chain(error) for number in _numbers(each)}
    return next((number for number in (*FULL, *_CLOSED) if number in numbers), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _numbers(error: BaseException) -> Iterator[int]:
    if isinstance(error, OSError) and error.errno:
        yield error.errno
    yield from map(int, _RUST.findall(str(error)))


def problem_of(number: int, place: Path, n_bytes: int | None = None) -> Message:
    """Return why a place cannot be written, by the error number.

    `n_bytes` is the approximate number of bytes to be written there.
    """
    if number not in FULL:
        return message(
            "disk.not-writable",
            "{place} cannot be written: {error}.",
            place=str(place),
            error=os.strerror(number),
        )
    space = _space(place, n_bytes)
    if number == errno.ENOSPC:
        return message("disk.full", "The disk is full at {place}. {space}", place=str(place),
                       space=space)  # fmt: skip
    if number == errno.EDQUOT:
        return message("disk.quota", "The disk quota is used up at {place}. {space}",
                       place=str(place), space=space)  # fmt: skip
    return message(
        "disk.file-too-large",
        "A file in {place} would be larger than this system allows. {space}",
        place=str(place),
        space=space,
    )


def _space(place: Path, n_bytes: int | None) -> Message:
    """Return the free space of the nearest folder that exists, and the needed space if known."""
    there = next(each for each in (place, *place.parents) if each.exists())
    if not os.statvfs(there).f_favail and os.statvfs(there).f_files:
        return message("disk.no-files", "The disk has reached its maximum number of files.")
    free = shutil.disk_usage(there).free / MEGABYTE
    if n_bytes is None:
        return message("disk.free", "Free: {free:,.1f} MB.", free=free)
    return message(
        "disk.free-and-needed",
        "Free: {free:,.1f} MB. Needed: about {needed:,.1f} MB.",
        free=free,
        needed=n_bytes / MEGABYTE,
    )
