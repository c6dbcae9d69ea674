"""A disk that takes no more, in a sentence: writers in Python, Rust and C++ each raise their own.

Neither Django nor torch: families and commands without a database use it, too.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

# How Rust (safetensors, tokenizers) ends what it says of the system's errors.
_RUST = re.compile(r"\(os error (\d+)\)")
FULL = {
    errno.ENOSPC: "The disk is full at {place}",
    errno.EDQUOT: "The disk quota is used up at {place}",
    errno.EFBIG: "A file in {place} would be larger than this system allows",
}
_CLOSED = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.EIO,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
)
# What databases call it: PostgreSQL's state, SQLite's primary codes.
POSTGRESQL_FULL = "53100"
_SQLITE = {
    13: "The disk of the database is full.",
    10: "The disk of the database refuses to be written.",
    8: "The database may only be read.",
}


def refusal(error: BaseException, place: Path, n_bytes: int | None = None) -> str | None:
    """Return the sentence for what a disk refused, the database's included; None for other errors.

    `n_bytes` is about what was to be written at the place.
    """
    for each in _chain(error):
        if told := _by_database(each):
            return told
    number = fault(error)
    return None if number is None else sentence(number, place, n_bytes)


def _by_database(error: BaseException) -> str | None:
    if getattr(error, "sqlstate", None) == POSTGRESQL_FULL:
        return _SQLITE[13]
    return _SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)


def fault(error: BaseException) -> int | None:
    """Return the number of what the disk refused, wherever the chain of errors tells it.

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


def sentence(number: int, place: Path, n_bytes: int | None = None) -> str:
    """Say what the disk refused at a place; `n_bytes` is about what was to be written there."""
    if number not in FULL:
        return f"{place} cannot be written: {os.strerror(number)}."
    needed = "" if n_bytes is None else f"about {megabytes(n_bytes)} are needed, "
    return f"{FULL[number].format(place=place)}: {needed}{_left(place)}."


def _left(place: Path) -> str:
    """What is free in the nearest folder that exists."""
    there = next(each for each in (place, *place.parents) if each.exists())
    if not os.statvfs(there).f_favail and os.statvfs(there).f_files:
        return "no room is left for another file"
    return f"{megabytes(shutil.disk_usage(there).free)} are free"


def megabytes(n_bytes: int) -> str:
    """Return a number of bytes in MB (10⁶), to a tenth."""
    return f"{n_bytes / 1e6:,.1f} MB"
