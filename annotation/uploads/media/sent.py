"""Read recordings and pictures as they were sent: single files and ZIP archives."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from django.conf import settings

from annotation.uploads.files import InputFile, size_of
from annotation.uploads.problems import Place, Report
from metaeval.messages import message

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
