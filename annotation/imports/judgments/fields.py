"""The fields of a table of judgments, their usual column names, and the use of each sheet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.imports.judgments.exported.columns import (
    COLUMNS,
    SOME,
    Type,
    answer_field,
    answer_of,
    fields_beside,
    is_exported,
)
from annotation.imports.judgments.options import Options
from annotation.uploads.checks import FORBIDDEN_IN_NAMES, character
from annotation.uploads.files import InputFile
from annotation.uploads.formats.base import JUDGMENTS, Door, Import
from annotation.uploads.formats.registry import read_files
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import read_percent, write_points
from annotation.uploads.tables.columns import Wanted, propose, refuse_absent, unnamed, wanted
from annotation.uploads.tables.rows import Table, require_rows
from core.text import restore
from metaeval.files.names import NAMES
from metaeval.messages import Message, message, truncated

# Ratings and spans both have a start and an end: a table that has a severity a row means spans.
SPAN_FIELDS = (
    wanted("severity", message("column.error-severity", "severity of an error")),
    wanted("category", message("column.error-category", "category of an error")),
    wanted("side", message("column.error-side", "side of an error")),
    wanted("span_start", message("column.error-start", "start of an error")),
    wanted("span_end", message("column.error-end", "end of an error")),
)
TEXT_FIELDS = (
    wanted("segment", message("column.segment-key", "segment")),
    wanted("system", message("column.system-name", "system"), "target_id", "translator"),
    wanted("document", message("column.document-id", "document")),
    wanted("domain", message("column.domain-name", "domain, such as news")),
    wanted("document_place", message("column.document-place", "place in the document")),
    wanted("source", message("column.source", "source text")),
    wanted("reference", message("column.reference", "reference")),
    wanted("reference_B", message("column.reference-b", "second reference")),
    wanted("output", message("column.system-output", "output of the system"), "text_shown", "text"),
    wanted("language_pair", message("column.language-pair", "language pair")),
    wanted("source_language", message("column.source-language", "source language")),
    wanted("target_language", message("column.target-language", "target language")),
    wanted("length_ratio", message("column.length-ratio", "length ratio")),
)
JUDGMENT_FIELDS = (
    wanted("annotator", message("column.annotator", "annotator")),
    wanted("score", message("column.score", "score"), *NAMES["judgment"]),
    *TEXT_FIELDS,
    wanted("item", message("column.item", "item")),
    wanted("partner", message("column.partner", "item that a control item belongs to")),
    wanted("kind", message("column.kind", "kind")),
    wanted("level", message("column.level", "whole document or segment")),
    wanted("batch", message("column.batch", "batch (HIT)")),
    wanted("campaign", message("column.campaign", "campaign")),
    wanted("spans", message("column.spans", "error spans (JSON)")),
    wanted("started_at", message("column.started-at", "start of the rating")),
    wanted("submitted_at", message("column.submitted-at", "end of the rating")),
    wanted("seconds", message("column.seconds", "seconds taken")),
    wanted("comment", message("column.comment", "comment")),
    wanted("is_flagged", message("column.is-flagged", "flagged by the annotator")),
    wanted("is_excluded", message("column.is-excluded", "annotator is excluded")),
    wanted("is_simulated", message("column.is-simulated", "annotator is simulated")),
    wanted("active_ms", message("column.active-ms", "milliseconds at work")),
    wanted("visible_ms", message("column.visible-ms", "milliseconds in sight")),
    wanted("post_edit", message("column.post-edit", "post-edited output")),
    wanted("hter", message("column.hter", "edits in percent (HTER)")),
    wanted("revision", message("column.revision", "number of the revision")),
    wanted("protocol", message("column.protocol", "protocol")),
    wanted("low", message("column.low", "lowest right score")),
    wanted("high", message("column.high", "highest right score")),
)
# The column of numbers that are given to segments.
NUMBER = " number"
# Where nothing else says what was shown, its number within the batch does.
POSITION = Wanted(
    "item",
    message("column.item", "item"),
    ("position", "place", "index", "number", "nr", "no", "line", "row"),
)
MAX_COLUMNS = 500
FIELDS = (*JUDGMENT_FIELDS, *SPAN_FIELDS)
# Those that our own exports have besides.
EXPORTED = fields_beside(field.name for field in FIELDS)
_NUMERIC = {name for name, kind in (COLUMNS | SOME).items() if kind in (Type.WHOLE, Type.REAL)}
NUMBERS = _NUMERIC | {"length_ratio"}
# What two sheets may be joined by; a document's name is no key: it is repeated on purpose. Then
# other names and words.
KEYS = ("campaign", "language_pair", "batch", "item", "segment", "system", "length_ratio")
NAMED = (*KEYS[:-1], "document", "domain", "annotator", "partner")
WORDS = (*NAMED, "document_place", "kind", "level", "protocol", "is_flagged")


@dataclass(frozen=True)
class Sheet:
    """A table with the field of each of its columns; every field has one column at most."""

    table: Table
    fields: dict[str, str]

    @property
    def name(self) -> str:
        """The file."""
        return self.table.file

    @cached_property
    def has(self) -> frozenset[str]:
        """The fields that it has."""
        return frozenset(field for field in self.fields.values() if field)

    @property
    def has_span_rows(self) -> bool:
        """Whether each row may hold one error span."""
        return "severity" in self.has

    @cached_property
    def is_exported(self) -> bool:
        """Whether it is an export of ours, whose ids can be trusted."""
        return is_exported(self.table.columns)

    @cached_property
    def _columns(self) -> Mapping[str, str]:
        return {field: column for column, field in reversed(self.fields.items()) if field}

    def column(self, field: str) -> str:
        """Return the column of a field, or the name of the field if it has no column."""
        return self._columns.get(field, field)


def read_tables(
    files: Iterable[InputFile], report: Report, options: Options, door: Door = JUDGMENTS
) -> list[Table]:
    """Read files as tables; what is wrong goes to the report."""

    def prepare(table: Table) -> bool:
        if is_usable := _has_usable_columns(table, report):
            _restore(table)
        return is_usable

    without = unnamed({"": options.columns})
    tables = read_files(files, Import(door, report, unnamed=without), prepare=prepare)
    for table in tables:
        require_rows(table, report)
    return tables


def _has_usable_columns(table: Table, report: Report) -> bool:
    """Return whether a page can show a choice for every column; report why not."""
    place = table.head
    if len(table.columns) > MAX_COLUMNS:
        report.error(
            message(
                "judgments.too-many-columns",
                "The table has {n} columns; at most {most} are allowed.",
                n=len(table.columns),
                most=MAX_COLUMNS,
            ),
            place,
        )
        return False
    bad = [found[0] for name in table.columns if (found := FORBIDDEN_IN_NAMES.search(name))]
    if bad:
        report.error(
            message(
                "judgments.character-in-column",
                "The name of a column contains the character {character}, which is not allowed.",
                character=character(bad[0]),
            ),
            place,
        )
    return not bad


def _restore(table: Table) -> None:
    """Take off the apostrophes that exports put before cells that a spreadsheet would run."""
    for _, row in table.rows if table.separator not in ("", "\t") else ():
        row |= {column: restore(cell) for column, cell in row.items() if cell.startswith("'")}


def sheets_of(
    tables: Sequence[Table],
    chosen: Mapping[str, str],
    among: Sequence[Wanted] = JUDGMENT_FIELDS,
) -> list[Sheet]:
    """Say what each column holds; `chosen` (column -> field, empty: not used) goes first.

    `position` and the like are items where neither segment nor item is named, and then in all
    tables.
    """
    sheets = [_sheet(table, chosen, among) for table in tables]
    judged = [sheet for sheet in sheets if "annotator" in sheet.has]
    lacking = [sheet for sheet in judged if not sheet.has & {"segment", "item", "document_place"}]
    for sheet in lacking:
        found = propose(sheet.table.columns, [POSITION], sheet.fields)
        column = next((c for c, field in found.items() if field == "item"), "")
        if column:
            both = {**chosen, column: "item"}
            return [_sheet(table, both, among) for table in tables]
    return sheets


def _sheet(table: Table, chosen: Mapping[str, str], among: Sequence[Wanted]) -> Sheet:
    own = {column: field for column, field in chosen.items() if column in table.columns}
    found = propose(table.columns, SPAN_FIELDS[:1], own)
    if "severity" in found.values():
        # There, `text` and `span` are what an error marks, not the whole output.
        marked = {c: "" for c in ("text", "span") if c in table.columns and c not in own}
        found = propose(table.columns, SPAN_FIELDS, found | marked)
    found = propose(table.columns, among, found, table.constants)
    if is_exported(table.columns):
        found = propose(table.columns, EXPORTED, found)
    titles = {column: table.titles.get(column, column) for column in table.columns}
    found = {c: answer_field(title) for c, title in titles.items()} | found
    return Sheet(table, {c: field for c, field in found.items() if field or c in own})


def known_fields(also: Iterable[str]) -> tuple[Wanted, ...]:
    """Return the fields of any table of judgments; `also` are fields that some of them have."""
    usual = {field.name: field for field in FIELDS}
    exported = {field.name: field for field in EXPORTED}
    more = dict.fromkeys(name for name in also if name and name not in usual)
    own = [
        exported.get(name) or answer_of(name)
        for name in more
        if name in exported or answer_field(name)
    ]
    return (*FIELDS, *own)


def numbered(sheets: Iterable[Sheet], report: Report) -> list[Sheet]:
    """Number the segments of tables that have texts and no keys.

    They are the different sources; where no column names the system, every output is one. Outputs
    of several systems without sources cannot be matched.
    """
    numbers: dict[tuple[str, ...], str] = {}
    return [_numbered(sheet, numbers, report) for sheet in sheets]


def _numbered(sheet: Sheet, numbers: dict[tuple[str, ...], str], report: Report) -> Sheet:
    needed = {"output", "source"} if "system" in sheet.has else {"output"}
    if not needed <= sheet.has or sheet.has & {"segment", "document_place", "item"}:
        return sheet
    fields = ["language_pair", "document", "source"]
    if "system" not in sheet.has:
        fields.append("output")
    columns = [sheet.column(field) for field in fields]
    rows = []
    for line, row in sheet.table.rows:
        key = tuple(str(row.get(column)) for column in columns)
        rows.append((line, row | {NUMBER: numbers.setdefault(key, str(len(numbers) + 1))}))
    text = (
        message(
            "human-scores.sources-numbered",
            "No column names the segments. The different sources were numbered.",
        )
        if "system" in sheet.has
        else message(
            "human-scores.sources-and-outputs-numbered",
            "No column names the segments. The different pairs of source and output were numbered.",
        )
    )
    report.note(text, sheet.table.head)
    table = replace(sheet.table, columns=[NUMBER, *sheet.table.columns], rows=rows)
    return Sheet(table, {NUMBER: "segment", **sheet.fields})


def matched(chosen: Mapping[str, str], tables: Sequence[Table]) -> dict[str, str]:
    """Return the stated fields by the names of columns, without regard to case and outer blanks."""
    names = {column.lower(): column for table in tables for column in table.columns}
    return {names.get(c.strip().lower(), c): field.strip() for c, field in chosen.items()}


def check_chosen(
    chosen: Mapping[str, str],
    tables: Sequence[Table],
    report: Report,
    among: Sequence[Wanted] = FIELDS,
    repeatable: Iterable[str] = (),
) -> None:
    """Report columns that no table has, fields that do not exist, and two columns for one field."""
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    names = [field.name for field in among]
    for column, field in chosen.items():
        if column not in columns:
            refuse_absent(column, columns, report)
        elif field and field not in names:
            refusal = message(
                "judgments.no-such-field",
                "“{field}” is not a field. Use {fields}.",
                field=field,
                fields=names,
            )
            report.error(refusal, Place(field=column))
    for table in tables:
        own = [(c, f) for c, f in chosen.items() if f and c in table.columns]
        for column, field in own:
            first = next(c for c, f in own if f == field)
            if first != column and field not in repeatable:
                report.error(
                    message(
                        "judgments.field-twice",
                        "The column “{column}” is already used for the field “{field}”.",
                        column=first,
                        field=field,
                    ),
                    table.head._replace(field=column),
                )


def read_commas(sheets: Iterable[Sheet], report: Report) -> None:
    """Read decimal commas in columns of numbers, where a spreadsheet wrote them."""
    for sheet in sheets:
        columns = [column for column, field in sheet.fields.items() if field in NUMBERS]
        write_points(sheet.table, columns, report)
        if "score" in sheet.has:
            for column in (c for c, field in sheet.fields.items() if field == "score"):
                read_percent(sheet.table, column, report)


def refuse_objects(sheets: Iterable[Sheet], report: Report) -> None:
    """Report lists and objects where names and words belong: they would be empty names."""
    for sheet in sheets:
        columns = [column for column, field in sheet.fields.items() if field in WORDS]
        for line, row in sheet.table.rows:
            for column in columns:
                if isinstance(value := row.get(column), dict | list):
                    report.error(not_text(value), Place(sheet.name, line, column))


def not_text(value: object) -> Message:
    """Return the message that refuses a value as a text or a name."""
    return message(
        "judgments.not-text",
        "Text is expected, but the value is of the JSON type {type}.",
        type=type(value).__name__,
    )


def warn_of_missing_scores(sheets: Sequence[Sheet], report: Report) -> None:
    """Warn of judgments without scores where a column that is not used may hold them."""
    if any("score" in sheet.has for sheet in sheets):
        return
    for sheet in sheets:
        if unused := _unused(sheet):
            report.warn(
                message(
                    "judgments.no-score-column",
                    "No column is used for the score. Check whether it is one of {columns}.",
                    columns=truncated(unused, 30),
                ),
                sheet.table.head,
            )


def _unused(sheet: Sheet) -> list[str]:
    return [column for column in sheet.table.columns if not sheet.fields.get(column)]
