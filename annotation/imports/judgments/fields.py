"""The fields of a table of judgments, their usual column names, and the use of each sheet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.imports.judgments.exported.columns import (
    COLUMNS,
    SOME,
    Type,
    answer_field,
    fields_beside,
    is_exported,
)
from annotation.uploads.checks import FORBIDDEN_IN_NAMES, character
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import Wanted, propose, wanted
from annotation.uploads.tables.numbers import read_percent, write_points
from annotation.uploads.tables.rows import Table, read_table, require_rows
from annotation.uploads.tables.tags import untag
from core.text import restore
from metaeval.files.names import NAMES
from metaeval.messages import message, truncated

# Ratings and spans both have a start and an end: a table that has a severity a row means spans.
SPAN_FIELDS = (
    wanted("severity", "severity of an error"),
    wanted("category", "category of an error"),
    wanted("side", "side of an error"),
    wanted("span_start", "start of an error"),
    wanted("span_end", "end of an error"),
)
TEXT_FIELDS = (
    wanted("segment", "segment"),
    wanted("system", "system", "target_id", "translator"),
    wanted("document", "document"),
    wanted("document_place", "place in the document"),
    wanted("source", "source text"),
    wanted("reference", "reference"),
    wanted("reference_B", "second reference"),
    wanted("output", "output of the system", "text_shown", "text"),
    wanted("language_pair", "language pair"),
    wanted("source_language", "source language"),
    wanted("target_language", "target language"),
    wanted("length_ratio", "length ratio"),
)
JUDGMENT_FIELDS = (
    wanted("annotator", "annotator"),
    wanted("score", "score", *NAMES["judgment"]),
    *TEXT_FIELDS,
    wanted("item", "item"),
    wanted("partner", "item that a control belongs to"),
    wanted("kind", "kind"),
    wanted("level", "whole document or segment"),
    wanted("batch", "batch (HIT)"),
    wanted("campaign", "campaign"),
    wanted("spans", "error spans (JSON)"),
    wanted("started_at", "start of the rating"),
    wanted("submitted_at", "end of the rating"),
    wanted("seconds", "seconds taken"),
    wanted("comment", "comment"),
    wanted("is_flagged", "flagged by the annotator"),
    wanted("is_excluded", "annotator is excluded"),
    wanted("is_simulated", "annotator is simulated"),
    wanted("active_ms", "milliseconds at work"),
    wanted("visible_ms", "milliseconds in sight"),
    wanted("post_edit", "post-edited output"),
    wanted("hter", "edits in percent (HTER)"),
    wanted("revision", "number of the revision"),
    wanted("protocol", "protocol"),
    wanted("low", "lowest right score"),
    wanted("high", "highest right score"),
)
# Where nothing else says what was shown, its number within the batch does.
POSITIONS = ("position", "place", "index", "number", "nr", "no", "line", "row")
MAX_COLUMNS = 500
FIELDS = (*JUDGMENT_FIELDS, *SPAN_FIELDS)
# Those that our own exports have besides.
EXPORTED = fields_beside(field.name for field in FIELDS)
_NUMERIC = {name for name, kind in (COLUMNS | SOME).items() if kind in (Type.WHOLE, Type.REAL)}
NUMBERS = _NUMERIC | {"length_ratio"}


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
        """The column of a field, or the field's own name where there is none."""
        return self._columns.get(field, field)


def read_tables(files: Iterable[InputFile], report: Report) -> list[Table]:
    """Read TSV, CSV and JSON Lines; what is wrong goes to the report."""
    tables = []
    for file in files:
        table = read_table(file, report)
        if table is None or not _has_usable_columns(table, report):
            continue
        if table.separator not in ("", "\t"):
            _restore(table)
        untag(table, report)
        require_rows(table, report)
        tables.append(table)
    return tables


def _has_usable_columns(table: Table, report: Report) -> bool:
    """Whether a page can show every column with a choice of what it holds."""
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
    for _, row in table.rows:
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
        found = propose(sheet.table.columns, [Wanted("item", "", POSITIONS)], sheet.fields)
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
    found = propose(table.columns, among, found)
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
    plain = (exported.get(name) or Wanted(name, name.replace("_", " ")) for name in more)
    return (*FIELDS, *(each for each in plain if each.name in exported or answer_field(each.name)))


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
            refusal = message(
                "judgments.no-such-column",
                "There is no column “{column}”. The columns are {columns}.",
                column=column,
                columns=truncated(columns, 30),
            )
            report.error(refusal, Place(field="column"))
        elif field and field not in names:
            refusal = message(
                "judgments.no-such-field",
                "“{field}” is not a field. Use {fields}.",
                field=field,
                fields=names,
            )
            report.error(refusal, Place(field=f"column {column}"))
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
