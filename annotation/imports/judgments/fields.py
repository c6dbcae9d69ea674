"""The fields of a table of judgments, their usual column names, and the use of each sheet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.imports.judgments.exported.columns import (
    SCALE,
    answer_field,
    answer_of,
    fields_beside,
    is_exported,
)
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.times import EARLIEST
from annotation.uploads.checks import FORBIDDEN_IN_NAMES, character
from annotation.uploads.files import InputFile
from annotation.uploads.formats import base
from annotation.uploads.formats.registry import read_files
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import read_percent, write_points
from annotation.uploads.tables.columns import propose
from annotation.uploads.tables.likert import read_words
from annotation.uploads.tables.rows import Table, require_rows
from annotation.uploads.tables.spans import with_marked
from core.text import restore
from metaeval.files.cells import is_missing, parse_number, read_score
from metaeval.files.names import (
    JUDGMENTS,
    NAME,
    NUMBER,
    PLACES,
    WORD,
    Field,
    fields_of,
    is_called,
)
from metaeval.messages import Message, message, truncated

FIELDS = fields_of(JUDGMENTS)
# Ratings and spans both have a start and an end: a table that has a severity a row means spans.
OF_ROWS = ("severity", "marked_text")
OF_SPANS = ("severity", "category", "side", "span_start", "span_end", "marked_text")
SPAN_FIELDS = tuple(field for field in FIELDS if field.name in OF_SPANS)
# `text` and `span` alone do not show that a table has an error in each row.
SHOW_ERRORS = tuple(
    replace(field, other_names="error_text, span_text, error_span, error_words, marked_words")
    if field.is_local
    else field
    for field in SPAN_FIELDS
    if field.name in OF_ROWS
)
# The column of numbers that are given to segments.
NUMBERED = " number"
# Where nothing else says what was shown, its number within the batch does.
POSITION = Field("item", message("column.item", "item"), other_names=", ".join(PLACES))
# The two scales of Koehn and Monz (2006), and what tables call them.
TWO_SCALES = {
    f"{SCALE}adequacy": (
        "adequacy", "Adäquatheit", "adéquation", "adecuación", "adequação", "adeguatezza",
        "adekvátnost", "adekwatność", "адекватность", "充分性", "充分度", "忠实度", "妥当性",
        "적절성",
    ),
    f"{SCALE}fluency": (
        "fluency", "Flüssigkeit", "fluidité", "fluidez", "fluência", "fluidità", "plynulost",
        "płynność", "беглость", "流畅性", "流畅度", "流暢さ", "流暢性", "유창성",
    ),
}  # fmt: skip
# Fields that our own exports have besides.
EXPORTED = fields_beside(field.name for field in FIELDS)
KIND_OF = {field.name: field.kind for field in (*EXPORTED, *FIELDS)}
# What two sheets may be joined by; a document's name is no key: it is repeated on purpose.
KEYS = ("campaign", "language_pair", "batch", "item", "segment", "system", "length_ratio")
NAMED = tuple(name for name, kind in KIND_OF.items() if kind == NAME)


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
        return not self.has.isdisjoint(OF_ROWS)

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
    files: Iterable[InputFile], report: Report, options: Options, door: base.Door = base.JUDGMENTS
) -> list[Table]:
    """Read files as tables; what is wrong goes to the report."""

    def prepare(table: Table) -> bool:
        if is_usable := _has_usable_columns(table, report):
            _restore(table)
        return is_usable

    report.chosen = {"": options.columns}
    pair = options.source_language, options.target_language
    tables = read_files(files, base.Import(door, report, pair), prepare=prepare)
    for table in tables:
        require_rows(table, report)
    return tables


def _has_usable_columns(table: Table, report: Report) -> bool:
    """Return whether a page can show a choice for every column; report why not."""
    place = table.head
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


def sheets_of(tables: Sequence[Table], chosen: Sequence[Mapping[str, str]]) -> list[Sheet]:
    """Say what each column holds; the `chosen` fields of each table's columns go first.

    `position` and the like are items where neither segment nor item is named, and then in all
    tables.
    """
    sheets = [_sheet(table, own) for table, own in zip(tables, chosen, strict=True)]
    judged = [sheet for sheet in sheets if "annotator" in sheet.has]
    lacking = [sheet for sheet in judged if not sheet.has & {"segment", "item", "document_place"}]
    for sheet in lacking:
        found = propose(sheet.table.columns, [POSITION], sheet.fields)
        column = next((c for c, field in found.items() if field == "item"), "")
        if column:
            return [
                _sheet(table, {**own, column: "item"} if column in table.columns else own)
                for table, own in zip(tables, chosen, strict=True)
            ]
    return sheets


def _sheet(table: Table, chosen: Mapping[str, str]) -> Sheet:
    shown = propose(table.columns, SHOW_ERRORS, chosen).values()
    first = () if {*OF_ROWS}.isdisjoint(shown) else SPAN_FIELDS
    among = (*first, *(field for field in FIELDS if field not in SPAN_FIELDS))
    if is_exported(table.columns):
        among += EXPORTED
    found = with_marked(table, propose(table.columns, among, chosen, table.constants), chosen)
    titles = {column: table.titles.get(column, column) for column in table.columns}
    found = {c: answer_field(title) for c, title in titles.items()} | found
    found |= _two_scales(titles, found, chosen)
    return Sheet(table, {c: field for c, field in found.items() if field or c in chosen})


def _two_scales(
    titles: Mapping[str, str], found: Mapping[str, str], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns of adequacy and fluency, where a table has both and no other score."""
    columns = {
        next((c for c, title in titles.items() if is_called(title, names)), ""): field
        for field, names in TWO_SCALES.items()
    }
    scores = [column for column, field in found.items() if field == "score"]
    has_both = len(columns) == len(TWO_SCALES) and "" not in columns
    return columns if has_both and not {*columns} & {*chosen} and {*scores} <= {*columns} else {}


def known_fields(also: Iterable[str]) -> tuple[Field, ...]:
    """Return the fields of any table of judgments; `also` are fields that some of them have."""
    exported = {field.name: field for field in EXPORTED}
    own = [
        exported.get(name) or answer_of(name)
        for name in dict.fromkeys(also)
        if name in exported or answer_field(name)
    ]
    return (*FIELDS, *own)


def is_other_field(name: str) -> bool:
    """Return True for the field of our exports alone, of an own scale, or of a choice."""
    return bool(answer_field(name)) or any(field.name == name for field in EXPORTED)


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
        rows.append((line, row | {NUMBERED: numbers.setdefault(key, str(len(numbers) + 1))}))
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
    table = replace(sheet.table, columns=[NUMBERED, *sheet.table.columns], rows=rows)
    return Sheet(table, {NUMBERED: "segment", **sheet.fields})


def read_numbers(
    sheets: Iterable[Sheet], report: Report, scale: tuple[float, float] | None = None
) -> None:
    """Read decimal commas in columns of numbers, where a spreadsheet wrote them, and words.

    Words of scores are numbers of the scale, or 1, 2, 3, … without it.
    """
    for sheet in sheets:
        columns = [c for c, field in sheet.fields.items() if KIND_OF.get(field) == NUMBER]
        write_points(sheet.table, columns, report)
        if "score" in sheet.has:
            for column in (c for c, field in sheet.fields.items() if field == "score"):
                read_percent(sheet.table, column, report)
                read_words(sheet.table, column, report, scale)
        for column, field in sheet.fields.items():
            if field.startswith(SCALE):
                read_words(sheet.table, column, report)


def with_durations(sheet: Sheet, chosen: Mapping[str, str], report: Report) -> Sheet:
    """Return a sheet whose column `time` is the seconds taken, if its numbers are no times.

    The field that a person chose for the column stays.
    """
    column = sheet.column("submitted_at")
    cells = [row.get(column) for _, row in sheet.table.rows]
    numbers = [parse_number(cell) for cell in cells if not is_missing(cell)]
    is_duration = is_called(sheet.table.titles.get(column, column), ("time",)) and all(
        number is not None and 0 <= number < EARLIEST for number in numbers
    )
    if not any(numbers) or not is_duration or column in chosen or "seconds" in sheet.has:
        return sheet
    text = message(
        "judgments.time-is-duration",
        "The numbers in “{column}” are too small to be times, so they were read as the seconds "
        "taken. If they are something else, choose another field for the column.",
        column=column,
    )
    report.warn(text, sheet.table.head)
    return Sheet(sheet.table, {**sheet.fields, column: "seconds"})


def refuse_objects(sheets: Iterable[Sheet], report: Report) -> None:
    """Report lists and objects where names and words belong: they would be empty names."""
    for sheet in sheets:
        columns = [c for c, field in sheet.fields.items() if KIND_OF.get(field) in (NAME, WORD)]
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
    """Warn of judgments without scores where a column that is not used may hold them.

    Where there are errors, the score follows from them, unless a column has numbers.
    """
    if any("score" in sheet.has for sheet in sheets):
        return
    for sheet in sheets:
        has_errors = sheet.has_span_rows or "spans" in sheet.has
        unused = [column for column in sheet.table.columns if not sheet.fields.get(column)]
        if has_errors:
            unused = [c for c in unused if None not in map(read_score, sheet.table.column(c))]
        if unused:
            report.warn(
                message(
                    "judgments.no-score-column",
                    "No column is used for the score. Check whether it is one of {columns}.",
                    columns=truncated(unused, 30),
                ),
                sheet.table.head,
            )
