"""Parallel text in TMX 1.4 and XLIFF 1.2 and 2.0, as tables with a row for each unit.

The target is a reference, unless a person says that it is the output of a system. In TMX, a unit
has a row for each language besides the source: that of the test set, or else `srclang`. Codes of
markup (`ph`, `bpt`, `x`, …) are removed from texts; what other elements within a text hold stays.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Protocol
from xml.parsers import expat

from annotation.uploads.formats.base import Content, Import
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.pairs import code_of
from annotation.uploads.tables.rows import LONGEST_TEXT, Row, Table, too_long
from core import languages
from extensions.formats.readers.marks import counted
from metaeval.messages import MessageError, message

# Read XML in time proportional to its length, without entities of its own.

# What may stand before the root. Possessive: with backtracking, many comments would take
# exponential time.
BEFORE = r"\ufeff?(?>\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^<>[]*+(?:\[[^]]*+\]\s*+)?>)*+"


class Handler(Protocol):
    """What elements and texts go to, in their order."""

    def start(self, tag: str, given: Mapping[str, str], line: int) -> None:
        """An element begins in a line, with its attributes."""

    def text(self, data: str) -> None:
        """Characters between tags."""

    def end(self, tag: str) -> None:
        """An element ends."""


def begins_with(root: str) -> re.Pattern[str]:
    """Return the pattern of the beginning of files with a root element."""
    return re.compile(rf"{BEFORE}<({root})\b", re.IGNORECASE | re.DOTALL)


def parse_xml(name: str, text: str, handler: Handler, report: Report) -> bool:
    """Return True if it was XML; declared entities are refused, since they may expand endlessly."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, given: handler.start(
        tag, given, parser.CurrentLineNumber
    )
    parser.CharacterDataHandler, parser.EndElementHandler = handler.text, handler.end

    def refuse(*_: Any) -> None:
        raise MessageError(
            message(
                "marked.entities",
                "The XML declares entities (<!ENTITY>), which are not accepted. Write the texts "
                "without them.",
            )
        )

    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except MessageError as error:
        refusal = error.message
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        refusal = message("marked.xml", "The XML cannot be read: {reason}.", reason=reason)
    else:
        return True
    report.error(refusal, Place(name, parser.CurrentLineNumber))
    return False


# Read units.

TMX, XLIFF = begins_with("tmx"), begins_with(r"(?:\w+:)?xliff")
UNITS = ("tu", "trans-unit", "segment")
TEXTS = ("seg", "source", "target")
LANGUAGES = {
    "source-language": "source_language", "target-language": "target_language",
    "srcLang": "source_language", "trgLang": "target_language",
}  # fmt: skip
# What holds codes of markup instead of text, and what repeats texts of a unit or proposes others.
CODES = frozenset(("bpt", "ept", "ph", "it", "ut"))
ASIDE = frozenset(("alt-trans", "match", "seg-source", "ignorable", "originalData"))
# What is named as not used.
NOTED = frozenset(("note", "prop", "alt-trans", "match", "glossary"))
VARIANTS, ALONE = "tuv", "tu"
NAMES = {
    VARIANTS: message("parallel.variants", "variants of a language (tuv)"),
    ALONE: message("parallel.alone", "units in one language (tu)"),
}


def is_tmx(name: str, text: str) -> bool:
    """Return True for a translation memory."""
    return bool(TMX.match(text))


def is_xliff(name: str, text: str) -> bool:
    """Return True for XLIFF of any version."""
    return bool(XLIFF.match(text))


@dataclass
class _Unit:
    """A unit: its id, document and line, its languages, and its texts by side or language."""

    key: str
    document: str
    line: int
    languages: dict[str, str]
    texts: dict[str, str] = field(default_factory=dict)


class _File:
    """The units of a file; `unused` counts what is not read of them."""

    def __init__(self, name: str, report: Report) -> None:
        self.name, self.report = name, report
        self.units: list[_Unit] = []
        self.unused: Counter[str] = Counter()
        self.n_elements = 0
        self.source_language = ""
        self._languages: dict[str, str] = {}
        self._document = self._id = self._language = ""
        self._unit: _Unit | None = None
        self._side: str | None = None
        self._parts: list[str] = []
        self._keeps_lines = False
        # Depths within an element that is not read, and within codes of markup.
        self._aside = self._codes = 0

    def start(self, tag: str, given: Mapping[str, str], line: int) -> None:
        """An element begins."""
        tag = tag.rpartition(":")[2]
        if tag in NOTED and not self._aside:
            self.unused[tag] += 1
        if self._aside or tag in ASIDE:
            self._aside += 1
        elif self._side is not None:
            self.n_elements += not self._codes
            self._codes += bool(self._codes or tag in CODES)
            if tag == "cp" and not self._codes:
                self._parts.append(_character(given.get("hex", "")))
        elif tag in UNITS:
            key = given.get("tuid") or given.get("id") or ""
            key = f"{self._id}:{key}" if self._id and key else self._id or key
            self._unit = _Unit(key, self._document, line, self._languages)
            self.units.append(self._unit)
        elif tag in TEXTS and self._unit is not None:
            self._side, self._parts = self._language or tag, []
            self._keeps_lines = given.get("xml:space") == "preserve"
        else:
            self._outside(tag, given)
        self.unused["state"] += bool(given.get("state"))

    def _outside(self, tag: str, given: Mapping[str, str]) -> None:
        """An element above the units begins, or one that says the language of a text."""
        if tag == "header":
            self.source_language = given.get("srclang", "")
        elif tag == "tuv":
            self._language = given.get("xml:lang") or given.get("lang") or "?"
        elif tag == "unit":
            self._id = given.get("id", "")
        elif tag in ("file", "xliff"):
            self._document = given.get("original") or given.get("id") or self._document
            stated = {LANGUAGES[key]: value for key, value in given.items() if key in LANGUAGES}
            self._languages = self._languages | stated

    def text(self, data: str) -> None:
        """Characters between tags."""
        if self._side is not None and not self._aside and not self._codes:
            self._parts.append(data)

    def end(self, tag: str) -> None:
        """An element ends."""
        tag = tag.rpartition(":")[2]
        if self._aside:
            self._aside -= 1
        elif self._codes:
            self._codes -= 1
        elif tag in TEXTS and self._side is not None:
            self._keep("".join(self._parts))
        elif tag in UNITS:
            self._unit = None
        elif tag == "tuv":
            self._language = ""
        elif tag == "unit":
            self._id = ""

    def _keep(self, text: str) -> None:
        unit, side, self._side = self._unit, self._side or "", None
        if unit is None:
            return
        if not self._keeps_lines:
            # A line break within a text is one of the file alone.
            text = " ".join(line for line in map(str.strip, text.split("\n")) if line)
        if len(text) > LONGEST_TEXT:
            self.report.error(too_long(len(text)), Place(self.name, unit.line, side))
        elif side in unit.texts:
            self.unused[VARIANTS] += 1
        else:
            unit.texts[side] = text


def _character(code: str) -> str:
    """Return the character that XLIFF 2 writes as a number."""
    try:
        return chr(int(code, 16)) if len(code) <= 6 else ""
    except ValueError:
        return ""


def read_tmx(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the units with a row for each target language."""
    # Regions distinguish languages only where the test set translates between two of them.
    write = _code if _bare(to.pair[0]) == _bare(to.pair[1]) else _bare
    for file in _files(contents, to.report):
        rows: list[tuple[int, Row]] = []
        for unit, key in zip(file.units, _keys(file.units), strict=True):
            by_code: dict[str, list[str]] = {}
            for language in unit.texts:
                by_code.setdefault(write(language), []).append(language)
            if len(by_code) < 2:
                file.unused[ALONE] += 1
                continue
            wanted = (write(each) for each in (to.pair[0], file.source_language))
            code = next((each for each in wanted if each in by_code), next(iter(by_code)))
            # Of variants of one language, that of the test set, or else the first.
            chosen = {each: _preferred(names, to.pair) for each, names in by_code.items()}
            file.unused[VARIANTS] += len(unit.texts) - len(chosen)
            source = chosen.pop(code)
            for language in chosen.values():
                row = {"segment": key, "source": unit.texts[source]}
                row |= {"reference": unit.texts[language]} if unit.texts[language] else {}
                rows.append((unit.line, row | {"language_pair": f"{source}-{language}"}))
        yield from _table(file, rows)


def read_xliff(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the units with their targets."""
    for file in _files(contents, to.report):
        rows: list[tuple[int, Row]] = []
        for unit, key in zip(file.units, _keys(file.units), strict=True):
            row = {"segment": key} | ({"document": unit.document} if unit.document else {})
            row |= {"source": unit.texts.get("source", "")} | unit.languages
            target = unit.texts.get("target", "")
            rows.append((unit.line, row | ({"reference": target} if target else {})))
        yield from _table(file, rows)


def _files(contents: Iterable[Content], report: Report) -> Iterator[_File]:
    for content in contents:
        file = _File(content.name, report)
        if parse_xml(content.name, content.text, file, report):
            yield file


def _keys(units: Sequence[_Unit]) -> list[str]:
    """Return the ids of units, with documents where these are needed, or else numbers."""
    own = [unit.key for unit in units]
    within = [f"{unit.document}:{unit.key}" for unit in units]
    for keys in (own, within) if all(own) else ():
        if len(set(keys)) == len(keys):
            return keys
    return [str(number) for number in range(1, len(units) + 1)]


@lru_cache(maxsize=1_024)
def _code(language: str) -> str:
    try:
        return code_of(language)
    except languages.LanguageError:
        return language.casefold()


def _bare(language: str) -> str:
    return languages.bare(_code(language))


def _preferred(names: Sequence[str], pair: tuple[str, str]) -> str:
    return next((name for name in names if _code(name) in pair), names[0])


def _table(file: _File, rows: list[tuple[int, Row]]) -> Iterator[Table]:
    """Yield the table of a file, and say what of it is not in the table."""
    place = Place(file.name)
    file.report.warn_of(
        file.n_elements,
        "parallel.elements",
        "Removed {n} element of markup from the texts.",
        "Removed {n} elements of markup from the texts.",
        place,
    )
    if unused := +file.unused:
        text = message("parallel.unused", "Not used: {names}.", names=counted(unused, NAMES))
        file.report.warn(text, place)
    if not rows:
        text = message("parallel.none", "The file has no unit with a source and a target.")
        file.report.error(text, place)
        return
    columns = list(dict.fromkeys(column for _, row in rows for column in row))
    # If a person says that the targets are outputs, the file names the system.
    titles = {column: column for column in columns} | {"reference": PurePath(file.name).stem}
    yield Table(file.name, columns, rows, titles)
