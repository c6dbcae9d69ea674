"""Attachments of segments in tables and campaign files: recordings, pictures and notes.

A segment's `beside` is a dictionary of plain values. As read, it names its file under `media`; once
the file is stored, `file`, `kind` and `type` replace that. Other keys: `start` and `end` in
seconds of the recording, `alt`, `transcript`, `glossary`, `register`, `instructions`, and
`is_source` if the segment has no other source than the file.
"""

import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from django.conf import settings

from annotation.models import TestSet
from annotation.uploads.drafts import SegmentDraft
from annotation.uploads.files import InputFile, size_of
from annotation.uploads.media.storage import (
    RefusedFileError,
    StoredFile,
    forget_unused,
    recall,
    store_file,
)
from annotation.uploads.problems import Place, Report
from metaeval.messages import message, plural, truncated

# Read recordings and pictures as they were sent: single files and ZIP archives.

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
MOST_FILES = 20_000
# What a damaged archive raises while it is read.
FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


@dataclass
class SentFiles:
    """The files that segments may name, by their paths in the archives."""

    files: dict[str, InputFile] = field(default_factory=dict)
    by_base: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, file: InputFile) -> bool:
        """Add a file; False where there is one of this name."""
        if name in self.files:
            return False
        self.files[name] = file
        self.by_base.setdefault(PurePosixPath(name).name, []).append(name)
        return True

    def find(self, wanted: str) -> list[str]:
        """Return the names of the files with this path, or with this last part of a path."""
        name = wanted.replace("\\", "/").lstrip("./")
        if name in self.files:
            return [name]
        return self.by_base.get(PurePosixPath(name).name, [])


def gather(files: Iterable[InputFile], report: Report) -> SentFiles:
    """List what was sent, archives opened but nothing unpacked; faults go to the report."""
    found = SentFiles()
    for file in files:
        for name, inner in _members(file, report):
            if not found.add(name, inner):
                text = message("media.twice", "Two files have this name.")
                report.error(text, Place(name))
    return found


def _members(file: InputFile, report: Report) -> Iterator[tuple[str, InputFile]]:
    with file.open() as stream:
        is_archive = stream.read(4) in ZIP
    if not is_archive:
        yield file.name, file
        return
    try:
        with file.open() as stream, zipfile.ZipFile(stream) as archive:
            infos = [info for info in archive.infolist() if _is_file(info)]
    except (*FAULTS, ValueError) as error:
        text = message(
            "media.archive",
            "The archive cannot be read. Make it again as a ZIP file. The ZIP reader says: "
            "“{reason}”.",
            reason=str(error),
        )
        report.error(text, Place(file.name))
        return
    if _fits(infos, file.name, report):
        for info in infos:
            yield info.filename, _inside(file, info)


def _is_file(info: zipfile.ZipInfo) -> bool:
    """Return False for folders and for files that operating systems add."""
    path = PurePosixPath(info.filename)
    return not (info.is_dir() or path.name.startswith(".") or "__MACOSX" in path.parts)


def _fits(infos: list[zipfile.ZipInfo], name: str, report: Report) -> bool:
    """Check the sizes that the archive states: no more than that is unpacked of each file."""
    total = sum(info.file_size for info in infos)
    if any(info.flag_bits & 1 for info in infos):
        text = message("media.password", "The archive has a password. Send it without one.")
        report.error(text, Place(name))
    elif len(infos) > MOST_FILES:
        text = message(
            "media.too-many-files",
            "The archive has {n} files; the limit is {limit}.",
            n=len(infos),
            limit=MOST_FILES,
        )
        report.error(text, Place(name))
    elif total > settings.MAX_UNPACKED_BYTES:
        text = message(
            "media.unpacked",
            "The size of the unpacked archive is {size}; the limit is {limit}.",
            size=size_of(total),
            limit=size_of(settings.MAX_UNPACKED_BYTES),
        )
        report.error(text, Place(name))
    else:
        return True
    return False


def _inside(file: InputFile, info: zipfile.ZipInfo) -> InputFile:
    def opened() -> BinaryIO:
        return cast(BinaryIO, zipfile.ZipFile(file.open()).open(info))

    return InputFile(info.filename, info.file_size, opened)


TEXTS = ("alt", "transcript", "glossary", "register", "instructions")
TIMES = {"media_start": "start", "media_end": "end"}
COLUMNS = ("media", *TIMES, *TEXTS)
# The source of a segment that has a file and no transcript.
NOT_TEXT = "[the source is not text]"
# The name of a file that is stored already: its hash.
HASHED = re.compile(r"([0-9a-f]{64})(\.[a-z0-9]+)?")
# The most seconds of a recording: a week.
LONGEST = 7 * 24 * 3600
Where = Callable[[int, str], Place]


def read_attachments(
    values: Mapping[str, Any], place: Callable[[str], Place], report: Report
) -> Any:
    """Return the values of `COLUMNS` in a row or object; {} if it has none.

    `place` returns the place of a column. What is wrong goes to the report.
    """
    attached: dict[str, Any] = {}
    for name in ("media", *TEXTS):
        value = values.get(name)
        if value is not None and not isinstance(value, str):
            text = message("media.no-text", "“{column}” is not text.", column=name)
            report.error(text, place(name))
        elif value and value.strip():
            attached[name] = value.replace("\r\n", "\n").strip()
    for name, key in TIMES.items():
        if (raw := values.get(name)) not in (None, ""):
            attached[key] = _seconds(raw, place(name), report)
    return _checked(attached, place, report)


def _seconds(raw: Any, place: Place, report: Report) -> float:
    try:
        seconds = math.nan if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError):
        seconds = math.nan
    if 0 <= seconds <= LONGEST:
        return round(seconds, 3)
    text = message(
        "media.seconds", "Expected seconds from the beginning of the recording, such as 12.4."
    )
    report.error(text, place)
    return 0.0


def _checked(
    attached: dict[str, Any], place: Callable[[str], Place], report: Report
) -> dict[str, Any]:
    if "end" in attached and attached["end"] <= attached.get("start", 0):
        text = message("media.end-before-start", "The end is not after the start.")
        report.error(text, place("media_end"))
    alone = {"start", "end", "alt", "transcript"} & set(attached)
    if alone and "media" not in attached:
        text = message(
            "media.no-file-for", "The file for {fields} is missing.", fields=sorted(alone)
        )
        report.error(text, place("media"))
    return attached


def use_file_as_source(segment: SegmentDraft) -> None:
    """Set the source that metrics read for a segment with a file and without a source text."""
    if not segment.source.strip() and "media" in segment.attachments:
        segment.source = segment.attachments.get("transcript", NOT_TEXT)
        segment.attachments["is_source"] = True


def source_kinds(test_set: TestSet) -> set[str]:
    """Return the kinds of its sources: `audio`, `video`, `image`, empty for texts (one query)."""
    rows = test_set.segments.values_list("beside__is_source", "beside__kind").distinct()
    return {kind if is_source else "" for is_source, kind in rows}


def attach(
    segments: Sequence[SegmentDraft], files: Iterable[InputFile], report: Report, place: Where
) -> None:
    """Store the files that segments name, and replace the names by hashes and formats.

    `place(i, "media")` is the place where segment i names its file. What is wrong goes to the
    report.
    """
    sent = gather(files, report)
    attachments = enumerate(each.attachments for each in segments)
    named = {i: each["media"] for i, each in attachments if "media" in each}
    if named:
        forget_unused()
    seen: dict[str, StoredFile | None] = {}
    used: set[str] = set()
    for i, name in named.items():
        if name not in seen:
            seen[name] = _stored(name, sent, used, report, place(i, "media"))
        if stored := seen[name]:
            _put(segments[i].attachments, stored, report, place, i)
    if unused := sorted(set(sent.files) - used):
        text = plural(
            "media.unused",
            "Skipped {n} file that no segment names: {files}.",
            "Skipped {n} files that no segment names: {files}.",
            n=len(unused),
            files=truncated(unused),
        )
        report.warn(text)


def _put(
    attached: dict[str, Any], stored: StoredFile, report: Report, place: Where, i: int
) -> None:
    if stored.format.kind == "image" and {"start", "end"} & set(attached):
        text = message("media.picture-times", "A picture has no start and end.")
        report.error(text, place(i, "media_start"))
    del attached["media"]
    attached |= {
        "file": stored.sha256,
        "kind": stored.format.kind,
        "type": stored.format.content_type,
    }


def _stored(
    name: str, sent: SentFiles, used: set[str], report: Report, place: Place
) -> StoredFile | None:
    found = sent.find(name)
    hashed = HASHED.fullmatch(name)
    if len(found) > 1:
        text = message(
            "media.ambiguous",
            "“{file}” may be any of {candidates}. Give the whole path.",
            file=name,
            candidates=truncated(found),
        )
        report.error(text, place)
    elif not found and hashed and (stored := recall(hashed[1])):
        return stored
    elif not found:
        text = message("media.missing", "The file “{file}” was not sent.", file=name)
        report.error(text, place)
    else:
        used.add(found[0])
        try:
            return store_file(sent.files[found[0]])
        except (RefusedFileError, *FAULTS) as error:
            reason = (
                error.message
                if isinstance(error, RefusedFileError)
                else message(
                    "media.unreadable",
                    "It cannot be read. The reader says: “{reason}”.",
                    reason=str(error),
                )
            )
            text = message(
                "media.refused", "“{file}” is not accepted. {reason}", file=name, reason=reason
            )
            report.error(text, place)
    return None


def written_attachments(attached: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that `read_attachments` reads; a file has the hash of its content as a name."""
    values = {name: attached[name] for name in TEXTS if name in attached}
    times = {column: attached[key] for column, key in TIMES.items() if key in attached}
    return ({"media": attached["file"]} if "file" in attached else {}) | times | values
