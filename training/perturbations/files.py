"""Files that say how texts are altered: dictionaries, alignments, texts by people.

Pure. A file is read whole or refused: :class:`LineError` names the file, the line and the field.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from training.perturbations.by_source import Alignment, Dictionary

T = TypeVar("T")
_LINK = re.compile(r"(\d{1,6})-(\d{1,6})", re.ASCII)
# What a message quotes of a field.
_QUOTED = 40


class LineError(ValueError):
    """A file that was given has a line that cannot be used."""


@dataclass(frozen=True)
class GivenFile:
    """A file as it was given: ``name`` is what messages call it."""

    name: str
    content: bytes


def read_dictionary(file: GivenFile) -> Dictionary:
    """Read ``word<TAB>translation`` lines; of several translations the first counts."""
    entries: dict[str, str] = {}
    for place, line in _lines(file):
        if not line.strip():
            continue
        word, translation = _entry(place, line.split("\t"))
        entries.setdefault(word, translation)
    if not entries:
        raise LineError(f"{file.name}: the dictionary is empty.")
    return Dictionary(entries, max(map(len, entries)))


def _entry(place: str, cells: list[str]) -> tuple[str, str]:
    if len(cells) != 2:
        raise LineError(f"{place}: expected word, tab, translation; found {len(cells)} columns.")
    for field, cell in zip(("word", "translation"), cells, strict=True):
        if not cell.strip():
            raise LineError(f"{place}, {field}: empty.")
    return cells[0].strip(), cells[1].strip()


def read_alignments(file: GivenFile) -> list[Alignment]:
    """Read one line of ``source-target`` places, from 0, for each segment."""
    return _read_each(file, _alignment)


def _alignment(place: str, line: str) -> Alignment:
    found = []
    for number, text in enumerate(line.split(), start=1):
        link = _LINK.fullmatch(text)
        if not link:
            quoted = repr(text[:_QUOTED])
            raise LineError(f"{place}, link {number}: {quoted} is no pair of places such as 0-2.")
        found.append((int(link[1]), int(link[2])))
    return found


def read_texts(file: GivenFile) -> list[str | None]:
    """Read one text a line for each segment; an empty line leaves its segment out."""
    return _read_each(file, lambda place, line: line.strip() or None)


def _read_each(file: GivenFile, read: Callable[[str, str], T]) -> list[T]:
    return [read(place, line) for place, line in _lines(file)]


def _lines(file: GivenFile) -> Iterator[tuple[str, str]]:
    try:
        content = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from behind a byte order mark.
        start = error.start + len(file.content) - len(error.object)
        number = file.content.count(b"\n", 0, start) + 1
        raise LineError(f"{file.name}, line {number}: this is not UTF-8.") from error
    # Not splitlines: a text may hold separators that only Unicode takes for line ends.
    lines = content.removesuffix("\n").split("\n") if content else []
    for number, line in enumerate(lines, start=1):
        place = f"{file.name}, line {number}"
        if "\0" in line:
            raise LineError(f"{place}: holds a NUL character.")
        yield place, line.removesuffix("\r")
