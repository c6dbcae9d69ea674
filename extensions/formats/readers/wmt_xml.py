"""Read WMT's test sets in XML (since 2021) and SGML (before) as tables, one row per segment.

In XML, a `dataset` has `doc` elements with `src`, `ref` (of a `translator`) and `hyp` (of a
`system`), all with `seg` elements. In SGML and mteval's XML the root of a file, or of a part, names
the content of its documents: `srcset`, `refset` or `tstset`, whose documents have a `sysid`.
Segments have the key `DOCUMENT:SEGMENT`, with both ids of the files. Documents of test suites are
skipped, as in sacreBLEU.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.uploads import drafts
from annotation.uploads.formats.base import Content, Import
from annotation.uploads.media.elements import Start, read_markup
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.pairs import FIELDS, Pair
from annotation.uploads.tables.rows import LONGEST_TEXT, Table, too_long
from core import languages
from extensions.formats.readers.parallel import parse_xml
from metaeval.messages import Message, message

# Any other XML too: the reader says what it should have been. Possessive quantifiers: with
# backtracking, many comments would take exponential time.
MARKED = re.compile(
    r"\ufeff?(?>\s+|<!--.*?-->)*+(<\?xml\b|<!DOCTYPE\b|<(dataset|(src|ref|tst)set|mteval)\b)",
    re.I | re.S,
)
XML = re.compile(r"\ufeff?\s*(<\?xml\b|<dataset\b)", re.I)
SOURCE, REFERENCE, SYSTEM = "source", "reference", "system"
SETS = {"srcset": SOURCE, "refset": REFERENCE, "tstset": SYSTEM}
ELEMENTS = {"src": (SOURCE, "lang"), "ref": (REFERENCE, "translator"), "hyp": (SYSTEM, "system")}
# Ids of a single reference in SGML.
ONLY = ("", "ref", "reference")
# Attributes with the language of an element's texts.
STATED = {
    SOURCE: ("lang", "srclang"),
    REFERENCE: ("lang", "trglang"),
    SYSTEM: ("language", "trglang"),
}
NAMES = {SOURCE: drafts.SOURCE, REFERENCE: drafts.REFERENCE, SYSTEM: drafts.OUTPUT}
# More languages than a test set has; bounds the time.
MOST_STATED = 10
Column = tuple[str, str]
# Pages, and workbooks of Excel 2003, which have a declaration, too.
NO_WMT = re.compile(r"<(html|workbook|ss:workbook)\b|<!doctype html", re.IGNORECASE)


def is_wmt(name: str, text: str) -> bool:
    """Return True if a file is a test set in XML or SGML."""
    return bool(MARKED.match(text)) and not NO_WMT.search(text[:1_000])


@dataclass
class _File:
    """The content of one file: (kind, name) to key to line and text; documents by key.

    `stated` has the line that first states the language of a kind of texts.
    """

    name: str
    report: Report
    columns: dict[Column, dict[str, tuple[int, str]]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    stated: dict[tuple[str, str], int] = field(default_factory=dict)
    n_suites: int = 0
    n_elements: int = 0
    _set: Column = (SOURCE, "")
    _part: Column = (SOURCE, "")
    _document: str | None = None
    _domain: str = ""
    _is_suite: bool = False
    _segment: tuple[int, str] | None = None
    _texts: list[str] = field(default_factory=list)

    def start(self, tag: str, given: Mapping[str, str], line: int) -> None:
        """Handle the beginning of an element."""
        tag, values = tag.lower(), {name.lower(): value for name, value in given.items()}
        if self._segment is not None:
            self.n_elements += 1
        elif tag in SETS:
            self._set = SETS[tag], values.get("sysid") or values.get("refid") or ""
            self._state(self._set[0], values, line)
        elif tag == "doc":
            self._begin_document(values, line)
        elif tag in ELEMENTS:
            kind, name = ELEMENTS[tag]
            self._part = _column(kind, values.get(name, ""))
            self._state(kind, values, line)
            if kind == SYSTEM and not self._part[1] and not self._is_suite:
                text = message("marked.no-system", "The output names no system (“system”).")
                self._fail(text, line, tag)
        elif tag == "seg" and not self._is_suite:
            self._begin_segment(values, line)

    def _begin_document(self, values: Mapping[str, str], line: int) -> None:
        self._document = values.get("id") or values.get("docid") or ""
        self._domain = values.get("domain") or values.get("genre") or ""
        self._is_suite = "testsuite" in values
        self.n_suites += self._is_suite
        kind, name = self._set
        self._part = _column(kind, values.get("sysid") or name)
        if not self._document:
            self._fail(message("marked.document-id", "The document has no id."), line, "doc")
        if kind == SYSTEM and not self._part[1]:
            text = message("marked.no-sysid", "The document names no system (“sysid”).")
            self._fail(text, line, "doc")

    def _state(self, kind: str, values: Mapping[str, str], line: int) -> None:
        for name in STATED[kind]:
            if (language := values.get(name, "")) and len(self.stated) < MOST_STATED:
                self.stated.setdefault((kind, language), line)

    def _begin_segment(self, values: Mapping[str, str], line: int) -> None:
        if self._document is None:
            text = message("marked.no-document", "The segment is not in a document.")
            self._fail(text, line, "seg")
        if not (segment := values.get("id", "").strip()):
            self._fail(message("marked.segment-id", "The segment has no id."), line, "seg")
        self._segment, self._texts = (line, f"{self._document}:{segment}"), []

    def text(self, data: str) -> None:
        """Handle characters between tags."""
        if self._segment is not None:
            self._texts.append(data)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
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
            refusal = message("marked.twice", "Segment {segment} occurs twice.", segment=key)
            self._fail(refusal, line, self._part[0])
        elif len(text) > LONGEST_TEXT:
            self._fail(too_long(len(text)), line, self._part[0])
        cells[key] = line, text
        self.documents[key] = self._document or ""
        if self._domain:
            self.domains[key] = self._domain

    def finish(self) -> None:
        """Report what is wrong with the file as a whole, at its end."""
        place = Place(self.name)
        if self._document is not None or self._segment is not None:
            text = message(
                "marked.cut-off",
                "The file ends within a document. Check whether it was cut off.",
            )
            self.report.error(text, place)
        elif not self.columns:
            text = message(
                "marked.no-segments",
                "The file has no segments. XML and SGML files must be WMT test sets: documents "
                "(“doc”) with “src”, “ref” and “hyp”, or in a “srcset”, “refset” or “tstset”.",
            )
            self.report.error(text, place)
        self.report.warn_of(
            self.n_elements,
            "marked.elements",
            "Removed the tags of {n} element within segments; its text remains.",
            "Removed the tags of {n} elements within segments; their texts remain.",
            place,
        )
        self.report.note_of(
            self.n_suites,
            "marked.suites",
            "Skipped {n} document of a test suite.",
            "Skipped {n} documents of test suites.",
            place,
        )

    def _fail(self, refusal: Message, line: int, element: str) -> None:
        self.report.error(refusal, Place(self.name, line, element))


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
    elif not parse_xml(name, text, file, report):
        return None
    file.finish()
    return file if file.columns else None


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the tables of XML and SGML files.

    Sources come from one file, references from all, and outputs from each; sources in several files
    must be equal. The report warns if they state other languages than those of the test set.
    """
    report, stated = to.report, _Languages(to.pair)
    read_in = (_read(content.name, content.text, report) for content in contents)
    files = [file for file in read_in if file is not None]
    first = next((file for file in files if (SOURCE, "") in file.columns), None)
    for file in files:
        stated.read(file, report)
        if first is None and any(kind == REFERENCE for kind, _ in file.columns):
            text = message("marked.no-sources", "The references have no sources.")
            report.error(text, Place(file.name))
        elif first is not None and file is not first:
            _check(file, first, report)
            _take_references(file, first, report)
    for file in files:
        kinds = (SOURCE, REFERENCE, SYSTEM) if file is first else (SYSTEM,)
        named = ((each, cells) for each, cells in file.columns.items() if each != (SYSTEM, ""))
        columns = {each: cells for each, cells in named if each[0] in kinds}
        if columns:
            yield _table(file, columns, stated.columns)


class _Languages:
    """The languages of a test set, and columns for those that only its files state."""

    def __init__(self, pair: Pair) -> None:
        self.pair = dict(zip(FIELDS[1:], pair, strict=True))
        self.columns: dict[str, str] = {}

    def read(self, file: _File, report: Report) -> None:
        """Take the languages that a file states, or warn if they are others."""
        for (kind, stated), line in file.stated.items():
            field = FIELDS[1 + (kind != SOURCE)]
            try:
                code = languages.find(stated)
                language = self.pair[field] or self.columns.setdefault(field, code)
                known = languages.find(language)
            except languages.LanguageError:  # such as “any”
                continue
            if languages.bare(code) != languages.bare(known):
                text = message(
                    "marked.language",
                    "The language of the {kind} is “{stated}” in the file and “{language}” in the "
                    "test set.",
                    kind=NAMES[kind],
                    stated=stated,
                    language=language,
                )
                report.warn(text, Place(file.name, line))


def _check(file: _File, first: _File, report: Report) -> None:
    sources = first.columns[SOURCE, ""]
    for key, (line, text) in file.columns.get((SOURCE, ""), {}).items():
        if key not in sources or sources[key][1] != text:
            refusal = _absent(key, first)
            if key in sources:
                refusal = message(
                    "marked.other-source",
                    "Segment {segment} has another source in {file}.",
                    segment=key,
                    file=first.name,
                )
            report.error(refusal, Place(file.name, line, SOURCE))


def _absent(key: str, first: _File) -> Message:
    return message(
        "marked.absent", "Segment {segment} is not in {file}.", segment=key, file=first.name
    )


def _take_references(file: _File, first: _File, report: Report) -> None:
    sources = first.columns[SOURCE, ""]
    for column, cells in file.columns.items():
        if column[0] != REFERENCE:
            continue
        if column in first.columns:
            text = message(
                "marked.reference-twice",
                "Reference {reference} is also in {file}.",
                reference=column[1],
                file=first.name,
            )
            report.error(text, Place(file.name))
        for key, (line, _) in cells.items():
            if key not in sources:
                report.error(_absent(key, first), Place(file.name, line, REFERENCE))
        first.columns[column] = cells


def _table(
    file: _File, columns: Mapping[Column, Mapping[str, tuple[int, str]]], stated: dict[str, str]
) -> Table:
    """Return one row per segment, in the order of the sources, else of the first column."""
    has_sources = (SOURCE, "") in columns
    named = {"document": file.documents} | ({"domain": file.domains} if file.domains else {})
    named = named if has_sources else {}
    rows = []
    for key in dict.fromkeys(key for cells in columns.values() for key in cells):
        found = {_title(each): cells[key] for each, cells in columns.items() if key in cells}
        row = {"segment": key} | {name: of[key] for name, of in named.items() if key in of}
        lines = [line for line, _ in found.values()]
        rows.append((lines[0], row | stated | {name: text for name, (_, text) in found.items()}))
    titles = ["segment", *named, *stated, *map(_title, columns)]
    return Table(file.name, titles, rows, {title: title for title in titles})


def _title(column: Column) -> str:
    kind, name = column
    return {SOURCE: SOURCE, REFERENCE: f"reference_{name}", SYSTEM: f"system:{name}"}[kind]
