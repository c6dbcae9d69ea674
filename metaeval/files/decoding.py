"""Bytes to text: encodings, byte order marks, renamed binaries. The first step of every reader.

UTF-8, UTF-16 and UTF-32 are recognised. Other text is read as the encoding that gives words, with a
warning that shows some of it (`metaeval.files.encodings`); where several do, one must be chosen.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from metaeval.files.encodings import (
    ENCODINGS,
    SHOWN,
    codec_of,
    is_certain,
    readings,
)
from metaeval.messages import Message, MessageError, message

# How files of other kinds begin, and what to do with each.
MAGIC = (
    (
        b"PK\x03\x04",
        message(
            "file.zip",
            "This is a ZIP archive (or an Excel or Word file), not text. Unpack it, or export it "
            "as text.",
        ),
    ),
    (
        b"PK\x05\x06",
        message("file.zip-empty", "This is an empty ZIP archive. Send the text files themselves."),
    ),
    (b"\x1f\x8b", message("file.gzip", "This is a gzip archive, not text. Unpack it first.")),
    (b"BZh", message("file.bzip2", "This is a bzip2 archive, not text. Unpack it first.")),
    (b"\xfd7zXZ\x00", message("file.xz", "This is an xz archive, not text. Unpack it first.")),
    (
        b"\x28\xb5\x2f\xfd",
        message("file.zstd", "This is a Zstandard archive, not text. Unpack it first."),
    ),
    (
        b"7z\xbc\xaf\x27\x1c",
        message("file.7z", "This is a 7-Zip archive, not text. Unpack it first."),
    ),
    (b"Rar!\x1a", message("file.rar", "This is a RAR archive, not text. Unpack it first.")),
    (
        b"%PDF-",
        message("file.pdf", "This is a PDF document, not a text file. Export its text first."),
    ),
    (
        b"{\\rtf",
        message("file.rtf", "This is an RTF document, not a text file. Save it as plain text."),
    ),
    (
        b"\xd0\xcf\x11\xe0",
        message(
            "file.office",
            "This is an old Excel or Word file, not a text file. Save it as .xlsx, or export it as "
            "text.",
        ),
    ),
    (b"\x89PNG", message("file.png", "This is a PNG picture, not text.")),
    (b"\xff\xd8\xff", message("file.jpeg", "This is a JPEG picture, not text.")),
    (b"GIF8", message("file.gif", "This is a GIF picture, not text.")),
    (
        b"PAR1",
        message("file.parquet", "This is a Parquet file, but plain text is expected here."),
    ),
    (
        b"SQLite format 3\x00",
        message("file.sqlite", "This is an SQLite database, not text. Export the table as TSV."),
    ),
    (b"\x7fELF", message("file.program", "This is a program, not text.")),
    (
        b"version https://git-lfs.github.com/",
        message(
            "file.git-lfs",
            "This is a pointer of Git LFS, not the file. Fetch the file with “git lfs pull”.",
        ),
    ),
)
OPEN_DOCUMENT = message(
    "file.open-document",
    "This is an OpenDocument file, but no spreadsheet. Save the table as ODS, XLSX or CSV.",
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
# Where a JIS text, which is ASCII otherwise, begins to be Japanese.
JIS = (b"\x1b$B", b"\x1b$@")

Severity = Literal["error", "warning", "note"]


class Note(NamedTuple):
    """What was done to a file, or what a person should look at; `row` counts from 1."""

    severity: Severity
    message: Message
    row: int | None = None


class UndecodableError(MessageError, ValueError):
    """Bytes are not text in a known encoding; `row` is the first wrong one.

    `encodings` are those to choose from, each with some of the text.
    """

    def __init__(
        self, message: Message, row: int | None = None, encodings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.row, self.encodings = row, dict(encodings or {})


@dataclass(frozen=True)
class Decoded:
    """A text with its original line endings, the encoding it had, and what was done to get it.

    Where the encoding was guessed, `encodings` are those to choose from, with some of the text.
    """

    text: str
    notes: list[Note] = field(default_factory=list)
    encoding: str = "UTF-8"
    encodings: dict[str, str] = field(default_factory=dict)


def decode(data: bytes, *, encoding: str = "") -> Decoded:
    """Return the text of a file. Raises UndecodableError if it is not text.

    A stated `encoding` is that of a file that is neither UTF-8 nor marked as another Unicode.

    Examples
    --------
    >>> text = "Schöne Grüße aus Köln"
    >>> decode(text.encode("utf-16")).text == decode(text.encode("cp1252")).text == text
    True
    """
    notes: list[Note] = []
    for mark, codec in MARKS:
        if data.startswith(mark) and codec != "utf-8":
            text = message(
                "file.encoding", "The file was read as {encoding}.", encoding=codec[:6].upper()
            )
            notes.append(Note("note", text))
            return _wide(data[len(mark) :], codec, notes)
    if data.startswith(codecs.BOM_UTF8):
        text = message("file.bom", "A byte order mark at the start of the file was removed.")
        notes.append(Note("note", text))
        data = data[len(codecs.BOM_UTF8) :]
    if data.startswith(b"PK") and b"mimetypeapplication/vnd.oasis" in data[:100]:
        raise UndecodableError(OPEN_DOCUMENT)
    for magic, refusal in MAGIC:
        if data.startswith(magic):
            raise UndecodableError(refusal)
    sample = data[:SAMPLE]
    if codec := _wide_without_mark(sample):
        text = message(
            "file.encoding-without-bom",
            "The file was read as {encoding}; it has no byte order mark.",
            encoding=codec.upper(),
        )
        notes.append(Note("note", text))
        return _wide(data, codec, notes)
    # Text may hold a stray one, whose row the checks name; binaries hold many.
    is_jis = any(begin in sample for begin in JIS)
    if is_jis:
        encoding = encoding or "iso2022_jp"
    n_controls = 0 if is_jis else len(sample) - len(sample.translate(None, CONTROLS))
    if len(sample) >= 64 and n_controls > len(sample) / 20:
        raise UndecodableError(
            message(
                "file.control-characters",
                "This is not a text file: it is full of control characters.",
            )
        )
    try:
        read = Decoded(data.decode("utf-8"), notes)
        if encoding == "iso2022_jp":
            read = replace(read, text=data.decode(encoding), encoding="ISO-2022-JP")
    except UnicodeDecodeError as error:
        read = _legacy(data, error.start, encoding, notes)
    return replace(read, text=_without_mac_ends(read.text, notes))


def split_lines(text: str) -> list[str]:
    """Split at LF and CRLF only, so that U+2028 or U+0085 inside a segment split nothing.

    Examples
    --------
    >>> split_lines("one\\r\\ntwo\\u2028\\n")
    ['one', 'two\\u2028']
    """
    lines = text.split("\n")
    if not lines[-1]:
        del lines[-1]
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines that `split_lines` returns, so that memory has few of them at a time."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + SAMPLE)
        end = len(text) if end < 0 else end + 1
        yield from split_lines(text[start:end])
        start = end


def _wide(data: bytes, codec: str, notes: list[Note]) -> Decoded:
    try:
        return Decoded(_without_mac_ends(data.decode(codec), notes), notes, codec[:6].upper())
    except UnicodeDecodeError:
        broken = message(
            "file.encoding-broken",
            "The file is damaged {encoding} text. Save it as UTF-8.",
            encoding=codec.upper(),
        )
        raise UndecodableError(broken) from None


def _without_mac_ends(text: str, notes: list[Note]) -> str:
    if "\r\r\n" in text and text.count("\r\r\n") == text.count("\n"):
        twice = message(
            "file.crcrlf", "Windows line endings that were converted twice were read as one."
        )
        notes.append(Note("note", twice))
        return text.replace("\r\r\n", "\n")
    if "\r\n" in text:
        crlf = message("file.crlf", "Windows line endings (CRLF) were read as line endings.")
        notes.append(Note("note", crlf))
    elif "\r" in text and "\n" not in text:
        mac = message("file.cr", "Carriage returns were read as line endings.")
        notes.append(Note("note", mac))
        return text.replace("\r", "\n")
    return text


def _wide_without_mark(sample: bytes) -> str:
    """Recognise UTF-16 by the NULs, which are on one side of line feeds and blanks only."""
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


def _legacy(data: bytes, offset: int, stated: str, notes: list[Note]) -> Decoded:
    """Read text that is not UTF-8 from `offset` on as stated, or as is likely, or refuse it."""
    row = data.count(b"\n", 0, offset) + 1
    found = readings(data)
    shown = {each.encoding: each.sample for each in found}
    try:
        codec = codec_of(stated or found[0].encoding) if stated or is_certain(found) else ""
        text = data.decode(codec) if codec else ""
    except (LookupError, UnicodeDecodeError):
        refusal = message(
            "file.encoding-wrong",
            "The file is not {encoding}. Choose another encoding, such as {others}.",
            encoding=stated or found[0].encoding,
            others=list(shown) or list(ENCODINGS),
        )
        raise UndecodableError(refusal, row, shown) from None
    if codec:
        name = next((name for name, own in ENCODINGS.items() if own == codec), stated)
        # Of encodings that read it equally, only one is shown.
        sample = shown.get(name, text[:SHOWN])
        read = message(
            "file.encoding-guessed",
            "The file is not UTF-8 and was read as {encoding}: “{text}”. If letters are wrong, "
            "choose another encoding (command line: --column “(encoding)=NAME”, in metaeval "
            "--encoding NAME; API: columns), or save it as UTF-8.",
            encoding=name,
            text=sample,
        )
        notes.append(Note("note" if stated else "warning", read, row))
        return Decoded(text, notes, name, {name: sample} | shown)
    refusal = message(
        "file.encoding-unclear",
        "The file is not UTF-8, and it is unclear which encoding it has: {readings}. Choose one "
        "(command line: --column “(encoding)=NAME”, in metaeval --encoding NAME; API: columns), or "
        "save it as UTF-8.",
        readings=[f"{each.encoding} (“{each.sample}”)" for each in found[:4]],
    ) if found else message(
        "file.not-utf-8",
        "Byte {byte} (byte {position} of the file) is not UTF-8, and no known encoding gives "
        "words. Save the file as UTF-8.",
        byte=f"0x{data[offset]:02X}",
        position=offset + 1,
    )  # fmt: skip
    raise UndecodableError(refusal, row, shown)
