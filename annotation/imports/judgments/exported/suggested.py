"""Read our table of suggestions, which accompanies judgments."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.imports.drafts import FateDraft
from annotation.imports.judgments.exported.cells import NOT_JSON, count, parsed
from annotation.imports.judgments.exported.columns import ITEM_SUGGESTIONS
from annotation.imports.judgments.fields import Sheet
from annotation.imports.judgments.rows import Row, rows_of
from annotation.models import SuggestionFate
from annotation.prefill.suggestions import PLANTED, WITHHELD
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.uploads.formats.registry import OUR_SUGGESTIONS
from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import Table
from metaeval.messages import message, plural

PLACES = ("side", "start", "end", "severity", "category")
KEY = ("campaign", "judgment")


def has_suggestions(table: Table) -> bool:
    """Return True for our table of suggestions."""
    return set(table.columns) >= OUR_SUGGESTIONS


def add_suggestions(rows: Sequence[Row], tables: Sequence[Table], report: Report) -> None:
    """Give judgments the fates of their suggestions, and all rows of an item its suggestions.

    What belongs to no judgment is reported.
    """
    judged = {row.key(KEY): row for row in rows if row.sheet.is_exported}
    stored: dict[tuple[str, str], Mapping[str, Any]] = {}
    n = 0
    for table in tables:
        sheet = Sheet(table, {column: column for column in table.columns})
        for row in rows_of(sheet):
            judgment = judged.get(row.key(KEY))
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
