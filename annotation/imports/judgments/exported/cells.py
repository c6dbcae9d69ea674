"""Read the other columns of a row: times, screens, annotators and own answers."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

from annotation.imports.drafts import AnnotatorDraft, FateDraft, Shown
from annotation.imports.jsonfiles import unstorable
from annotation.imports.judgments.exported.columns import CHOICE, ITEM_SUGGESTIONS, PERSON, SCALE
from annotation.imports.judgments.fields import Sheet
from annotation.imports.judgments.rows import Row, rows_of
from annotation.imports.judgments.times import Clock, TimeError
from annotation.models import Judgment, SuggestionFate
from annotation.prefill.suggestions import PLANTED, WITHHELD, Condition
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.uploads.formats.registry import OUR_SUGGESTIONS
from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import Table
from metaeval.messages import message, plural

# What columns of whole numbers hold at most, by the database; those of screens are smaller.
MOST, MOST_PLACE = 2**31 - 1, 2**15 - 1
SMALL = frozenset({"column", "n_columns", "place", "sent_together"})
KEY = re.compile(r"[\w.-]{0,80}", re.ASCII)
CLOCKS = ("visible_ms", "active_ms", "paid_ms")
NOT_JSON = message("judgments.not-json", "The cell does not hold JSON as our exports write it.")


def count(row: Row, field: str, report: Report) -> int | None:
    """Return a whole number that is not negative; None for an empty cell."""
    number = row.whole(field, report)
    most = MOST_PLACE if field in SMALL else MOST
    if number is None or 0 <= number <= most:
        return number
    refusal = message(
        "judgments.number-outside", "{number} is not from 0 to {most}.", number=number, most=most
    )
    report.error(refusal, row.at(field))
    return None


def parsed(row: Row, field: str, kind: type, report: Report) -> Any:
    """Return a list or an object of a cell, an empty one for an empty cell; others are reported."""
    cell = row.cells.get(field)
    if cell in (None, ""):
        return kind()
    try:
        value = json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, kind) and not any(unstorable(value)):
        return value
    report.error(NOT_JSON, row.at(field))
    return kind()


def _lacks(row: Row, fields: Collection[str]) -> bool:
    """Return True for a row of a table that has none of these columns of our exports."""
    return row.cells.keys().isdisjoint(fields)


OF_JUDGMENTS = (
    *(*CLOCKS, "time_doubt", "sent_together", "is_current", "judgment_key", "hter", "playing"),
    "fates",
)
OF_SCREENS = ("column", "inclusion", "openings", "position", "condition")
OF_ANNOTATORS = (
    "annotator_key", "is_simulated", "is_excluded", "excluded_at", "exclusion_reason",
)  # fmt: skip
UNKNOWN, NOBODY = Shown(), AnnotatorDraft()
NONE: Mapping[str, Any] = MappingProxyType({})


def judged(row: Row, report: Report) -> dict[str, Any]:
    """Return the values of a judgment draft that are not answers."""
    if _lacks(row, OF_JUDGMENTS):
        return {}
    return {
        **{name: count(row, name, report) for name in CLOCKS},
        "time_doubt": _one_of(row, "time_doubt", Judgment.TimeDoubt.values, report),
        "sent_together": count(row, "sent_together", report) or 1,
        "is_current": row.name("is_current") == "" or row.is_true("is_current", report),
        "key": _key(row, report),
        "hter": row.number("hter", report),
        "playing": parsed(row, "playing", list, report),
        "fates": row.cells.get("fates", ()),
    }


def _one_of(row: Row, field: str, known: Sequence[str], report: Report) -> str:
    word = row.name(field)
    if word not in known:
        text = message("judgments.unknown-code", "“{text}” is unknown.", text=word[:20])
        report.error(text, row.at(field))
    return word


def _key(row: Row, report: Report) -> UUID | None:
    text = row.name("judgment_key")
    try:
        return UUID(text) if text else None
    except ValueError:
        refusal = message("judgments.no-key", "“{text}” is not a UUID.", text=text[:40])
        report.error(refusal, row.at("judgment_key"))
        return None


def shown(row: Row, column: int, report: Report) -> Shown:
    """Return how a person was shown the item; `column` is where the item itself stands."""
    if _lacks(row, OF_SCREENS):
        return UNKNOWN
    own = count(row, "column", report)
    inclusion = row.number("inclusion", report)
    times = parsed(row, "openings", list, report)
    return Shown(
        position=count(row, "position", report),
        column=None if own is None or (own - 1 == column and inclusion is None) else own - 1,
        condition=_one_of(row, "condition", list(Condition), report),
        inclusion=inclusion,
        openings=tuple(filter(None, (_time(row, "openings", each, report) for each in times))),
    )


def _time(row: Row, field: str, value: Any, report: Report) -> Any:
    try:
        return Clock().read(value)
    except TimeError as error:
        report.error(error.message, row.at(field))
        return None


def item(row: Row, report: Report) -> dict[str, Any]:
    """Return the values of an item draft that say how it is shown and what is right."""
    return {
        "screen": count(row, "screen", report),
        "place": count(row, "place", report) or 0,
        "column": max(0, (count(row, "column", report) or 1) - 1),
        "n_columns": count(row, "n_columns", report) or 1,
        "note": row.clean("note", report),
        "inclusion": row.number("segment_inclusion", report),
        "feedback": row.clean("feedback", report),
        "rules": parsed(row, "rules", dict, report) or None,
        "stored_suggestions": row.cells.get(ITEM_SUGGESTIONS),
    }


def annotator(row: Row, report: Report) -> AnnotatorDraft:
    """Return what a row says of its annotator."""
    if _lacks(row, OF_ANNOTATORS):
        return NOBODY
    key = row.name("annotator_key")
    if not KEY.fullmatch(key):
        text = message("judgments.no-annotator-key", "“{text}” is not a key.", text=key[:20])
        report.error(text, row.at("annotator_key"))
    return AnnotatorDraft(
        key=f"{PERSON}{key}" if key else "",
        is_simulated=row.is_true("is_simulated", report),
        is_excluded=row.is_true("is_excluded", report),
        excluded_at=_time(row, "excluded_at", row.cells.get("excluded_at"), report),
        reason=row.clean("exclusion_reason", report),
    )


def ratings(row: Row, protocol: Protocol, report: Report) -> Mapping[str, int]:
    """Return the values of a protocol's own scales by name; others than its values are errors."""
    if not any(scale.key for scale in protocol.scales):
        return NONE
    found: dict[str, int] = {}
    for scale in protocol.scales:
        if not scale.key:
            continue
        field = SCALE + scale.key.casefold()
        before = report.n_errors
        value = row.whole(field, report)
        if value is not None and scale.holds(value):
            found[scale.key] = value
        elif report.n_errors == before:
            refusal = message(
                "judgments.not-on-scale",
                "“{value}” is not on the scale {scale}, which goes from {low} to {high} in steps "
                "of {step}.",
                value=row.name(field)[:20],
                scale=scale.key,
                low=scale.low,
                high=scale.high,
                step=scale.step,
            )
            report.error(refusal, row.at(field))
    return found


def choices(row: Row, protocol: Protocol, report: Report) -> Mapping[str, str]:
    """Return what was chosen by the name of each choice; unknown options are errors."""
    if not protocol.choices:
        return NONE
    found: dict[str, str] = {}
    for choice in protocol.choices:
        field = CHOICE + choice.key.casefold()
        value = row.name(field)
        if value in choice.options:
            found[choice.key] = value
        elif value:
            refusal = message(
                "judgments.unknown-option",
                "“{value}” is not an option of {choice}. The options are {options}.",
                value=value[:40],
                choice=choice.key,
                options=list(choice.options),
            )
            report.error(refusal, row.at(field))
    return found


# Read our table of suggestions, which accompanies judgments.

PLACES = ("side", "start", "end", "severity", "category")
JUDGMENT_KEY = ("campaign", "judgment")


def has_suggestions(table: Table) -> bool:
    """Return True for our table of suggestions."""
    return set(table.columns) >= OUR_SUGGESTIONS


def add_suggestions(rows: Sequence[Row], tables: Sequence[Table], report: Report) -> None:
    """Give judgments the fates of their suggestions, and all rows of an item its suggestions.

    What belongs to no judgment is reported.
    """
    judged = {row.key(JUDGMENT_KEY): row for row in rows if row.sheet.is_exported}
    stored: dict[tuple[str, str], Mapping[str, Any]] = {}
    n = 0
    for table in tables:
        sheet = Sheet(table, {column: column for column in table.columns})
        for row in rows_of(sheet):
            judgment = judged.get(row.key(JUDGMENT_KEY))
            if judgment is None:
                refusal = message(
                    "judgments.suggestion-of-no-judgment",
                    "The judgment of this suggestion is in none of the files.",
                )
                report.error(refusal, row.at("judgment"))
                continue
            n += 1
            if (fate := _fate(row, report)) is not None:
                judgment.cells["fates"] = (*judgment.cells.get("fates", ()), fate)
            if whole := parsed(row, ITEM_SUGGESTIONS, dict, report):
                if not _is_whole(whole):
                    report.error(NOT_JSON, row.at(ITEM_SUGGESTIONS))
                stored[judgment.name("campaign"), judgment.name("item")] = whole
    for row in judged.values():
        if (item := (row.name("campaign"), row.name("item"))) in stored:
            row.cells[ITEM_SUGGESTIONS] = stored[item]
    if tables:
        text = plural(
            "judgments.suggestions-read",
            "{n} suggestion was added to its judgment.",
            "{n} suggestions were added to their judgments.",
            n=n,
        )
        report.note(text, tables[0].head)


def _fate(row: Row, report: Report) -> FateDraft | None:
    number, start, end = (count(row, name, report) for name in ("number", "start", "end"))
    side, severity, category = (row.name(name) for name in ("side", "severity", "category"))
    origin, fate = row.name("origin"), row.name("fate")
    is_known = origin in SuggestionFate.Origin.values and fate in SuggestionFate.Fate.values
    has_place = start is not None and end is not None and side in (SOURCE, TARGET)
    if not is_known or number is None or not has_place or not severity:
        refusal = message(
            "judgments.suggestion-changed", "The suggestion is not as it was exported."
        )
        report.error(refusal, row.place)
        return None
    return FateDraft(number, origin, fate, Span(side, start or 0, end or 0, severity, category))


def _is_whole(values: Mapping[str, Any]) -> bool:
    """Whether an object is what items store (:mod:`annotation.prefill.suggestions`)."""
    spans, known = values.get("spans"), values.get("known")
    types = (str, int, int, str, str, str)
    return (
        set(values) == {"spans", "known"}
        and isinstance(spans, list)
        and all(
            isinstance(each, list)
            and tuple(map(type, each)) == types
            and each[-1] in ("", PLANTED, WITHHELD)
            for each in spans
        )
        and (known is None or (isinstance(known, list) and [*map(type, known)] == [str, int, int]))
    )
