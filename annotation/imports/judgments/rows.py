"""Rows of sheets by field, with their places; join rows of several sheets."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

from annotation.imports.drafts import SHOW_OUTPUT, base_document
from annotation.imports.jsonfiles import UNSTORABLE
from annotation.imports.judgments.fields import KEYS, NAMED, Sheet, not_text
from annotation.imports.judgments.options import Options
from annotation.models import Item
from annotation.uploads.checks import FORBIDDEN, character
from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import nfc
from annotation.uploads.tables.cells import no_number, plain_ratio
from annotation.uploads.tables.pairs import Pair, of_row
from core.languages import LanguageError
from metaeval.files.cells import is_missing, read_score
from metaeval.messages import Message, message, plural

TRUE = frozenset({"true", "1", "yes", "y", "document"})
FALSE = frozenset({"", "false", "0", "no", "n", "segment", "sentence"})
Key = tuple[str, ...]
_WORDS = {
    Item.Kind.TARGET: "tgt target system output outputs mt normal regular segment candidate",
    Item.Kind.BAD_REF: "bad badref badreference degraded cal",
    Item.Kind.REPEAT: "repeat chk check duplicate dup repeated",
    Item.Kind.REF: "ref reference human referenceasoutput",
    Item.Kind.TRAP: "trap",
    Item.Kind.GOLD: "gold",
    Item.Kind.TUTORIAL: "tutorial practice training",
    Item.Kind.DOCUMENT: "document wholedocument doc",
}
KINDS = {"": Item.Kind.TARGET} | {
    word: kind for kind, words in _WORDS.items() for word in words.split()
}
NOT_JOINED = message(
    "judgments.table-not-joined",
    "No column joins this table with the judgments. Both need a segment or an item; choose its "
    "column.",
)


@dataclass(slots=True)
class Row:
    """One row: `cells` by field, and the line and the sheet that errors name."""

    cells: dict[str, Any]
    line: int
    sheet: Sheet

    @property
    def place(self) -> Place:
        """The place of the row."""
        return Place(self.sheet.name, self.line)

    def at(self, field: str) -> Place:
        """Return the place of a cell."""
        return self.place._replace(field=self.sheet.column(field))

    def text(self, field: str, report: Report) -> str:
        """Return a text with LF, in our exports unchanged; report a cell of another type."""
        value = self.cells.get(field)
        if not value and (value is None or value == ""):
            return ""
        if isinstance(value, str):
            return value if self.sheet.is_exported else normalise(value).text
        report.error(not_text(value), self.at(field))
        return ""

    def clean(self, field: str, report: Report) -> str:
        """Return a text whose characters are allowed; others are reported.

        What annotators typed on a server of ours was stored there, whatever it is.
        """
        text = self.text(field, report)
        if not text:
            return ""
        forbidden = UNSTORABLE if self.sheet.is_exported else FORBIDDEN
        if found := forbidden.search(text):
            report.error(
                message(
                    "judgments.character-in-text",
                    "The text contains the character {character}, which is not allowed.",
                    character=character(found[0]),
                ),
                self.at(field),
            )
        return text

    def name(self, field: str) -> str:
        """Return a key or name without outer blanks; numbers are names too."""
        value = self.cells.get(field)
        if type(value) is str:
            return value.strip()
        return "" if value is None or isinstance(value, dict | list) else str(value).strip()

    def named(self, fields: Sequence[str]) -> list[Message]:
        """Return what several fields hold, as `segment “7”`, or `no segment`."""
        return [
            message("judgments.field-is", "{field} “{name}”", field=field, name=name)
            if (name := self.name(field))
            else message("judgments.field-empty", "no {field}", field=field)
            for field in fields
        ]

    def has_nothing(self, field: str) -> bool:
        """Return whether a cell of numbers is missing (`metaeval.files.cells`)."""
        return is_missing(self.cells.get(field))

    def number(self, field: str, report: Report) -> float | None:
        """Return a finite number, or None for a missing one; report other values."""
        value = self.cells.get(field)
        if value is None:
            return None
        number = read_score(value)
        if number is None:
            report.error(no_number(value), self.at(field))
        return None if number is None or math.isnan(number) else number

    def whole(self, field: str, report: Report) -> int | None:
        """Return a whole number, or None for an empty cell; a wrong one is reported."""
        number = self.number(field, report)
        if number is None or number == int(number):
            return None if number is None else int(number)
        report.error(
            message(
                "judgments.not-a-whole-number", "{number} is not a whole number.", number=number
            ),
            self.at(field),
        )
        return None

    def is_true(self, field: str, report: Report) -> bool:
        """Return yes or no; anything else is reported."""
        word = self.name(field).lower()
        if not word:
            return False
        if word not in TRUE | FALSE:
            report.error(
                message(
                    "judgments.not-yes-or-no", "“{text}” is neither yes nor no.", text=word[:40]
                ),
                self.at(field),
            )
        return word in TRUE

    def kind(self, report: Report) -> Item.Kind:
        """Return what was shown; an empty cell is an output of a system."""
        word = self.name("kind")
        found = KINDS.get("".join(c for c in word.lower() if c.isalnum()))
        if found is None:
            report.error(
                message(
                    "judgments.unknown-kind",
                    "The kind “{kind}” is unknown. Use TGT or SYSTEM, REPEAT or CHK, BAD or "
                    "BAD_REF, REF, TRAP, GOLD, TUTORIAL or DOCUMENT.",
                    kind=word[:40],
                ),
                self.at("kind"),
            )
        return found or Item.Kind.TARGET

    @property
    def shows_output(self) -> bool:
        """Whether a system's output was shown; our exports name the system of nothing else."""
        kind = self.cells.get("kind", Item.Kind.TARGET)
        is_own = self.sheet.is_exported and kind != Item.Kind.DOCUMENT
        return bool(self.name("system")) and (kind in SHOW_OUTPUT or is_own)

    def key(self, fields: Sequence[str]) -> Key:
        """Return the names that several fields hold."""
        return tuple(self.name(field) for field in fields)


def rows_of(sheet: Sheet) -> list[Row]:
    """Return the rows of a sheet by field; its table loses them, so that memory has them once."""
    named = [(column, field) for column, field in sheet.fields.items() if field]
    lines, sheet.table.rows = list(sheet.table.rows)[::-1], []
    rows = []
    while lines:
        line, cells = lines.pop()
        own = with_plain_names({f: cells[c] for c, f in named if c in cells})
        rows.append(Row(own, line, sheet))
    return rows


def with_plain_names(cells: dict[str, Any]) -> dict[str, Any]:
    """Write names in cells in NFC and length ratios as plain numbers, such as `0.8`.

    A name is one, however its letters are composed, and so is a ratio, `0.80` or `80%`. Names of
    many rows are one string.
    """
    for field in NAMED:
        if isinstance(value := cells.get(field), str):
            cells[field] = intern(nfc(value))
    if "length_ratio" in cells:
        cells["length_ratio"] = plain_ratio(cells["length_ratio"]) or cells["length_ratio"]
    return cells


def join(rows: Sequence[Row], sheets: Iterable[Sheet], report: Report) -> list[Row]:
    """Fill the rows' empty fields from other sheets, by the keys that both have.

    Returns the rows of those sheets. A sheet whose keys another brings is joined after it.
    """
    others: list[Row] = []
    waiting = list(sheets)
    while waiting:
        known = {field for row in rows for field in row.cells}
        sheet = next((s for s in waiting if _shared(s, known)), None)
        if sheet is None:
            for each in waiting:
                report.error(NOT_JOINED, each.table.head)
            break
        waiting.remove(sheet)
        others += (found := rows_of(sheet))
        _fill(rows, found, _shared(sheet, known), report)
    return others


def _shared(sheet: Sheet, known: Iterable[str]) -> list[str]:
    shared = [key for key in KEYS if key in sheet.has and key in known]
    return shared if {"item", "segment", "system"} & set(shared) else []


def _fill(rows: Sequence[Row], others: Sequence[Row], shared: list[str], report: Report) -> None:
    by_key = index(others, shared, report)
    brings = {field for other in others for field in other.cells} - set(shared)
    is_needed = "segment" in brings or "item" in brings
    for row in rows:
        other = by_key.get(row.key(shared))
        if other is None:
            if is_needed:
                refusal = message(
                    "judgments.no-row-in-table",
                    "{file} has no row with {keys}.",
                    file=others[0].sheet.name,
                    keys=row.named(shared),
                )
                report.error(refusal, row.at(shared[-1]))
            continue
        for field, value in other.cells.items():
            if row.cells.get(field) in (None, ""):
                row.cells[field] = value


def index(rows: Iterable[Row], fields: Sequence[str], report: Report) -> Mapping[Key, Row]:
    """Return rows by a key; two rows of one key must agree in all that they hold."""
    found: dict[Key, Row] = {}
    for row in rows:
        first = found.setdefault(row.key(fields), row)
        if first is not row and first.cells != row.cells:
            refusal = message(
                "judgments.rows-disagree",
                "The rows with {keys} have different contents. The first one is {place}.",
                keys=row.named(fields),
                place=first.place.label,
            )
            report.error(refusal, row.at(fields[-1]))
    return found


# Find the language pair, segment and document of each row.

# The system of a table with outputs that names none.
UNNAMED = "system"


def read_pair(row: Row, options: Options, report: Report) -> Pair:
    """Return the languages of a row: its own, or the stated ones; empty where nothing says."""
    try:
        source, target = of_row(row.cells) or ("", "")
    except LanguageError as error:
        field = "language_pair" if row.name("language_pair") else "source_language"
        report.error(error.message, row.at(field))
        return "", ""
    return source or options.source_language, target or options.target_language


def fill_names(rows: Iterable[Row], options: Options, report: Report) -> None:
    """Fill in the system where cells name none, and remove Appraise's suffixes of documents.

    Kinds become ours, including whole documents; `is_copy` marks one shown as a control item.
    """
    marked, unnamed = 0, None
    for row in rows:
        kind = row.kind(report)
        if row.is_true("level", report):
            row.cells["is_copy"] = kind not in SHOW_OUTPUT
            kind = Item.Kind.DOCUMENT
        row.cells["kind"] = kind.value
        row.cells.pop("level", None)
        if not row.name("system") and options.system:
            row.cells["system"] = options.system
        elif "output" in row.sheet.has and "system" not in row.sheet.has:
            row.cells["system"] = UNNAMED
            unnamed = unnamed or row.at("output")
        shown = row.name("document")
        base = shown if row.sheet.is_exported else base_document(shown, row.name("system"))
        if shown != base:
            marked += 1
            row.cells |= {"document": base, "shown_document": shown}
    if unnamed:
        text = message(
            "judgments.system-unnamed",
            "No column names the system of the outputs, so it is called “{system}”. State its name "
            "(command line: --system; API: system).",
            system=UNNAMED,
        )
        report.warn(text, unnamed)
    if marked:
        report.note(
            plural(
                "judgments.appraise-marks",
                "The document name in {n} row ends with #SYSTEM, #bad or #duplicate, as in "
                "Appraise. The mark was removed.",
                "The document names in {n} rows end with #SYSTEM, #bad or #duplicate, as in "
                "Appraise. The marks were removed.",
                n=marked,
            )
        )


def name_segments(rows: Sequence[Row], report: Report) -> None:
    """Give every row the key of its segment, and whole documents that of their first one.

    Keys are the tables' own; else document and place in it; else the item, or, where items are
    numbered anew for every person or batch, document and place in the order shown.
    """
    whole = [row for row in rows if row.cells["kind"] == Item.Kind.DOCUMENT]
    single = [row for row in rows if row.cells["kind"] != Item.Kind.DOCUMENT]
    if not any(row.name("segment") for row in single):
        _derive(single, report)
    _name_documents(whole, single, report)
    for row in single:
        if not row.name("segment"):
            report.error(message("segment.missing", "The segment is missing."), row.at("segment"))


def _derive(rows: Sequence[Row], report: Report) -> None:
    if any(row.name("document_place") for row in rows):
        for row in rows:
            if place := row.name("document_place"):
                row.cells["segment"] = f"{row.name('document')}:{place}"
        report.note(
            message(
                "judgments.segments-by-position",
                "Segments are named by their document and their position in it.",
            )
        )
    elif _is_local(rows):
        _count_within_documents(rows)
        report.warn(
            message(
                "judgments.local-items",
                "The same item number occurs in several documents, so items are numbered per "
                "annotator or batch. Segments are therefore named by their document and their "
                "position in the order shown. If there is a column of segments, choose it.",
            )
        )
    else:
        for row in rows:
            row.cells["segment"] = row.name("item")


def _is_local(rows: Sequence[Row]) -> bool:
    documents: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        documents[row.name("item")].add(row.name("document"))
    return any(len(names) > 1 for names in documents.values())


def _count_within_documents(rows: Sequence[Row]) -> None:
    seen: dict[Key, dict[str, int]] = defaultdict(dict)
    for row in rows:
        shown = row.name("shown_document") or row.name("document")
        items = seen[(*row.key(("annotator", "batch")), shown)]
        place = items.setdefault(row.name("item"), len(items) + 1)
        row.cells["segment"] = f"{row.name('document')}:{place}"


def _name_documents(whole: Sequence[Row], single: Sequence[Row], report: Report) -> None:
    """Set the segment of whole documents to their first one."""
    first: dict[Key, str] = {}
    for row in single:
        first.setdefault(row.key(("document", "system")), row.name("segment"))
        first.setdefault(row.key(("document",)), row.name("segment"))
    known = {row.name("segment") for row in single}
    for row in whole:
        if row.name("segment") in known:
            continue
        keys = (row.key(("document", "system")), row.key(("document",)))
        key = next((first[key] for key in keys if key in first and row.name("document")), "")
        row.cells["segment"] = key
        if not key:
            report.error(
                message("judgments.document-without-segment", "This document has no segments."),
                row.at("document"),
            )
