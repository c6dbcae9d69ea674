"""Read tables of judgments as a test set and campaigns per language pair."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from annotation.imports.drafts import CampaignDraft
from annotation.imports.judgments import answers as answering
from annotation.imports.judgments.answers import Reader
from annotation.imports.judgments.exported.cells import add_suggestions, has_suggestions
from annotation.imports.judgments.exported.columns import answer_field
from annotation.imports.judgments.fields import (
    FIELDS,
    Sheet,
    is_other_field,
    known_fields,
    numbered,
    read_numbers,
    read_tables,
    refuse_objects,
    sheets_of,
    warn_of_missing_scores,
    with_durations,
)
from annotation.imports.judgments.groups import drafts_of
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.rows import Row, fill_names, join, name_segments, rows_of
from annotation.imports.judgments.times import Clock
from annotation.imports.judgments.wide import unfold
from annotation.models import TestSet
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import read_chosen, refuse_unknown, say_unused
from annotation.uploads.tables.likert import refuse_orders
from annotation.uploads.tables.lines import Listing
from annotation.uploads.tables.pairs import of_row
from annotation.uploads.tables.rows import Table
from core.languages import LanguageError
from metaeval.files.names import Field, column_of
from metaeval.messages import message, truncated
from metaeval.scores.directions import Direction

ANSWERS = {"score", "spans", "post_edit", "hter"}

# Suggest a name for the campaign of tables that state none.

# Names of files that say what every such file holds.
GENERIC = frozenset(
    (
        *("annotation", "annotations", "campaign", "copy", "csv", "da", "data", "download", "esa"),
        *("evaluation", "export", "final", "human", "humeval", "judgement", "judgements"),
        *("judgment", "judgments", "mqm", "new", "output", "outputs", "published", "rating"),
        *("ratings", "result", "results", "score", "scores", "seg", "segment", "segments", "sheet"),
        *("sys", "system", "systems", "table", "tables", "tabelle", "test", "tsv", "untitled"),
    )
)
FOLDERS = frozenset({"desktop", "documents", "downloads", "home", "tmp", "temp"})


def is_generic(name: str) -> bool:
    """Return True if a name says no more than what kind of file this is.

    >>> is_generic("judgments (2)"), is_generic("wmt24-judgments")
    (True, False)
    """
    words = re.findall(r"[^\W\d_]+", name.lower())
    return bool(words) and not set(words) - GENERIC


def name_of(options: Options, files: Sequence[InputFile], rows: Sequence[Row]) -> str:
    """Return the stated name; else the only campaign of the rows, the file, the study, the stored
    test set, or the folder; and else the file with the language pair."""
    stem = PurePath(files[0].name).stem
    campaigns = {row.name("campaign") for row in rows}
    pair = _pair(options, rows)
    candidates = (
        options.name,
        campaigns.pop() if len(campaigns) == 1 else "",
        "" if is_generic(stem) else stem,
        options.study,
        _of_test_set(options.test_set),
        "" if {options.folder.lower()} & (FOLDERS | GENERIC) else options.folder,
    )
    return next(filter(None, candidates), f"{stem} {pair}".strip())


def _of_test_set(slug: str) -> str:
    test_set = TestSet.objects.filter(slug=slug).first() if slug else None
    if test_set is None:
        return ""
    code = test_set.direction
    return test_set.name if code in test_set.name else f"{test_set.name} {code}"


def _pair(options: Options, rows: Sequence[Row]) -> str:
    """Return the only language pair of rows, empty where there are several: they name it."""
    stated = options.source_language, options.target_language
    pairs = set()
    for row in rows:
        try:
            source, target = of_row(row.cells) or ("", "")
        except LanguageError:
            return ""
        pairs.add((source or stated[0], target or stated[1]))
    return "-".join(pairs.pop()) if len(pairs) == 1 else ""


Drafts = list[tuple[TestSetDraft, CampaignDraft]]


@dataclass(frozen=True)
class Understood:
    """How tables were understood.

    `columns` are those of all tables in order with `samples` of their cells and `titles` as the
    files have them, `fields` what each is taken for, `directions` those of published scores by
    name, and `name` what the campaign is called; empty if the rows name several.
    """

    columns: Sequence[str] = ()
    fields: dict[str, str] = field(default_factory=dict)
    wanted: Sequence[Field] = FIELDS
    directions: Mapping[str, Direction] = field(default_factory=dict)
    samples: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True)
class Reading(Understood):
    """The result of reading tables: how they were understood, and drafts."""

    drafts: Drafts = field(default_factory=list)


def read(files: Sequence[InputFile], options: Options, report: Report) -> Reading:
    """Read tables of judgments, with tables of texts and spans beside them or without.

    What is wrong goes to the report, with file, row and column; errors there forbid storing.
    """
    every = read_tables(files, report, options)
    suggested = [table for table in every if has_suggestions(table)]
    listing = Listing.stored(options.test_set)
    tables = [each for each in every if each not in suggested]
    systems = _systems(tables) if len(tables) > 1 else ()
    unfolded = [unfold(table, listing, report, systems) for table in tables]
    tables = [table for table in unfolded if table]
    n_broken = len(report.errors)
    chosen = read_chosen(tables, FIELDS, report, others=is_other_field)
    if len(report.errors) > n_broken or not tables:
        return Reading(**seen_in(tables))
    sheets = sheets_of(tables, chosen)
    read_numbers(sheets, report, options.scale or (0.0, 100.0))
    sheets = [with_durations(sheet, options.columns, report) for sheet in sheets]
    refuse_objects(sheets, report)
    fields = all_fields(sheets)
    seen = Reading(**seen_in(tables), fields=fields, wanted=known_fields(fields.values()))
    judged = _judged(sheets, options)
    has_answers = any(sheet.has & ANSWERS or sheet.has_span_rows for sheet in sheets)
    is_known = has_answers or any(map(answer_field, fields.values()))
    if len(report.errors) > n_broken or (not is_known and refuse_orders(tables, report)):
        return seen
    if n_broken:
        # Report wrong values in the other rows too, so that all can be corrected at once.
        Reader(options, report, Clock(options.time_zone, options.dates)).read(_rows(judged), [])
        return seen
    if not judged:
        _ask_who(sheets, options, report)
        return seen
    sheets = numbered(sheets, report)
    judged = _judged(sheets, options)
    spans = [s for s in sheets if s not in judged and s.has_span_rows]
    others = [s for s in sheets if s not in judged and s not in spans]
    for sheet in sheets:
        say_unused(sheet.table, {c for c, f in sheet.fields.items() if f}, report)
    warn_of_missing_scores(judged, report)
    rows = _rows(judged)
    name = name_of(options, files, rows)
    named = replace(options, name=name, is_named=bool(options.name))
    if options.name or len({row.name("campaign") for row in rows}) < 2:
        seen = replace(seen, name=name)
    return _read_rows(rows, judged, spans, others, suggested, named, report, seen)


def _systems(tables: Iterable[Table]) -> Collection[str]:
    """Return the systems that the cells of tables name."""
    columns = ((table, column_of("system", table.columns)) for table in tables)
    return frozenset(
        str(cell).strip() for table, column in columns if column for cell in table.column(column)
    )


def seen_in(tables: Iterable[Table]) -> dict[str, Any]:
    """Return the columns of tables in their order, each once, with titles and first cells."""
    columns: list[str] = []
    titles: dict[str, str] = {}
    samples: dict[str, str] = {}
    for table in tables:
        columns += table.columns
        titles, samples = table.titles | titles, table.samples | samples
    return {"columns": list(dict.fromkeys(columns)), "titles": titles, "samples": samples}


def all_fields(sheets: Iterable[Sheet]) -> dict[str, str]:
    """Return what columns are taken for; the first table that has a column says it."""
    found: dict[str, str] = {}
    for sheet in sheets:
        found = {**sheet.fields, **found}
    return {column: name for column, name in found.items() if name}


def _judged(sheets: Sequence[Sheet], options: Options) -> list[Sheet]:
    """Return the tables of judgments: those with annotators, or with scores by a stated one."""
    named = [sheet for sheet in sheets if "annotator" in sheet.has]
    if named or not options.annotator:
        return named
    scored = [sheet for sheet in sheets if sheet.has & {"score", "spans"}]
    return scored or [sheet for sheet in sheets if sheet.has_span_rows]


def _ask_who(sheets: Sequence[Sheet], options: Options, report: Report) -> None:
    for sheet in sheets:
        columns = truncated(sheet.table.columns, 30)
        refusal = message(
            "judgments.no-annotator-column",
            "No column names the annotators. The columns are {columns}. Choose the column of the "
            "annotators, or name the one annotator of all judgments.",
            columns=columns,
        )
        if options.annotator:
            refusal = message(
                "judgments.no-answer-column",
                "No column was recognised as a score or as errors. Choose it. The columns are "
                "{columns}.",
                columns=columns,
            )
        if not sheet.has:
            refuse_unknown(sheet.table, report)
        else:
            report.error(refusal, sheet.table.head)


def _rows(sheets: Iterable[Sheet]) -> list[Row]:
    return [row for sheet in sheets for row in rows_of(sheet)]


def _read_rows(
    rows: list[Row],
    judged: Sequence[Sheet],
    spans: Sequence[Sheet],
    others: Sequence[Sheet],
    suggested: Sequence[Table],
    options: Options,
    report: Report,
    seen: Reading,
) -> Reading:
    add_suggestions(rows, suggested, report)
    texts = join(rows, others, report)
    fill_names([*rows, *texts], options, report)
    name_segments(rows, report)
    _name_texts(rows, texts)
    reader = Reader(options, report, Clock(options.time_zone, options.dates))
    found = reader.read(rows, spans if not report.errors else [])
    answering.say(reader, report)
    if not found and not report.errors:
        report.error(
            message("judgments.no-judgment", "No row has a judgment."), Place(judged[0].name)
        )
    if report.errors:
        return seen
    return replace(seen, drafts=drafts_of(found, rows, texts, options, report))


def _name_texts(rows: Sequence[Row], texts: Sequence[Row]) -> None:
    """Name the segments of other tables as those of the judgments are, by their items."""
    keys = {row.name("item"): row.name("segment") for row in rows if row.name("item")}
    for row in texts:
        if not row.name("segment"):
            place = f"{row.name('document')}:{row.name('document_place')}"
            row.cells["segment"] = keys.get(row.name("item")) or (
                place if row.name("document_place") else row.name("item")
            )
