"""Find the language pair, segment and document of each row."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from annotation.imports.judgments.cells.kinds import SHOW_OUTPUT, base_document
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.rows import Key, Row
from annotation.models import Item
from annotation.uploads.problems import Report
from annotation.uploads.tables.pairs import Pair, of_row
from core.languages import LanguageError
from metaeval.messages import message, plural

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
        row.cells |= {"kind": kind.value, "level": ""}
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
            report.error(
                message("judgments.no-segment", "The segment is missing."), row.at("segment")
            )


def _derive(rows: Sequence[Row], report: Report) -> None:
    if any(row.name("document_place") for row in rows):
        for row in rows:
            row.cells["segment"] = f"{row.name('document')}:{row.name('document_place')}"
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
