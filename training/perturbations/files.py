"""Read files for altering texts: dictionaries, alignments, texts by annotators.

Imports neither Django nor torch. A file with an error is refused: :class:`LineError` names the
file, the line and the field.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from metaeval.messages import Message, MessageError, message
from training.perturbations.rules import Alignment, Dictionary

T = TypeVar("T")
_LINK = re.compile(r"(\d{1,6})-(\d{1,6})", re.ASCII)
# Characters of a field that a message quotes.
_QUOTED = 40


class LineError(MessageError, ValueError):
    """A given file has a line that cannot be used."""


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


@dataclass(frozen=True)
class GivenFile:
    """An uploaded file; messages use its ``name``."""

    name: str
    content: bytes


def read_dictionary(file: GivenFile) -> Dictionary:
    """Read ``word<TAB>translation`` lines; the first of several translations counts."""
    entries: dict[str, str] = {}
    for place, line in _lines(file):
        if not line.strip():
            continue
        word, translation = _entry(place, line.split("\t"))
        entries.setdefault(word, translation)
    if not entries:
        raise LineError(
            message("file.dictionary-empty", "{file}: the dictionary is empty.", file=file.name)
        )
    return Dictionary(entries, max(map(len, entries)))


def _entry(place: Place, cells: list[str]) -> tuple[str, str]:
    if len(cells) != 2:
        raise LineError(
            message(
                "file.dictionary-columns",
                "{file}, line {line}: expected word, tab, translation, found {columns} columns.",
                **place._asdict(),
                columns=len(cells),
            )
        )
    if not cells[0].strip():
        raise LineError(
            message("file.word-empty", "{file}, line {line}: the word is empty.", **place._asdict())
        )
    if not cells[1].strip():
        raise LineError(_empty_translation(place))
    return cells[0].strip(), cells[1].strip()


def _empty_translation(place: Place) -> Message:
    return message(
        "file.translation-empty",
        "{file}, line {line}: the translation is empty.",
        **place._asdict(),
    )


def read_alignments(file: GivenFile) -> list[Alignment]:
    """Read one line of ``source-target`` positions, from 0, per segment."""
    return _read_each(file, _alignment)


def _alignment(place: Place, line: str) -> Alignment:
    found = []
    for number, text in enumerate(line.split(), start=1):
        link = _LINK.fullmatch(text)
        if not link:
            raise LineError(
                message(
                    "file.link",
                    "{file}, line {line}, link {number}: “{text}” is not a pair of positions such "
                    "as 0-2.",
                    **place._asdict(),
                    number=number,
                    text=text[:_QUOTED],
                )
            )
        found.append((int(link[1]), int(link[2])))
    return found


def read_texts(file: GivenFile) -> list[str | None]:
    """Read one text per segment and line; a segment with an empty line is excluded."""
    return _read_each(file, lambda place, line: line.strip() or None)


def _read_each(file: GivenFile, read: Callable[[Place, str], T]) -> list[T]:
    return [read(place, line) for place, line in _lines(file)]


def _lines(file: GivenFile) -> Iterator[tuple[Place, str]]:
    try:
        content = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after a byte order mark.
        start = error.start + len(file.content) - len(error.object)
        number = file.content.count(b"\n", 0, start) + 1
        raise LineError(
            message("file.not-utf8", "{file}, line {line}: not UTF-8.", file=file.name, line=number)
        ) from error
    # Not splitlines: a text may contain separators that only Unicode treats as line endings.
    lines = content.removesuffix("\n").split("\n") if content else []
    for number, line in enumerate(lines, start=1):
        place = Place(file.name, number)
        if "\0" in line:
            raise LineError(
                message(
                    "file.nul",
                    "{file}, line {line}: the line contains a NUL character.",
                    **place._asdict(),
                )
            )
        yield place, line.removesuffix("\r")
