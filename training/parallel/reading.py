"""Read and clean parallel text, and count excluded pairs by reason.

Imports neither Django nor torch. A corpus is stored as TSV, one pair per line, without a header.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metaeval.messages import Message, MessageError, message
from training.contract import Corpus

MAX_CHARACTERS = 5_000
EXAMPLES = 3
# Titles of the two columns of a table; tokenised text is not changed.
TITLES = (
    ("source", "target"),
    ("source_tokens", "target_tokens"),
    ("source_text", "target_text"),
    ("src", "tgt"),
)
Languages = tuple[str, str]
_SPACE = re.compile(r"\s+")


# Why a pair is excluded.
REASONS = {
    "empty": message("corpus.reason-empty", "one side is empty"),
    "equal": message("corpus.reason-equal", "both sides are equal"),
    "long": message("corpus.reason-long", "longer than {most} characters", most=MAX_CHARACTERS),
    "no-letter": message("corpus.reason-no-letter", "one side has no letters"),
    "repeated": message("corpus.reason-repeated", "repeated pair"),
}


class ParallelError(MessageError, ValueError):
    """A file is not parallel text; the message names file and line."""


@dataclass(frozen=True)
class Row:
    """One pair as it is in a file; `place` is file and line."""

    place: str
    source: str
    target: str


@dataclass
class Cleaning:
    """How many rows were read and are usable, and how many were excluded by reason.

    The keys of `left_out` and `examples` are those of `REASONS`; `examples` has the first places.
    """

    read: int = 0
    usable: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def leave_out(self, reason: str, place: str) -> None:
        """Count an excluded row."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
        if len(self.examples.setdefault(reason, [])) < EXAMPLES:
            self.examples[reason].append(place)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; stored reports have usable rows as `kept`."""
        values = dict(vars(self))
        return values | {"kept": values.pop("usable")}


def read_pairs(name: str, content: bytes, languages: Languages | None = None) -> list[Row]:
    """Read one file of pairs: TSV (with or without a header) or lines `source ||| target`.

    A TSV header names the columns by one of `TITLES` or by the codes of the languages; without a
    header there are two columns. Raises ParallelError for another encoding, for a line without two
    sides, and for more than two columns that no header names.
    """
    lines = _lines(name, content)
    if not lines:
        raise ParallelError(message("corpus.file-empty", "{file} is empty.", file=name))
    if " ||| " in lines[0] or "|||" in lines[0].split():
        return [_by_bars(name, number, line) for number, line in enumerate(lines, start=1)]
    return _by_tabs(name, lines, languages)


def read_moses(source: tuple[str, bytes], target: tuple[str, bytes]) -> list[Row]:
    """Read two files, (name, content) each, whose lines are translations of each other.

    Raises ParallelError if they have different numbers of lines.
    """
    left, right = _lines(*source), _lines(*target)
    if len(left) != len(right):
        raise ParallelError(
            message(
                "corpus.lengths-differ",
                "{source} has {n_source} lines and {target} has {n_target}. Both files must have "
                "the same number of lines.",
                source=source[0],
                n_source=len(left),
                target=target[0],
                n_target=len(right),
            )
        )
    return [
        Row(f"{source[0]}:{number}", first, second)
        for number, (first, second) in enumerate(zip(left, right, strict=True), start=1)
    ]


def clean(rows: Iterable[Row]) -> tuple[list[tuple[str, str]], Cleaning]:
    """Return the usable pairs, each once and with plain white space, and the report."""
    report, pairs = Cleaning(), dict[tuple[str, str], None]()
    for row in rows:
        report.read += 1
        pair = (_plain(row.source), _plain(row.target))
        reason = _reason(*pair) or ("repeated" if pair in pairs else "")
        if reason:
            report.leave_out(reason, row.place)
        else:
            pairs[pair] = None
    report.usable = len(pairs)
    return list(pairs), report


def write_pairs(pairs: Sequence[tuple[str, str]]) -> bytes:
    """Return cleaned pairs as they are stored: UTF-8, one line per pair, separated by a tab."""
    return "".join(f"{source}\t{target}\n" for source, target in pairs).encode()


def parse_pairs(content: bytes) -> list[tuple[str, str]]:
    """Return the pairs that `write_pairs` wrote."""
    lines = content.decode().split("\n")[:-1]
    return [(source, target) for source, _, target in (line.partition("\t") for line in lines)]


def hash_pairs(content: bytes) -> str:
    """Return the SHA-256 that identifies a corpus."""
    return hashlib.sha256(content).hexdigest()


def _lines(name: str, content: bytes) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParallelError(
            message("file.not-utf8", "{file}, line {line}: not UTF-8.", file=name, line=line)
        ) from None
    lines = _split(text.replace("\r\n", "\n"))
    if number := next((n for n, line in enumerate(lines, start=1) if "\r" in line), None):
        raise ParallelError(
            message(
                "corpus.carriage-return",
                "{file}, line {line}: the line contains a carriage return.",
                file=name,
                line=number,
            )
        )
    return lines[:-1] if lines and not lines[-1] else lines


def _split(text: str) -> list[str]:
    """Return the lines; carriage returns end them if nothing else does."""
    return text.split("\n" if "\n" in text else "\r")


def _by_bars(name: str, number: int, line: str) -> Row:
    source, bars, target = line.partition("|||")
    if not bars or "|||" in target:
        raise ParallelError(
            message(
                "corpus.bars",
                "{file}, line {line}: expected one ||| between the two sides.",
                file=name,
                line=number,
            )
        )
    return Row(f"{name}:{number}", source, target)


def _by_tabs(name: str, lines: Sequence[str], languages: Languages | None) -> list[Row]:
    named = _columns(lines[0], languages)
    columns, start = (named, 1) if named else ((0, 1), 0)
    rows = []
    for number, line in enumerate(lines[start:], start=start + 1):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            raise ParallelError(
                message(
                    "corpus.no-tab",
                    "{file}, line {line}: expected a tab between source and target.",
                    file=name,
                    line=number,
                )
            )
        if not named and len(cells) > 2:
            raise _unnamed(name, number)
        rows.append(Row(f"{name}:{number}", cells[columns[0]], cells[columns[1]]))
    return rows


def _columns(header: str, languages: Languages | None) -> tuple[int, int] | None:
    """Return the positions of source and target; None if the line does not name them."""
    titles = [_title(cell) for cell in header.split("\t")]
    codes = [(_title(languages[0]), _title(languages[1]))] if languages else []
    for source, target in (*TITLES, *codes):
        if titles.count(source) == titles.count(target) == 1:
            return titles.index(source), titles.index(target)
    return _by_language(titles, codes[0]) if codes else None


def _by_language(titles: Sequence[str], codes: Languages) -> tuple[int, int] | None:
    """Find two languages without script and region: `zh_CN` is a column of `zh`."""
    bare = [title.partition("_")[0] for title in titles]
    source, target = (code.partition("_")[0] for code in codes)
    is_clear = source != target and bare.count(source) == bare.count(target) == 1
    return (bare.index(source), bare.index(target)) if is_clear else None


def _title(cell: str) -> str:
    return cell.strip().lower().replace("-", "_")


def _unnamed(name: str, number: int) -> ParallelError:
    return ParallelError(
        message(
            "corpus.columns-unnamed",
            "{file}, line {line}: there are more than two columns, and the first line does not "
            "name source and target. Name them by the codes of the two languages or as one of: "
            "{titles}.",
            file=name,
            line=number,
            titles=[f"{source}/{target}" for source, target in TITLES],
        )
    )


def _plain(text: str) -> str:
    """Return one line in NFC with single spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def _reason(source: str, target: str) -> str:
    """Return the key in `REASONS` why a pair is excluded; empty if it is not."""
    if not source or not target:
        return "empty"
    if source == target:
        return "equal"
    if max(len(source), len(target)) > MAX_CHARACTERS:
        return "long"
    if not (_has_letters(source) and _has_letters(target)):
        return "no-letter"
    return ""


def _has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


def reason_of(key: str) -> Message:
    """Return a reason; reports of earlier versions have their text as the key."""
    return REASONS[key] if key in REASONS else message("stored.text", "{text}", text=key)


def read_named(given: str) -> tuple[Corpus, Cleaning]:
    """Read `FILE:SOURCE:TARGET`; raises ParallelError or OSError."""
    path, source, target = [*given.rsplit(":", 2), "", ""][:3]
    if not source or not target:
        raise ParallelError(
            message(
                "corpus.argument",
                "{text}: write FILE:SOURCE:TARGET, as in europarl.tsv:de:en.",
                text=given,
            )
        )
    file = Path(path)
    pairs, report = clean(read_pairs(file.name, file.read_bytes(), (source, target)))
    return Corpus(file.stem, source, target, pairs, hash_pairs(write_pairs(pairs))), report
