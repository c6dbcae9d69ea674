"""Recognise recordings and pictures by their content alone, not by name or stated type.

Signatures: WHATWG MIME Sniffing (2025), sections 6.1 and 6.2; Matroska's codec names (RFC 9559).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

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
