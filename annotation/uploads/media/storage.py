"""Store files in MEDIA_ROOT by the hash of their content, so that equal files are stored once.

Files are stored when an upload is checked. Those that no segment refers to are deleted after three
hours, when the token of the upload has expired.
"""

import hashlib
import logging
import os
import re
import secrets
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from annotation.models import Segment
from annotation.uploads.files import InputFile, size_of
from core import shared_files
from metaeval.messages import MessageError, message

logger = logging.getLogger(__name__)

# Recognise recordings and pictures by their content alone, not by name or stated type.
# Signatures: WHATWG MIME Sniffing (2025), sections 6.1 and 6.2; Matroska's codec names (RFC
# 9559).

# Bytes at the beginning that are examined.
HEAD = 64 * 1024
AUDIO, VIDEO, IMAGE = "audio", "video", "image"
KNOWN = ("PNG", "JPEG", "WebP", "GIF", "WAV", "MP3", "Ogg", "M4A", "FLAC", "WebM", "MP4")


@dataclass(frozen=True)
class Format:
    """How it is shown (`audio`, `video`, `image`) and sent (`content_type`)."""

    kind: str
    content_type: str


PLAIN = (
    (b"\x89PNG\r\n\x1a\n", Format(IMAGE, "image/png")),
    (b"\xff\xd8\xff", Format(IMAGE, "image/jpeg")),
    (b"GIF87a", Format(IMAGE, "image/gif")),
    (b"GIF89a", Format(IMAGE, "image/gif")),
    (b"fLaC", Format(AUDIO, "audio/flac")),
    (b"ID3", Format(AUDIO, "audio/mpeg")),
)
# MPEG audio, layer III, with a bit rate and a sampling rate that exist.
MP3_FRAME = re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb][\x10-\xeb]")
MP3_RATE = 0b1100
AUDIO_BRANDS = (b"M4A ", b"M4B ")
VIDEO_BRANDS = (
    b"isom",
    b"iso2",
    b"iso4",
    b"iso5",
    b"iso6",
    b"mp41",
    b"mp42",
    b"avc1",
    b"M4V ",
    b"dash",
)
OGG_AUDIO = (b"\x01vorbis", b"OpusHead", b"\x7fFLAC", b"Speex   ")


def format_of(head: bytes) -> Format | None:
    """Return the format of a file by its beginning; None if it is not accepted."""
    for signature, found in PLAIN:
        if head.startswith(signature):
            return found
    return next(filter(None, (look(head) for look in LOOKS)), None)


def _riff(head: bytes) -> Format | None:
    kinds = {b"WAVE": Format(AUDIO, "audio/wav"), b"WEBP": Format(IMAGE, "image/webp")}
    return kinds.get(head[8:12]) if head.startswith(b"RIFF") else None


def _mp3(head: bytes) -> Format | None:
    is_frame = MP3_FRAME.match(head) and head[2] & MP3_RATE != MP3_RATE
    return Format(AUDIO, "audio/mpeg") if is_frame else None


def _ogg(head: bytes) -> Format | None:
    """Recognise audio only: no current browser plays Theora."""
    is_audio = head.startswith(b"OggS") and any(name in head[:512] for name in OGG_AUDIO)
    return Format(AUDIO, "audio/ogg") if is_audio else None


def _mp4(head: bytes) -> Format | None:
    if head[4:8] != b"ftyp":
        return None
    if head[8:12] in AUDIO_BRANDS:
        return Format(AUDIO, "audio/mp4")
    return Format(VIDEO, "video/mp4") if head[8:12] in VIDEO_BRANDS else None


def _webm(head: bytes) -> Format | None:
    if not head.startswith(b"\x1a\x45\xdf\xa3") or b"webm" not in head[:64]:
        return None
    has_pictures = any(name in head for name in (b"V_VP8", b"V_VP9", b"V_AV1"))
    return Format(VIDEO, "video/webm") if has_pictures else Format(AUDIO, "audio/webm")


LOOKS: tuple[Callable[[bytes], Format | None], ...] = (_riff, _mp3, _ogg, _mp4, _webm)


BLOCK = 1024 * 1024
SCAN_SECONDS = 60
# Its name in a bucket.
MEDIA = "media"
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

    Raises RefusedFileError for one that is too large, in an unknown format, or refused by the
    operator's virus scanner.
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
        _scan(temporary)
        path = _folder() / digest.hexdigest()
        os.replace(temporary, path)
        shared_files.publish(path, f"{MEDIA}/{path.name}")
    finally:
        temporary.unlink(missing_ok=True)
    return digest.hexdigest()


def _scan(path: Path) -> None:
    """Let `SCAN_COMMAND` read a file; it exits with 0 for a clean one, and with 1 for a virus."""
    if not settings.SCAN_COMMAND:
        return
    try:
        with path.open("rb") as file:
            code = subprocess.run(  # noqa: S603
                settings.SCAN_COMMAND, stdin=file, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=SCAN_SECONDS, check=False,
            ).returncode  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.warning("The virus scanner cannot be used: %s", error)
        code = -1
    if code == 1:
        raise RefusedFileError(message("media.virus", "This server's virus scanner refuses it."))
    if code:
        raise RefusedFileError(
            message("media.not-scanned", "This server's virus scanner did not check it. Ask a site "
                    "admin to repair the scanner, then send the file again.")
        )  # fmt: skip


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
    path = _folder() / sha256
    with suppress(FileNotFoundError):
        shared_files.fetch(path, f"{MEDIA}/{sha256}")
    return path


def recall(sha256: str) -> StoredFile | None:
    """Return a stored file and renew its time of deletion; None if there is none."""
    path = path_of(sha256)
    try:
        os.utime(path)
        with path.open("rb") as stream:
            found = format_of(stream.read(HEAD))
        shared_files.publish(path, f"{MEDIA}/{sha256}")
    except FileNotFoundError:
        return None
    return StoredFile(sha256, found) if found else None


def forget_unused() -> int:
    """Delete old files that no segment refers to; return how many."""
    limit = time.time() - MAX_AGE
    old = [path for path in _folder().iterdir() if _changed(path) < limit]
    unused = {path.name for path in old} - _used() if old else set()
    for name in unused:
        (_folder() / name).unlink(missing_ok=True)
    stored = [key for key, at in shared_files.listing(MEDIA) if at < limit]
    used = _used() if stored else set()
    for key in stored:
        if key.rpartition("/")[2] not in used:
            shared_files.remove(key)
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
