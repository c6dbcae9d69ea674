"""Files by the hash of their content, in MEDIA_ROOT: the same one is kept once.

They are kept while an upload is looked at, and stay where segments come to refer to them; what
none does is deleted after three hours, when a token of the upload is of no use any more.
"""

import hashlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.template.defaultfilters import filesizeformat

from annotation.models import Segment
from annotation.uploads.files import InputFile
from annotation.uploads.media.formats import HEAD, KNOWN, Format, format_of

BLOCK = 1024 * 1024
MAX_AGE = 3 * 60 * 60  # seconds; longer than `waiting.MAX_AGE`


class RefusedFileError(Exception):
    """A file that is not taken; its text is the sentence that says why."""


@dataclass(frozen=True)
class Kept:
    """A file in our storage: the SHA-256 of its content in hexadecimal digits, and its format."""

    sha256: str
    format: Format


def keep(file: InputFile) -> Kept:
    """Copy a file into our storage.

    Raises RefusedFileError for one that is too large or of no format that is taken.
    """
    with file.open() as stream:
        head = stream.read(HEAD)
        if (found := format_of(head)) is None:
            raise RefusedFileError(f"this is neither a recording nor a picture ({KNOWN})")
        return Kept(_copied(head, stream), found)


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
        limit = filesizeformat(settings.MAX_MEDIA_BYTES)
        raise RefusedFileError(f"it is larger than {limit}, the limit of one recording or picture")


def path_of(sha256: str) -> Path:
    """Return where the file of this hash lies, if it does."""
    return _folder() / sha256


def recall(sha256: str) -> Kept | None:
    """Return a file that is kept already, for a while longer; None where there is none."""
    path = path_of(sha256)
    try:
        os.utime(path)
        with path.open("rb") as stream:
            found = format_of(stream.read(HEAD))
    except FileNotFoundError:
        return None
    return Kept(sha256, found) if found else None


def forget_unused() -> int:
    """Delete what no segment refers to and nobody has sent lately; return how many files."""
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
