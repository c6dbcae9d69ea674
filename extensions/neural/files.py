"""Text files that options name, identified by content."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from metaeval.messages import message
from metrics.base import MetricError


@dataclass(frozen=True)
class TextFile:
    """Hold the lines of a file that are not blank, and the first 12 hex digits of its SHA-256."""

    lines: tuple[str, ...]
    digest: str


def read(path: str) -> TextFile:
    """Read a UTF-8 text with one sentence per line.

    Raises a permanent :class:`MetricError` with file and line if it is missing, empty or not UTF-8.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        problem = message(
            "file.unreadable", "{path} cannot be read: {error}.", path=path, error=error.strerror
        )
        raise MetricError(problem, permanent=True) from error
    lines = [_decode(path, number, line) for number, line in enumerate(raw.splitlines(), start=1)]
    sentences = tuple(line for line in lines if line.strip())
    if not sentences:
        problem = message("file.no-sentence", "{path} does not contain a sentence.", path=path)
        raise MetricError(problem, permanent=True)
    return TextFile(sentences, hashlib.sha256(raw).hexdigest()[:12])


def _decode(path: str, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        problem = message(
            "words.not-utf-8",
            "{path}, line {line}: byte {byte} is not UTF-8.",
            path=path,
            line=number,
            byte=error.start + 1,
        )
        raise MetricError(problem, permanent=True) from error
