"""Rows of sheets by field, with their places; join rows of several sheets."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.imports.jsonfiles import UNSTORABLE
from annotation.imports.judgments.cells.kinds import KINDS, SHOW_OUTPUT
from annotation.imports.judgments.fields import KEYS, NAMED, Sheet, not_text
from annotation.models import Item
from annotation.uploads.checks import FORBIDDEN, character
from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import nfc
from annotation.uploads.tables.numbers import no_number
from metaeval.files.cells import is_missing, read_score
from metaeval.messages import Message, message

TRUE = frozenset({"true", "1", "yes", "y", "document"})
FALSE = frozenset({"", "false", "0", "no", "n", "segment", "sentence"})
Key = tuple[str, ...]
NOT_JOINED = message(
    "judgments.table-not-joined",
    "No column joins this table with the judgments. Both need a segment or an item; choose its "
    "column.",
)


@dataclass
class Row:
    """One row: `cells` by field, and the place and the columns that errors name."""

    cells: dict[str, Any]
    place: Place
    sheet: Sheet

    def at(self, field: str) -> Place:
        """Return the place of a cell."""
        return self.place._replace(field=self.sheet.column(field))

    def text(self, field: str, report: Report) -> str:
        """Return a text with LF, in our exports unchanged; report a cell of another type."""
        value = self.cells.get(field)
        if value is None or isinstance(value, str):
            is_own = self.sheet.is_exported
            return (value or "") if is_own else normalise(value or "").text
        report.error(not_text(value), self.at(field))
        return ""

    def clean(self, field: str, report: Report) -> str:
        """Return a text whose characters are allowed; others are reported.

        What annotators typed on a server of ours was stored there, whatever it is.
        """
        text = self.text(field, report)
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
    """Return the rows of a sheet by field."""
    named = [(column, field) for column, field in sheet.fields.items() if field]
    return [
        Row(with_plain_names({f: cells[c] for c, f in named if c in cells}),
            Place(sheet.name, line), sheet)
        for line, cells in sheet.table.rows
    ]  # fmt: skip


def with_plain_names(cells: dict[str, Any]) -> dict[str, Any]:
    """Return cells with names in NFC: a name is one, however its letters are composed."""
    names = ((field, cells[field]) for field in NAMED if field in cells)
    return cells | {field: nfc(value) for field, value in names if isinstance(value, str)}


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
