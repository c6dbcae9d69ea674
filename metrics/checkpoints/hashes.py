"""Compute SHA-256 of large files, and cache it while size and time of a file stay the same.

The cache is ``checkpoint-hashes.json`` in the folder of ``TOUCHSTONE_VAR``, so that other processes
need not read gigabytes again. If that file cannot be written, the cache is in memory only.
"""

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.base import MetricError

Known = dict[str, tuple[int, int, str]]
# A file written twice within a tick of the file system's clock keeps its time; so recent ones are
# read again.
SETTLED_SECONDS = 2.0

_known: Known = {}


def of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def of_file(path: Path, *, again: bool = False) -> str:
    """Return the SHA-256 of a file; with ``again`` read the file even if it is cached.

    Raises a permanent :class:`MetricError` if it cannot be read.
    """
    try:
        file = path.resolve(strict=True)
        status = file.stat()
        known = None if again else _find(str(file))
        if known and known[:2] == (status.st_size, status.st_mtime_ns):
            return known[2]
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        problem = message(
            "checkpoint.file-unreadable",
            "{path} cannot be read: {error}.",
            path=str(path),
            error=reason_of(error),
        )
        raise MetricError(problem, permanent=True) from error
    if time.time() - status.st_mtime > SETTLED_SECONDS:
        _keep(str(file), (status.st_size, status.st_mtime_ns, digest))
    return digest


def _find(file: str) -> tuple[int, int, str] | None:
    if file not in _known:
        for name, entry in _read().items():
            _known.setdefault(name, entry)
    return _known.get(file)


def _keep(file: str, entry: tuple[int, int, str]) -> None:
    _known[file] = entry
    path = _path()
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=path.name, delete=False, encoding="utf-8"
        ) as draft:
            json.dump({**_read(), file: entry}, draft)
        Path(draft.name).replace(path)
    except OSError:
        return


def _read() -> Known:
    try:
        document = json.loads(_path().read_text(encoding="utf-8"))
        return {
            str(name): (int(size), int(changed), str(digest))
            for name, (size, changed, digest) in document.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _path() -> Path:
    """Return the path of the cache in ``VAR_DIR``; settings are not imported here."""
    folder = os.environ.get("TOUCHSTONE_VAR") or str(Path(__file__).parents[2] / "var")
    return Path(folder) / "checkpoint-hashes.json"
