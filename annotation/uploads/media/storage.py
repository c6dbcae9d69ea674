"""Store files in MEDIA_ROOT by the hash of their content, so that equal files are stored once.

Files are stored when an upload is checked. Those that no segment refers to are deleted after three
hours, when the token of the upload has expired.
"""

import hashlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from annotation.models import Segment
from annotation.uploads.files import InputFile, size_of
from annotation.uploads.media.formats import HEAD, KNOWN, Format, format_of
from metaeval.messages import MessageError, message

BLOCK = 1024 * 1024
MAX_AGE = 3 * 60 * 60  # seconds; longer than `waiting.MAX_AGE`


class RefusedFileError(MessageError):
    """A file is not accepted."""


@dataclass(frozen=True)
class StoredFile:
    """A file in our storage: the SHA-256 of its content in hexadecimal digits, and its format."""

    sha256: str
    format: Format


def store_file(file: InputFile) -> StoredFile:
    """Copy a file into our storage.

    Raises RefusedFileError for one that is too large or in an unknown format.
    """
    with file.open() as stream:
        head = stream.read(HEAD)
        if (found := format_of(head)) is None:
            raise RefusedFileError(
                message(
                    "media.format",
                    "The file is not a recording or picture in a known format ({formats}).",
                    formats=list(KNOWN),
                )
            )
        return StoredFile(_copied(head, stream), found)


def _copied(head: bytes, stream: BinaryIO) -> str:
    folder = _folder()
    temporary = folder / f".{secrets.token_hex(16)}"
    digest, size = hashlib.sha256(), 0
    try:
        with temporary.open("xb") as sink:
            block = head
            while block:
                size += len(block)
                _check_size(size)
                digest.update(block)
                sink.write(block)
                block = stream.read(BLOCK)
        os.replace(temporary, path_of(digest.hexdigest()))
    finally:
        temporary.unlink(missing_ok=True)
    return digest.hexdigest()


def _check_size(size: int) -> None:
    if size > settings.MAX_MEDIA_BYTES:
        raise RefusedFileError(
            message(
                "media.too-large",
                "The file is larger than {limit}, the limit for a recording or picture.",
                limit=size_of(settings.MAX_MEDIA_BYTES),
            )
        )


def path_of(sha256: str) -> Path:
    """Return the path of the file with this hash, whether or not it exists."""
    return _folder() / sha256


def recall(sha256: str) -> StoredFile | None:
    """Return a stored file and renew its time of deletion; None if there is none."""
    path = path_of(sha256)
    try:
        os.utime(path)
        with path.open("rb") as stream:
            found = format_of(stream.read(HEAD))
    except FileNotFoundError:
        return None
    return StoredFile(sha256, found) if found else None


def forget_unused() -> int:
    """Delete old files that no segment refers to; return how many."""
    limit = time.time() - MAX_AGE
    old = [path for path in _folder().iterdir() if _changed(path) < limit]
    unused = {path.name for path in old} - _used() if old else set()
    for name in unused:
        path_of(name).unlink(missing_ok=True)
    return len(unused)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process was faster
        return time.time()


def _used() -> set[str]:
    rows = Segment.objects.filter(beside__file__isnull=False).order_by()
    return set(rows.values_list("beside__file", flat=True).distinct())


def _folder() -> Path:
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
