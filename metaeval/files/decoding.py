"""Bytes to text: encodings, byte order marks, renamed binaries. The first step of every reader.

UTF-8, UTF-16 and UTF-32 are read as such. Text that is neither is read as Windows-1252 where that
gives words, with a warning that shows some; anything else is refused with what it looks like.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file. Save it as .xlsx, or export it as text"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PAR1", "a Parquet file. Export it as TSV or JSONL"),
    (b"SQLite format 3\x00", "an SQLite database. Export the table as TSV"),
    (b"\x7fELF", "a program"),
)
# UTF-32 first: its little-endian mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
SAMPLE = 65_536
# Without tabs and the ends of lines and pages.
CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r"})
CJK = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")
KANA = re.compile("[\u3041-\u30ff]")
# In Windows-1252, marks of typesetting stand anywhere; letters stand within words.
TYPESET = frozenset("‚„…‹›‘’“”•–—™€«»¿¡°§©®´·½¼¾²³±×£¥\xa0\xad")
WORD = re.compile(r"[A-Za-z][^\W\d_]*|[^\W\d_]+[A-Za-z]")

Severity = Literal["error", "warning", "note"]


class Remark(NamedTuple):
    """What was done to a file, or what a person should look at; `row` counts from 1."""

    severity: Severity
    message: str
    row: int | None = None


class UndecodableError(ValueError):
    """Bytes are not the text of any encoding that is read; `row` is the first wrong one."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


@dataclass(frozen=True)
class Decoded:
    """A text, its line ends as they stand, and what was done to get it."""

    text: str
    remarks: list[Remark] = field(default_factory=list)


def decode(data: bytes) -> Decoded:
    """Return the text of a file. Raises UndecodableError for what is none.

    Examples
    --------
    >>> text = "Schöne Grüße aus Köln"
    >>> decode(text.encode("utf-16")).text == decode(text.encode("cp1252")).text == text
    True
    """
    remarks: list[Remark] = []
    for mark, codec in MARKS:
        if data.startswith(mark) and codec != "utf-8":
            remarks.append(Remark("note", f"this is {codec.upper()[:6]} text"))
            return _wide(data[len(mark) :], codec, remarks)
    if data.startswith(codecs.BOM_UTF8):
        remarks.append(Remark("note", "a byte order mark at the start is left out"))
        data = data[len(codecs.BOM_UTF8) :]
    for magic, what in MAGIC:
        if data.startswith(magic):
            raise UndecodableError(f"this is no text file but {what}.")
    sample = data[:SAMPLE]
    if codec := _wide_without_mark(sample):
        remarks.append(Remark("note", f"this is {codec.upper()} text without a byte order mark"))
        return _wide(data, codec, remarks)
    # Text may hold a stray one, whose row the checks name; binaries hold many.
    n_controls = len(sample) - len(sample.translate(None, CONTROLS))
    if len(sample) >= 64 and n_controls > len(sample) / 20:
        raise UndecodableError("this is no text file: it is full of control characters.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text, warning = _legacy(data, error.start)
        remarks.append(warning)
    return Decoded(_without_mac_ends(text, remarks), remarks)


def split_lines(text: str) -> list[str]:
    """Split at LF and CRLF only, so that U+2028 or U+0085 inside a segment split nothing.

    Examples
    --------
    >>> split_lines("one\\r\\ntwo\\u2028\\n")
    ['one', 'two\\u2028']
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _wide(data: bytes, codec: str, remarks: list[Remark]) -> Decoded:
    try:
        return Decoded(_without_mac_ends(data.decode(codec), remarks), remarks)
    except UnicodeDecodeError:
        raise UndecodableError(f"this is broken {codec.upper()} text. Save it as UTF-8.") from None


def _without_mac_ends(text: str, remarks: list[Remark]) -> str:
    if "\r\n" in text:
        remarks.append(Remark("note", "Windows line ends (CRLF) are read as line ends"))
    elif "\r" in text and "\n" not in text:
        remarks.append(Remark("note", "carriage returns are read as line ends"))
        return text.replace("\r", "\n")
    return text


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
            return code
    return ""


def _legacy(data: bytes, offset: int) -> tuple[str, Remark]:
    """Read text that is no UTF-8 from `offset` on as Windows-1252, or refuse it."""
    row = data.count(b"\n", 0, offset) + 1
    start = data.rfind(b"\n", 0, offset) + 1
    label, codec = _guess(data[:SAMPLE] if offset < SAMPLE else data[start : start + SAMPLE])
    end = data.find(b"\n", offset)
    line = data[max(start, offset - 20) : end if end >= 0 else len(data)][:40]
    shown = line.decode(codec, errors="replace").strip()
    if codec == "cp1252" and (text := _windows_1252(data)) is not None:
        warning = (
            f"this is no UTF-8, and read as Windows-1252: “{shown}”. If letters are wrong, save it "
            "as UTF-8"
        )
        return text, Remark("warning", warning, row)
    raise UndecodableError(
        f"byte 0x{data[offset]:02X} (byte {offset + 1:,} of the file) is not UTF-8. The file "
        f"looks like {label}: “{shown}”. Save it as UTF-8.",
        row,
    )


def _windows_1252(data: bytes) -> str | None:
    """Return the text where its letters make words of mostly plain letters, else None."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    sample = text if len(text) <= 4 * SAMPLE else text[: 4 * SAMPLE]
    special = [c for c in sample if c > "\x7f" and c not in TYPESET]
    in_words = sum(sum(c > "\x7f" for c in word) for word in WORD.findall(sample))
    plain = sum(c.isascii() and c.isalpha() for c in sample)
    has_words = in_words > 0.9 * len(special) and len(special) < 0.3 * plain
    return text if has_words and all(c.isalpha() for c in special) else None


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
    return "Latin-1 (ISO 8859-1) or Windows-1252", "cp1252"
