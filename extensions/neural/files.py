"""Text files that a metric's options name: read line by line, named by their contents."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from metrics.base import MetricError


@dataclass(frozen=True)
class TextFile:
    """The lines of a file, without blank ones, and the first 12 hex digits of its SHA-256."""

    lines: tuple[str, ...]
    digest: str


def read(path: str) -> TextFile:
    """Read a UTF-8 text of one sentence a line.

    Raises a permanent :class:`MetricError` that names file and line where it is missing, empty or
    not UTF-8.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        raise MetricError(message, permanent=True) from error
    lines = [_decode(path, number, line) for number, line in enumerate(raw.splitlines(), start=1)]
    kept = tuple(line for line in lines if line.strip())
    if not kept:
        raise MetricError(f"{path} holds no sentence.", permanent=True)
    return TextFile(kept, hashlib.sha256(raw).hexdigest()[:12])


def _decode(path: str, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        message = f"{path}, line {number}: not UTF-8 (byte {error.start + 1})."
        raise MetricError(message, permanent=True) from error
