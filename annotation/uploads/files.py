"""Files that were sent or named, and their text: size limit, encoding, what was done to it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.template.defaultfilters import filesizeformat

from annotation.uploads.problems import Place, Report
from metaeval.files import decoding


@dataclass(frozen=True)
class InputFile:
    """A file that was sent or named, not yet read. `size` is in bytes."""

    name: str
    size: int
    open: Callable[[], BinaryIO]

    @classmethod
    def at(cls, path: Path) -> InputFile:
        """The file at a path. Raises OSError if there is none."""
        return cls(path.name, path.stat().st_size, lambda: path.open("rb"))

    @classmethod
    def sent(cls, upload: UploadedFile[Any]) -> InputFile:
        """A file of a form, which may be opened several times."""
        return cls(upload.name or "file", upload.size or 0, lambda: _opened(upload))

    @classmethod
    def holding(cls, name: str, data: bytes) -> InputFile:
        """Bytes in memory under a file name."""
        return cls(name, len(data), lambda: io.BytesIO(data))


def _opened(upload: UploadedFile[Any]) -> BinaryIO:
    """Open anew: closing an upload itself would delete it."""
    if isinstance(upload, TemporaryUploadedFile):
        return Path(upload.temporary_file_path()).open("rb")
    upload.seek(0)
    return io.BytesIO(upload.read())


def too_large(size: int) -> str:
    """Return the sentence that refuses `size` bytes, or nothing if they are within the limit."""
    limit = settings.MAX_UPLOAD_BYTES
    if size <= limit:
        return ""
    return (
        f"{filesizeformat(size)} are more than the limit of {filesizeformat(limit)} for one "
        "import. Split the test set, or add the systems in several imports."
    )


def beginning(file: InputFile) -> str:
    """Return the first characters of a file, whatever it is."""
    with file.open() as stream:
        return stream.read(1_000).decode("utf-8", "replace")


def read_bytes(file: InputFile, report: Report) -> bytes | None:
    """Read a file; None, with the reason reported, if it is too large."""
    if message := too_large(file.size):
        report.error(message, Place(file.name))
        return None
    with file.open() as stream:
        return stream.read()


def read_text(file: InputFile, report: Report) -> str | None:
    """Read a file as text; None, with the reason reported, if it is too large or no text."""
    data = read_bytes(file, report)
    return None if data is None else decode(file.name, data, report)


def decode(name: str, data: bytes, report: Report) -> str | None:
    """Decode the bytes of a file; None, with the reason reported, if they are no text."""
    try:
        found = decoding.decode(data)
    except decoding.UndecodableError as error:
        report.error(error.message, Place(name, error.row))
        return None
    add_notes(name, found.notes, report)
    return found.text


def add_notes(name: str, notes: Iterable[decoding.Note], report: Report) -> None:
    """Report what was done to a file, or what a person should look at there."""
    for severity, text, row in notes:
        add = report.warn if severity == "warning" else report.note
        add(text, Place(name, row))
