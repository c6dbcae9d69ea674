"""WMT's test sets as XML (since 2021) and SGML (before) to tables, a row a segment.

In XML, a `dataset` has `doc` elements with `src`, `ref` (of a `translator`) and `hyp` (of a
`system`), all with `seg` elements. In SGML and mteval's XML the root of a file, or of a part, says
what its documents hold: `srcset`, `refset` or `tstset`, whose documents name the system as `sysid`.
Segments are called `DOCUMENT:SEGMENT`, as both ids stand in the files. Documents of test suites are
left out, as in sacreBLEU.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from annotation.uploads.media.markup import Start, read_markup
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import LONGEST_TEXT, Table, too_long
from core import languages
from core.text import pluralize

# Comments before are each read once: taken in other ways, many would take for ever.
MARKED = re.compile(
    r"\ufeff?(?>\s+|<!--.*?-->)*+(<\?xml\b|<!DOCTYPE\b|<(dataset|(src|ref|tst)set|mteval)\b)",
    re.I | re.S,
)
XML = re.compile(r"\ufeff?\s*(<\?xml\b|<dataset\b)", re.I)
SOURCE, REFERENCE, SYSTEM = "source", "reference", "system"
SETS = {"srcset": SOURCE, "refset": REFERENCE, "tstset": SYSTEM}
PARTS = {"src": (SOURCE, "lang"), "ref": (REFERENCE, "translator"), "hyp": (SYSTEM, "system")}
# What says in SGML that there is one reference.
ONLY = ("", "ref", "reference")
# Where an element says in which language its texts are.
STATED = {
    SOURCE: ("lang", "srclang"),
    REFERENCE: ("lang", "trglang"),
    SYSTEM: ("language", "trglang"),
}
# More languages than a test set has, or people would wait for them.
MOST_STATED = 10
Column = tuple[str, str]


def is_marked(start: str) -> bool:
    """Whether a file that begins so is XML or SGML."""
    return bool(MARKED.match(start))


@dataclass
class _File:
    """What is read of one file: (kind, name) to key to line and text; documents by key.

    `stated` has the line that first says of a kind of texts in which language they are.
    """

    name: str
    report: Report
    columns: dict[Column, dict[str, tuple[int, str]]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    stated: dict[tuple[str, str], int] = field(default_factory=dict)
    n_suites: int = 0
    n_elements: int = 0
    _set: Column = (SOURCE, "")
    _part: Column = (SOURCE, "")
    _document: str | None = None
    _is_suite: bool = False
    _segment: tuple[int, str] | None = None
    _texts: list[str] = field(default_factory=list)

    def start(self, tag: str, given: Mapping[str, str], line: int) -> None:
        """An element begins."""
        tag, values = tag.lower(), {name.lower(): value for name, value in given.items()}
        if self._segment is not None:
            self.n_elements += 1
        elif tag in SETS:
            self._set = SETS[tag], values.get("sysid") or values.get("refid") or ""
            self._state(self._set[0], values, line)
        elif tag == "doc":
            self._begin_document(values, line)
        elif tag in PARTS:
            kind, name = PARTS[tag]
            self._part = _column(kind, values.get(name, ""))
            self._state(kind, values, line)
            if kind == SYSTEM and not self._part[1] and not self._is_suite:
                self._fail("the output does not say of which system it is (“system”)", line, tag)
        elif tag == "seg" and not self._is_suite:
            self._begin_segment(values, line)

    def _begin_document(self, values: Mapping[str, str], line: int) -> None:
        self._document = values.get("id") or values.get("docid") or ""
        self._is_suite = "testsuite" in values
        self.n_suites += self._is_suite
        kind, name = self._set
        self._part = _column(kind, values.get("sysid") or name)
        if not self._document:
            self._fail("the document has no id", line, "doc")
        if kind == SYSTEM and not self._part[1]:
            self._fail("the document does not say of which system it is (“sysid”)", line, "doc")

    def _state(self, kind: str, values: Mapping[str, str], line: int) -> None:
        for name in STATED[kind]:
            if (language := values.get(name, "")) and len(self.stated) < MOST_STATED:
                self.stated.setdefault((kind, language), line)

    def _begin_segment(self, values: Mapping[str, str], line: int) -> None:
        if self._document is None:
            self._fail("the segment is in no document", line, "seg")
        if not (own := values.get("id", "").strip()):
            self._fail("the segment has no id", line, "seg")
        self._segment, self._texts = (line, f"{self._document}:{own}"), []

    def text(self, data: str) -> None:
        """Characters between tags."""
        if self._segment is not None:
            self._texts.append(data)

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag.lower() == "doc":
            self._document, self._is_suite = None, False
        if tag.lower() != "seg" or self._segment is None:
            return
        (line, key), self._segment = self._segment, None
        # A line break within a segment is one of the file alone.
        lines = "".join(self._texts).split("\n")
        text = " ".join(line for line in map(str.strip, lines) if line)
        cells = self.columns.setdefault(self._part, {})
        if key in cells:
            self._fail(f"segment {key} is there twice", line, self._part[0])
        elif len(text) > LONGEST_TEXT:
            self._fail(too_long(len(text)), line, self._part[0])
        cells[key] = line, text
        self.documents[key] = self._document or ""

    def finish(self) -> None:
        """The file has ended."""
        place = Place(self.name)
        if self._document is not None or self._segment is not None:
            self.report.error("the file ends within a document. Is it cut off?", place)
        elif not self.columns:
            self.report.error(
                "there is no segment in it. Of XML and SGML, WMT’s test sets are read: documents "
                "(“doc”) with “src”, “ref” and “hyp”, or in a “srcset”, “refset” or “tstset”",
                place,
            )
        if self.n_elements:
            tags = pluralize(self.n_elements, "element")
            self.report.warn(f"{tags} within segments: their texts are kept, no tags", place)
        if self.n_suites:
            suites = pluralize(
                self.n_suites, "document of a test suite is", "documents of test suites are"
            )
            self.report.note(f"{suites} left out", place)

    def _fail(self, message: str, line: int, element: str) -> None:
        self.report.error(message, Place(self.name, line, element))


def _column(kind: str, name: str) -> Column:
    if kind == REFERENCE:
        return kind, "A" if name.lower() in ONLY else name.strip()
    return kind, name.strip() if kind == SYSTEM else ""


def _read(name: str, text: str, report: Report) -> _File | None:
    file = _File(name, report)
    if not XML.match(text):
        for part in read_markup(text):
            if isinstance(part, str):
                file.text(part)
            elif isinstance(part, Start):
                file.start(part.name, part.attributes, part.line)
            else:
                file.end(part.name)
    elif not _read_xml(file, text, report):
        return None
    file.finish()
    return file if file.columns else None


def _read_xml(file: _File, text: str, report: Report) -> bool:
    """Whether it was XML; entities of its own, which may grow without end, are not read."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, given: file.start(tag, given, parser.CurrentLineNumber)
    parser.CharacterDataHandler, parser.EndElementHandler = file.text, file.end

    def refuse(*_: Any) -> None:
        raise expat.error("it declares entities of its own, which are not read")

    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code) if hasattr(error, "code") else str(error)
        line = parser.CurrentLineNumber
        report.error(f"this is no well-formed XML: {reason}", Place(file.name, line))
        return False
    return True


def marked_tables(
    texts: Sequence[tuple[str, str]], pair: tuple[str, str], report: Report
) -> Iterator[Table]:
    """Yield the tables of XML and SGML files, given as names and contents.

    Sources of one file, references of all, and outputs of each; sources that stand in several files
    have to be the same. Where they state other languages than the `pair` of source and target, the
    report warns.
    """
    read = (_read(name, text, report) for name, text in texts)
    files = [file for file in read if file is not None]
    first = next((file for file in files if (SOURCE, "") in file.columns), None)
    for file in files:
        _compare_languages(file, pair, report)
        if first is None and any(kind == REFERENCE for kind, _ in file.columns):
            report.error("references need their sources beside them", Place(file.name))
        elif first is not None and file is not first:
            _check(file, first, report)
            _take_references(file, first, report)
    for file in files:
        kinds = (SOURCE, REFERENCE, SYSTEM) if file is first else (SYSTEM,)
        named = ((each, cells) for each, cells in file.columns.items() if each != (SYSTEM, ""))
        columns = {each: cells for each, cells in named if each[0] in kinds}
        if columns:
            yield _table(file, columns)


def _compare_languages(file: _File, pair: tuple[str, str], report: Report) -> None:
    for (kind, stated), line in file.stated.items():
        language = pair[kind != SOURCE]
        try:
            codes = languages.find(stated), languages.normalise(language)
        except ValueError:  # “any”, or nothing that names a language
            continue
        if languages.bare(codes[0]) != languages.bare(codes[1]):
            message = f"the file says “{stated}”, the test set “{language}”"
            report.warn(message, Place(file.name, line, f"language of each {kind}"))


def _check(file: _File, first: _File, report: Report) -> None:
    sources = first.columns[SOURCE, ""]
    for key, (line, text) in file.columns.get((SOURCE, ""), {}).items():
        if key not in sources or sources[key][1] != text:
            found = "has another source" if key in sources else "is not"
            message = f"segment {key} {found} in {first.name}"
            report.error(message, Place(file.name, line, SOURCE))


def _take_references(file: _File, first: _File, report: Report) -> None:
    sources = first.columns[SOURCE, ""]
    for column, cells in file.columns.items():
        if column[0] != REFERENCE:
            continue
        if column in first.columns:
            report.error(f"reference {column[1]} is in {first.name}, too", Place(file.name))
        for key, (line, _) in cells.items():
            if key not in sources:
                message = f"segment {key} is not in {first.name}"
                report.error(message, Place(file.name, line, REFERENCE))
        first.columns[column] = cells


def _table(file: _File, columns: Mapping[Column, Mapping[str, tuple[int, str]]]) -> Table:
    """A row a segment, in the order of the sources, or of the first column without any."""
    has_sources = (SOURCE, "") in columns
    rows = []
    for key in dict.fromkeys(key for cells in columns.values() for key in cells):
        found = {_title(each): cells[key] for each, cells in columns.items() if key in cells}
        row = {"segment": key} | ({"document": file.documents[key]} if has_sources else {})
        lines = [line for line, _ in found.values()]
        rows.append((lines[0], row | {name: text for name, (_, text) in found.items()}))
    titles = ["segment", *(["document"] if has_sources else []), *map(_title, columns)]
    return Table(file.name, titles, rows, {title: title for title in titles})


def _title(column: Column) -> str:
    kind, name = column
    return {SOURCE: SOURCE, REFERENCE: f"reference_{name}", SYSTEM: f"system:{name}"}[kind]
