"""Parallel text: read from what people have, cleaned with a count of what was left out and why.

Pure: neither Django nor torch. A corpus is kept as TSV, one pair a line, without a header.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.contract import Corpus

MAX_CHARACTERS = 5_000
EXAMPLES = 3
# Titles of the two columns of a table; tokenised text is taken as it stands.
TITLES = (
    ("source", "target"),
    ("source_tokens", "target_tokens"),
    ("source_text", "target_text"),
    ("src", "tgt"),
)
Languages = tuple[str, str]
_SPACE = re.compile(r"\s+")


class ParallelError(ValueError):
    """A file is no parallel text; the message names file and line."""


@dataclass(frozen=True)
class Row:
    """One pair as it stands in a file; `place` is file and line."""

    place: str
    source: str
    target: str


@dataclass
class Cleaning:
    """What happened to the rows: how many were read, kept, and left out by reason.

    `examples` holds the first places of each reason.
    """

    read: int = 0
    kept: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def leave_out(self, reason: str, place: str) -> None:
        """Count a row that is not kept."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
        if len(self.examples.setdefault(reason, [])) < EXAMPLES:
            self.examples[reason].append(place)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self)


def read_pairs(name: str, content: bytes, languages: Languages | None = None) -> list[Row]:
    """Read one file of pairs: TSV (with or without a header) or lines `source ||| target`.

    A TSV header names the columns by one of `TITLES` or by the codes of the languages; without one
    there are two columns. Raises ParallelError for another encoding, for a line without two sides,
    and for more than two columns of which nothing says what they are.
    """
    lines = _lines(name, content)
    if not lines:
        raise ParallelError(f"{name} is empty.")
    if " ||| " in lines[0] or "|||" in lines[0].split():
        return [_by_bars(name, number, line) for number, line in enumerate(lines, start=1)]
    return _by_tabs(name, lines, languages)


def read_moses(source: tuple[str, bytes], target: tuple[str, bytes]) -> list[Row]:
    """Read two files, (name, content) each, whose lines are translations of each other.

    Raises ParallelError where they have different numbers of lines.
    """
    left, right = _lines(*source), _lines(*target)
    if len(left) != len(right):
        message = f"{source[0]} has {len(left):,} lines and {target[0]} {len(right):,}: "
        raise ParallelError(f"{message}they cannot be translations line by line.")
    return [
        Row(f"{source[0]}:{number}", first, second)
        for number, (first, second) in enumerate(zip(left, right, strict=True), start=1)
    ]


def clean(rows: Iterable[Row]) -> tuple[list[tuple[str, str]], Cleaning]:
    """Return the pairs that can be used, each once, white space made plain, and what was not."""
    report, pairs = Cleaning(), dict[tuple[str, str], None]()
    for row in rows:
        report.read += 1
        pair = (_plain(row.source), _plain(row.target))
        reason = _reason(*pair) or ("twice" if pair in pairs else "")
        if reason:
            report.leave_out(reason, row.place)
        else:
            pairs[pair] = None
    report.kept = len(pairs)
    return list(pairs), report


def write_pairs(pairs: Sequence[tuple[str, str]]) -> bytes:
    """Return cleaned pairs as they are kept: UTF-8, one line a pair, a tab between."""
    return "".join(f"{source}\t{target}\n" for source, target in pairs).encode()


def parse_pairs(kept: bytes) -> list[tuple[str, str]]:
    """The inverse of `write_pairs`."""
    lines = kept.decode().split("\n")[:-1]
    return [(source, target) for source, _, target in (line.partition("\t") for line in lines)]


def hash_pairs(kept: bytes) -> str:
    """Return the SHA-256 by which a corpus is known."""
    return hashlib.sha256(kept).hexdigest()


def _lines(name: str, content: bytes) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParallelError(f"{name}, line {line}: this is not UTF-8.") from None
    lines = _split(text.replace("\r\n", "\n"))
    if number := next((n for n, line in enumerate(lines, start=1) if "\r" in line), None):
        raise ParallelError(f"{name}, line {number}: a carriage return stands within the line.")
    return lines[:-1] if lines and not lines[-1] else lines


def _split(text: str) -> list[str]:
    """Return the lines; carriage returns end them where nothing else does."""
    return text.split("\n" if "\n" in text else "\r")


def _by_bars(name: str, number: int, line: str) -> Row:
    source, bars, target = line.partition("|||")
    if not bars or "|||" in target:
        raise ParallelError(f"{name}, line {number}: one ||| between the two sides is needed.")
    return Row(f"{name}:{number}", source, target)


def _by_tabs(name: str, lines: Sequence[str], languages: Languages | None) -> list[Row]:
    named = _columns(lines[0], languages)
    columns, start = (named, 1) if named else ((0, 1), 0)
    rows = []
    for number, line in enumerate(lines[start:], start=start + 1):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            message = f"{name}, line {number}: there is no tab between source and target."
            raise ParallelError(message)
        if not named and len(cells) > 2:
            raise _unnamed(name, number)
        rows.append(Row(f"{name}:{number}", cells[columns[0]], cells[columns[1]]))
    return rows


def _columns(header: str, languages: Languages | None) -> tuple[int, int] | None:
    """Return the places of source and target; None where the line names no such columns."""
    titles = [_title(cell) for cell in header.split("\t")]
    codes = [(_title(languages[0]), _title(languages[1]))] if languages else []
    for source, target in (*TITLES, *codes):
        if titles.count(source) == titles.count(target) == 1:
            return titles.index(source), titles.index(target)
    return _by_language(titles, codes[0]) if codes else None


def _by_language(titles: Sequence[str], codes: Languages) -> tuple[int, int] | None:
    """The places of two languages without script and region: `zh_CN` is a column of `zh`."""
    bare = [title.partition("_")[0] for title in titles]
    source, target = (code.partition("_")[0] for code in codes)
    is_clear = source != target and bare.count(source) == bare.count(target) == 1
    return (bare.index(source), bare.index(target)) if is_clear else None


def _title(cell: str) -> str:
    return cell.strip().lower().replace("-", "_")


def _unnamed(name: str, number: int) -> ParallelError:
    known = "; ".join(f"{source}, {target}" for source, target in TITLES)
    return ParallelError(
        f"{name}, line {number}: there is a third column, and the first line does not say which "
        f"two are source and target. It can name them so: {known}; or by the codes of the two "
        "languages."
    )


def _plain(text: str) -> str:
    """One line in NFC with single blanks."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def _reason(source: str, target: str) -> str:
    """Why a pair cannot be used; empty where it can."""
    if not source or not target:
        return "an empty side"
    if source == target:
        return "both sides equal"
    if max(len(source), len(target)) > MAX_CHARACTERS:
        return f"longer than {MAX_CHARACTERS:,} characters"
    if not (_has_letters(source) and _has_letters(target)):
        return "no letter on one side"
    return ""


def _has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


def read_named(given: str) -> tuple[Corpus, Cleaning]:
    """Read `FILE:SOURCE:TARGET`; ValueError and OSError say what is wrong."""
    path, source, target = [*given.rsplit(":", 2), "", ""][:3]
    if not source or not target:
        raise ValueError(f"{given}: expected FILE:SOURCE:TARGET, as in europarl.tsv:de:en.")
    file = Path(path)
    pairs, report = clean(read_pairs(file.name, file.read_bytes(), (source, target)))
    return Corpus(file.stem, source, target, pairs, hash_pairs(write_pairs(pairs))), report
