"""Unpack archives, or files chosen together, from untrusted users.

Nothing is written outside the target folder, links are neither followed nor made, and bytes are
counted while unpacking, because an archive may state wrong sizes. Only text files of the layout are
unpacked; pickles are refused by name, and nothing is executed.
"""

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO

from django.conf import settings
from django.template.defaultfilters import filesizeformat

from annotation.uploads import InputFile
from annotation.uploads.files import too_large
from core.messages import invalid
from metaeval.messages import printable
from metrics.datasets.mtme.folder import PARTS, SUFFIXES

CHUNK = 1024 * 1024
MAX_FILES = 20_000
LONGEST = 200
PICKLES = (".pkl", ".pickle", ".npy", ".npz", ".pt", ".pth", ".joblib", ".dill")
UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:\ud800-\udfff]")
UNPACKERS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
    NotImplementedError, RuntimeError,
)  # fmt: skip
Entries = Iterable[tuple[str, BinaryIO]]


@contextmanager
def unpacked(archive: InputFile) -> Iterator[Path]:
    """Unpack a .zip, .tar or .tar.gz within the context; yield the folder.

    Raises ValidationError for other files, and for an archive that is too large or damaged, or that
    contains links, paths that lead outside, or pickles.
    """
    if refusal := too_large(archive.size):
        raise invalid(
            "mtme.archive-too-large", "{archive}: {reason}", archive=archive.name, reason=refusal
        )
    with TemporaryDirectory(prefix="mtme-") as folder, archive.open() as stream:
        # The folder has the archive's name, which messages show.
        top = _stem(archive.name)
        (Path(folder) / top).mkdir()
        try:
            write(_entries(stream), Path(folder) / top, top)
        except BROKEN as error:
            reason = printable(str(error)) or type(error).__name__
            raise invalid(
                "mtme.damaged",
                "The archive {archive} cannot be unpacked: {reason}.",
                archive=archive.name,
                reason=reason,
            ) from error
        yield Path(folder) / top


def packed(files: Iterable[tuple[str, InputFile]]) -> bytes:
    """Return files with their relative paths as one archive, which is then unpacked like others."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, file in files:
            with file.open() as stream:
                archive.writestr(path, stream.read())
    return buffer.getvalue()


def write(entries: Entries, folder: Path, top: str) -> None:
    """Write the entries of the layout to a folder; `top` is the name of an unnamed test set."""
    limit = _Limit()
    seen: Counter[str] = Counter()
    for path, stream in entries:
        place = _place(path, top)
        if place is None:
            continue
        seen[place.casefold()] += 1
        if seen[place.casefold()] > 1:
            raise invalid("mtme.file-twice", "The archive has {path} twice.", path=path)
        if len(seen) > MAX_FILES:
            raise invalid(
                "mtme.too-many-files", "The archive has more than {most} files.", most=MAX_FILES
            )
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            while data := stream.read(CHUNK):
                limit.count(len(data))
                out.write(data)


class _Limit:
    """Counts unpacked bytes; raises ValidationError where there are too many."""

    def __init__(self) -> None:
        self.left = settings.MAX_UNPACKED_BYTES

    def count(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            limit = filesizeformat(settings.MAX_UNPACKED_BYTES)
            raise invalid(
                "mtme.too-large",
                "The unpacked archive is larger than {limit}. Import the language pairs "
                "one by one, or use manage.py import_mtme on the folder.",
                limit=str(limit),
            )


def _place(path: str, top: str) -> str | None:
    """Return where a file goes, `set/part/...`; None for one that is not of the layout.

    Raises ValidationError for a path that leads outside, and for pickles.
    """
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or UNSAFE.search(path):
        raise invalid(
            "mtme.unsafe-path",
            "The path {path} leads outside the archive, or is not portable.",
            path=printable(path),
        )
    if path.casefold().endswith(PICKLES):
        raise invalid(
            "mtme.pickle", "{path}: pickles and arrays are not read. Remove this file.", path=path
        )
    found = next((place for place, part in enumerate(parts) if part in PARTS), None)
    if found is None or path.endswith("/") or "__MACOSX" in parts or parts[-1].startswith("."):
        return None
    if not parts[-1].endswith(SUFFIXES) or max(map(len, parts)) > LONGEST:
        return None
    return "/".join([*(parts[:found] or (top,)), *parts[found:]])


def _entries(stream: BinaryIO) -> Entries:
    head = stream.read(8)
    stream.seek(0)
    if head.startswith(b"PK"):
        return _zipped(stream)
    for magic, opened in UNPACKERS:
        if head.startswith(magic):
            return _tarred(opened(stream, "rb"))
    return _tarred(stream)


def _zipped(stream: BinaryIO) -> Entries:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if stat.S_ISLNK(info.external_attr >> 16):
                raise invalid(
                    "mtme.link", "{path}: links are not unpacked.", path=printable(info.filename)
                )
            if not info.is_dir():
                with archive.open(info) as entry:
                    yield info.filename, entry  # type: ignore[misc]


def _tarred(stream: object) -> Entries:
    """Read sequentially; skipped entries and headers are counted, too."""
    with tarfile.open(fileobj=_Counted(stream), mode="r|") as archive:  # type: ignore[call-overload]
        for member in archive:
            if member.isdir():
                continue
            if not member.isreg():
                raise invalid(
                    "mtme.link-or-device",
                    "{path}: links and devices are not unpacked.",
                    path=printable(member.name),
                )
            if entry := archive.extractfile(member):
                yield member.name.removeprefix("./"), entry


class _Counted:
    """A stream that ends after too many bytes."""

    def __init__(self, stream: object) -> None:
        self.stream, self.limit = stream, _Limit()
        self.limit.left *= 2  # headers and padding of small files

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        asked = min(size, max(self.limit.left, 0) + 1)
        data: bytes = self.stream.read(asked)  # type: ignore[attr-defined]
        self.limit.count(len(data))
        return data


def _stem(name: str) -> str:
    """Return the name of an archive without its extension."""
    plain = re.sub(r"(\.tar)?\.(zip|tgz|tar|gz|bz2|xz)$", "", Path(name).name, flags=re.IGNORECASE)
    return UNSAFE.sub("-", plain).strip(". ") or "set"
