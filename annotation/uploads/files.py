"""Bytes to text: size limit, renamed binaries, encodings, line ends.

Texts are UTF-8. A byte order mark and CRLF line ends are accepted and mentioned; everything else
that is not plain UTF-8 is refused with what it looks like.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.template.defaultfilters import filesizeformat

from annotation.uploads.problems import Place, Report

MAGIC = (
    (b"PK\x03\x04", "a ZIP archive (or an Excel or Word file). Unpack it, or export it as text"),
    (b"PK\x05\x06", "an empty ZIP archive. Send the text files themselves"),
    (b"\x1f\x8b", "a gzip archive. Unpack it first"),
    (b"BZh", "a bzip2 archive. Unpack it first"),
    (b"\xfd7zXZ\x00", "an xz archive. Unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive. Unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive. Unpack it first"),
    (b"Rar!\x1a", "a RAR archive. Unpack it first"),
    (b"%PDF-", "a PDF document. Export its text first"),
    (b"{\\rtf", "an RTF document. Save it as plain text"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file. Export it as text"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PAR1", "a Parquet file. Export it as TSV or JSONL"),
    (b"SQLite format 3\x00", "an SQLite database. Export the table as TSV"),
    (b"\x7fELF", "a program"),
)
WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
SAMPLE = 65_536
CJK = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")
KANA = re.compile("[\u3041-\u30ff]")


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


def read_text(file: InputFile, report: Report) -> str | None:
    """Read a file as UTF-8 with `\\n` line ends; None, with errors reported, if it is not text."""
    if message := too_large(file.size):
        report.error(message, Place(file.name))
        return None
    with file.open() as stream:
        return decode(file.name, stream.read(), report)


def decode(name: str, data: bytes, report: Report) -> str | None:
    """Decode the bytes of a file; None, with the reason reported, if they are not UTF-8 text."""
    if reason := _not_text(data):
        report.error(reason, Place(name))
        return None
    if data.startswith(codecs.BOM_UTF8):
        report.note("a byte order mark at the start is left out", Place(name))
        data = data[len(codecs.BOM_UTF8) :]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _report_encoding(name, data, error.start, report)
        return None
    return _unify_line_ends(name, text, report)


def lines_of(text: str) -> list[str]:
    """Split at line feeds only, so that U+2028 or U+0085 inside a segment split nothing."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _not_text(data: bytes) -> str:
    for mark, encoding in WIDE_MARKS:
        if data.startswith(mark):
            begin = mark.hex(" ").upper()
            return f"this is {encoding} text (it begins with {begin}). Save it as UTF-8."
    for mark, what in MAGIC:
        if data.startswith(mark):
            return f"this is no text file but {what}."
    sample = data[:SAMPLE]
    if encoding := _wide_without_mark(sample):
        return f"this looks like {encoding} text without a byte order mark. Save it as UTF-8."
    # Text may hold a stray NUL, whose row the checks name; binaries hold many.
    if len(sample) >= 64 and sample.count(0) > len(sample) / 20:
        return "this is no text file: it is full of NUL bytes."
    return ""


def _wide_without_mark(sample: bytes) -> str:
    """Recognise UTF-16 by line feeds and blanks that have a NUL beside them on one side only."""
    even, odd = sample[0::2], sample[1::2]
    for code, low, high in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        zeros = high.count(0)
        if zeros < 2 or low.count(0) > zeros / 20:
            continue
        text = sample[: len(sample) // 2 * 2].decode(code, errors="replace")
        usual = sum(c.isprintable() or c in "\t\r\n" for c in text)
        if usual > 0.98 * len(text) and zeros >= 0.01 * len(high):
            return code.upper()
    return ""


def _report_encoding(name: str, data: bytes, offset: int, report: Report) -> None:
    row = data.count(b"\n", 0, offset) + 1
    start = data.rfind(b"\n", 0, offset) + 1
    end = data.find(b"\n", offset)
    label, codec = _guess(data[:SAMPLE] if offset < SAMPLE else data[start : start + SAMPLE])
    line = data[max(start, offset - 20) : end if end >= 0 else len(data)][:40]
    reading = line.decode(codec, errors="replace").strip()
    report.error(
        f"byte 0x{data[offset]:02X} (byte {offset + 1:,} of the file) is not UTF-8. The file "
        f"looks like {label}: “{reading}”. Save it as UTF-8.",
        Place(name, row),
    )


def _guess(sample: bytes) -> tuple[str, str]:
    """Return the name and the codec of the likeliest legacy encoding of a sample."""
    high = sum(byte >= 0x80 for byte in sample)
    # In GB 2312 both bytes of a character are high, so a Latin-1 text hardly ever decodes.
    for label, codec, wanted in (
        ("GB 18030 or GBK", "gb2312", CJK),
        ("Shift JIS", "shift_jis", KANA),
    ):
        text = sample.decode(codec, errors="replace")
        if 2 * len(wanted.findall(text)) > 0.6 * high and text.count("\ufffd") < 0.05 * high:
            return label, "gb18030" if codec == "gb2312" else codec
    if any(0x80 <= byte <= 0x9F for byte in sample):
        return "Windows-1252", "cp1252"
    return "Latin-1 (ISO 8859-1) or Windows-1252", "latin-1"


def _unify_line_ends(name: str, text: str, report: Report) -> str:
    if "\r" not in text:
        return text
    if "\r\n" in text:
        report.note("Windows line ends (CRLF) are read as line ends", Place(name))
        return text.replace("\r\n", "\n")
    if "\n" not in text:
        report.note("carriage returns are read as line ends", Place(name))
        return text.replace("\r", "\n")
    return text
