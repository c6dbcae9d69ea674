"""Files that were sent or named, and their text: size limit, encoding, notes on both."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

from annotation.uploads.problems import Place, Report
from metaeval.files import decoding
from metaeval.messages import Message, message

UNITS = ((2**30, "GB"), (2**20, "MB"), (2**10, "KB"))


@dataclass(frozen=True)
class InputFile:
    """A file that was sent or named, not yet read. `size` is in bytes."""

    name: str
    size: int
    open: Callable[[], BinaryIO]

    @classmethod
    def at(cls, path: Path) -> InputFile:
        """Return the file at a path. Raises OSError if there is none."""
        return cls(path.name, path.stat().st_size, lambda: path.open("rb"))

    @classmethod
    def sent(cls, upload: UploadedFile[Any]) -> InputFile:
        """Return a file of a form, which may be opened several times."""
        return cls(upload.name or "file", upload.size or 0, lambda: _opened(upload))

    @classmethod
    def holding(cls, name: str, data: bytes) -> InputFile:
        """Return bytes in memory as a file of this name."""
        return cls(name, len(data), lambda: io.BytesIO(data))


def _opened(upload: UploadedFile[Any]) -> BinaryIO:
    """Open anew: closing an upload itself would delete it."""
    if isinstance(upload, TemporaryUploadedFile):
        return Path(upload.temporary_file_path()).open("rb")
    upload.seek(0)
    return io.BytesIO(upload.read())


def too_large(size: int) -> Message | None:
    """Return the message that refuses `size` bytes, or None if they are within the limit."""
    limit = settings.MAX_UPLOAD_BYTES
    if size <= limit:
        return None
    return message(
        "upload.too-large",
        "The size is {size}; the limit of one import is {limit}. Split the test set, or add the "
        "systems in several imports.",
        size=size_of(size),
        limit=size_of(limit),
    )


def size_of(n_bytes: int) -> Message:
    """Return a size as people read it: `1.5 MB`."""
    for limit, unit in UNITS:
        if n_bytes >= limit:
            return message("size.unit", "{size:.1f} {unit}", size=n_bytes / limit, unit=unit)
    return message("size.bytes", "{n} bytes", n=n_bytes)


def beginning(file: InputFile) -> str:
    """Return the first characters of a file, whatever it is."""
    with file.open() as stream:
        return stream.read(1_000).decode("utf-8", "replace")


def hashes(files: Iterable[InputFile]) -> list[dict[str, str]]:
    """Return name and SHA-256 of files, for the provenance of what was read from them."""
    found = []
    for file in files:
        with file.open() as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
            found.append({"name": file.name, "sha256": digest})
    return found


def read_bytes(file: InputFile, report: Report) -> bytes | None:
    """Read a file; None, with the reason reported, if it is too large."""
    if refusal := too_large(file.size):
        report.error(refusal, Place(file.name))
        return None
    with file.open() as stream:
        return stream.read()


def read_text(file: InputFile, report: Report) -> str | None:
    """Read a file as text; None, with the reason reported, if it is too large or not text."""
    data = read_bytes(file, report)
    return None if data is None else decode(file.name, data, report)


def decode(name: str, data: bytes, report: Report) -> str | None:
    """Decode the bytes of a file; None, with the reason reported, if they are not text."""
    try:
        found = decoding.decode(data)
    except decoding.UndecodableError as error:
        report.error(error.message, Place(name, error.row))
        return None
    add_notes(name, found.notes, report)
    report.saw(name, encoding=found.encoding)
    return found.text


def add_notes(name: str, notes: Iterable[decoding.Note], report: Report) -> None:
    """Report what was done to a file, or what a person should look at there."""
    for severity, text, row in notes:
        add = report.warn if severity == "warning" else report.note
        add(text, Place(name, row))
