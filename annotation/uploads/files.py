"""Files that were sent or named, and their text: size limit, encoding, notes on both."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path, PurePath
from string import ascii_uppercase
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

from annotation.uploads.drafts import FULL_LENGTH
from annotation.uploads.problems import ENCODING, Place, Report
from metaeval.files import decoding
from metaeval.messages import Message, MessageError, message

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
        found = decoding.decode(data, encoding=report.choice(name, ENCODING))
    except decoding.UndecodableError as error:
        report.error(error.message, Place(name, error.row))
        report.saw(name, encodings=error.encodings)
        return None
    add_notes(name, found.notes, report)
    report.saw(name, encoding=found.encoding, encodings=found.encodings)
    return found.text


def add_notes(name: str, notes: Iterable[decoding.Note], report: Report) -> None:
    """Report what was done to a file, or what a person should look at there."""
    for severity, text, row in notes:
        add = report.warn if severity == "warning" else report.note
        add(text, Place(name, row))


# Define what a person sends: files by role and a description, with names of systems.

RATIO = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", re.ASCII)
LABEL_WITH_RATIO = re.compile(r"@\s*[\d.]+\s*%?$", re.ASCII)
LONGEST_SLUG, LONGEST_NAME = 80, 120
TEXT_ENDINGS = (".txt", ".out", ".hyp", ".sys")


class RatioError(MessageError, ValueError):
    """A text is not a length ratio."""


@dataclass(frozen=True)
class SystemFile:
    """Plain text, one output per line, of the system that `label` names (`name` or `name@0.8`).

    Without a label, the file name has it (`label_of_file`).
    """

    file: InputFile
    label: str = ""


@dataclass
class Submission:
    """Files and description of one upload.

    A language that is empty is the one that the stored test set or a table states.

    Segments come from `source` (plain text) or from one of the `tables`; outputs from `systems`
    (plain text), from `system:` columns or from tables of outputs. Without segments the stored
    ones of the test set `slug` are meant.

    `media` are the recordings and pictures, or ZIP archives of them, that tables name.

    `columns` maps a file name, or an empty one for all tables, to the fields that a person chose
    for columns (see `columns.propose`). With `decode`, HTML entities become characters.
    `lines` is the meaning of line n of files without keys (`annotation.uploads.tables.lines`).
    `pair` is `all` for a test set of each language pair that tables name, else empty.
    `skip` are kinds of problems whose rows are skipped (`annotation.uploads.tables.skipping`).
    """

    slug: str
    name: str
    source_language: str
    target_language: str
    description: str = ""
    project: str = ""
    ratio: Decimal = FULL_LENGTH
    source: InputFile | None = None
    references: list[InputFile] = field(default_factory=list)
    documents: InputFile | None = None
    systems: list[SystemFile] = field(default_factory=list)
    tables: list[InputFile] = field(default_factory=list)
    media: list[InputFile] = field(default_factory=list)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    decode: bool = False
    lines: str = ""
    pair: str = ""
    skip: frozenset[str] = frozenset()

    @property
    def files(self) -> list[InputFile]:
        """All files, for their total size."""
        single = [file for file in (self.source, self.documents) if file is not None]
        return [
            *single,
            *self.references,
            *(s.file for s in self.systems),
            *self.tables,
            *self.media,
        ]


def of_pair(submission: Submission, source: str, target: str) -> Submission:
    """Return the submission of one of several language pairs, with the pair in its names."""
    code = f"{source}-{target}"
    return replace(
        submission,
        slug=f"{submission.slug[: LONGEST_SLUG - len(code) - 1]}-{code}".lower(),
        name=f"{submission.name[: LONGEST_NAME - len(code) - 1]} {code}",
        source_language=source,
        target_language=target,
    )


def reference_name(number: int) -> str:
    """Name the references of plain files in their order: A, B, …, Z, A2, B2, …"""
    turn, letter = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[letter] + (str(turn + 1) if turn else "")


def label_of_file(file_name: str, target_language: str = "") -> str:
    """Return the system label that a file name carries: `baseline@0.8.txt` is `baseline@0.8`.

    Only a usual ending of text files or the target language's code is removed, because systems
    have names such as `uedin-nmt.4723`.
    """
    base = PurePath(file_name).name
    for ending in (*TEXT_ENDINGS, f".{target_language.lower()}"):
        if len(ending) > 1 and base.lower().endswith(ending) and len(base) > len(ending):
            return base[: -len(ending)]
    return base


def split_label(label: str, default: Decimal = FULL_LENGTH) -> tuple[str, Decimal]:
    """Split `name@0.8` or `name@80%` into name and ratio; without `@` the default holds.

    Raises RatioError if what follows `@` is not a ratio.
    """
    name, mark, ratio = label.rpartition("@")
    if not mark:
        return label.strip(), default
    return name.strip(), parse_ratio(ratio)


def parse_ratio(text: str) -> Decimal:
    """Read a length ratio, as a share (`0.8`) or in percent (`80%`). Raises RatioError."""
    found = RATIO.fullmatch(text.strip())
    if not found:
        raise RatioError(
            message(
                "ratio.syntax",
                "“{text}” is not a length ratio. Use a number such as 0.8 or 80%.",
                text=text.strip(),
            )
        )
    value = Decimal(found[1])
    return value / 100 if found[2] else value
