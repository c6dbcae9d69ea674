"""The fields of a table of judgments, the names that people give them, and which sheet is which."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.uploads.checks import FORBIDDEN_IN_NAMES, character
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import Wanted, propose
from annotation.uploads.tables.numbers import write_points
from annotation.uploads.tables.rows import Table, format_of, parse, require_rows
from annotation.uploads.tables.tags import untag
from core.text import join_truncated, restore

# Ratings and spans both have a start and an end: a table that has a severity a row means spans.
SPAN_FIELDS = (
    Wanted("severity", "severity of an error", ("error_severity",)),
    Wanted("category", "category of an error", ("error_category", "error_type", "error")),
    Wanted("side", "side of an error", ("error_side", "where")),
    Wanted("span_start", "start of an error", ("start", "start_i", "begin", "offset", "from")),
    Wanted("span_end", "end of an error", ("end", "end_i", "stop", "to")),
)
TEXT_FIELDS = (
    Wanted("segment", "segment",
           ("segment_id", "seg_id", "seg", "sid", "segid", "sentence_id", "sent_id", "sentence",
            "source_id", "src_id", "line_id", "key", "globalSegId")),
    Wanted("system", "system",
           ("system_id", "sys", "sysid", "mt_system", "model", "engine", "submission", "target_id",
            "translator")),
    Wanted("document", "document",
           ("doc", "document_id", "docid", "doc_id", "doc_name", "document_name", "talk",
            "article")),
    Wanted("document_place", "place in the document",
           ("segment_in_document", "seg_in_doc", "position_in_document", "sentence_in_document",
            "doc_seg_id", "docSegId", "line_in_document")),
    Wanted("source", "source text", ("src", "source_text", "source_segment", "original")),
    Wanted("reference", "reference", ("ref", "reference_a", "reference_text", "ref_a", "refa")),
    Wanted("reference_B", "second reference", ("ref_b", "refb", "reference_2", "ref2")),
    Wanted("output", "output of the system",
           ("translation", "target", "hypothesis", "hyp", "mt", "tgt", "target_text", "candidate",
            "mt_output", "text_shown", "system_output", "text")),
    Wanted("language_pair", "language pair",
           ("lp", "langpair", "lang_pair", "pair", "direction", "languages")),
    Wanted("source_language", "source language",
           ("src_lang", "source_lang", "srclang", "sl", "lang_src")),
    Wanted("target_language", "target language",
           ("tgt_lang", "target_lang", "trglang", "trg_lang", "tl", "lang_tgt")),
    Wanted("length_ratio", "length ratio"),
)  # fmt: skip
JUDGMENT_FIELDS = (
    Wanted("annotator", "annotator",
           ("rater", "worker", "who", "annotator_id", "rater_id", "worker_id", "user", "user_id",
            "username", "login", "evaluator", "evaluator_id", "judge", "judge_id", "participant",
            "participant_id", "assessor", "coder", "person")),
    Wanted("score", "score",
           ("raw", "raw_score", "rating", "da", "da_score", "esa", "esa_score", "value", "grade",
            "judgment", "judgement", "human_score", "points", "quality", "adequacy")),
    *TEXT_FIELDS,
    Wanted("item", "item (what was shown)", ("item_id", "itemid", "id", "task_item", "hit_item")),
    Wanted("partner", "item that a control belongs to",
           ("paired_item", "paired_position", "partner_id", "control_of")),
    Wanted("kind", "kind", ("type", "item_type", "itemtype", "judgment_kind")),
    Wanted("level", "whole document or segment",
           ("is_complete_document", "whole_document", "is_document")),
    Wanted("batch", "batch (HIT)", ("hit", "hit_id", "batch_id", "task", "task_id", "assignment")),
    Wanted("campaign", "campaign", ("campaign_id", "campaign_name", "set", "collection")),
    Wanted("spans", "error spans (JSON)", ("error_spans", "errors", "mqm", "annotations", "marks")),
    Wanted("started_at", "start of the rating",
           ("start", "start_time", "time_start", "begin", "started", "begin_time")),
    Wanted("submitted_at", "end of the rating",
           ("end", "end_time", "time_end", "submitted", "timestamp", "time", "date", "finished",
            "answered_at", "created_at", "submit_time", "end_at", "when", "datetime")),
    Wanted("seconds", "seconds taken", ("duration", "elapsed", "time_spent", "seconds_taken")),
    Wanted("comment", "comment", ("comments", "remark", "remarks", "note", "notes", "feedback")),
    Wanted("is_flagged", "flagged by the annotator", ("flag", "flagged")),
    Wanted("revision", "number of the revision", ("version",)),
    Wanted("protocol", "protocol"),
    Wanted("low", "lowest right score"),
    Wanted("high", "highest right score"),
)  # fmt: skip
# Where nothing else says what was shown, its number within the batch does.
POSITIONS = ("position", "place", "index", "number", "nr", "no", "line", "row")
MAX_COLUMNS = 500
NUMBERS = ("score", "seconds", "low", "high", "revision", "length_ratio")
FIELDS = (*JUDGMENT_FIELDS, *SPAN_FIELDS)


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
    def _columns(self) -> Mapping[str, str]:
        return {field: column for column, field in reversed(self.fields.items()) if field}

    def column(self, field: str) -> str:
        """The column of a field, or the field's own name where there is none."""
        return self._columns.get(field, field)


def read_tables(files: Iterable[InputFile], report: Report) -> list[Table]:
    """Read TSV, CSV and JSON Lines; what is wrong goes to the report."""
    tables = []
    for file in files:
        text = read_text(file, report)
        table = parse(file.name, text, report) if text is not None else None
        if table is None or text is None:
            continue
        if not _has_usable_columns(table, report):
            continue
        if format_of(file.name, text) == "csv":
            _restore(table)
        untag(table, report)
        require_rows(table, report)
        tables.append(table)
    return tables


def _has_usable_columns(table: Table, report: Report) -> bool:
    """Whether a page can show every column with a choice of what it holds."""
    place = Place(table.file, 1)
    if len(table.columns) > MAX_COLUMNS:
        report.error(f"{len(table.columns):,} columns are more than {MAX_COLUMNS}", place)
        return False
    bad = [found[0] for name in table.columns if (found := FORBIDDEN_IN_NAMES.search(name))]
    if bad:
        report.error(f"the name of a column contains {character(bad[0])}", place)
    return not bad


def _restore(table: Table) -> None:
    """Take off the apostrophes that exports put before cells that a spreadsheet would run."""
    for _, row in table.rows:
        row |= {column: restore(cell) for column, cell in row.items() if cell.startswith("'")}


def sheets_of(
    tables: Sequence[Table],
    chosen: Mapping[str, str],
    wanted: Sequence[Wanted] = JUDGMENT_FIELDS,
) -> list[Sheet]:
    """Say what each column holds; `chosen` (column -> field, empty: not used) goes first.

    `position` and the like are items where neither segment nor item is named, and then in all
    tables.
    """
    sheets = [_sheet(table, chosen, wanted) for table in tables]
    judged = [sheet for sheet in sheets if "annotator" in sheet.has]
    lacking = [sheet for sheet in judged if not sheet.has & {"segment", "item", "document_place"}]
    for sheet in lacking:
        found = propose(sheet.table.columns, [Wanted("item", "", POSITIONS)], sheet.fields)
        column = next((c for c, field in found.items() if field == "item"), "")
        if column:
            both = {**chosen, column: "item"}
            return [_sheet(table, both, wanted) for table in tables]
    return sheets


def _sheet(table: Table, chosen: Mapping[str, str], wanted: Sequence[Wanted]) -> Sheet:
    own = {column: field for column, field in chosen.items() if column in table.columns}
    found = propose(table.columns, SPAN_FIELDS[:1], own)
    if "severity" in found.values():
        # There, `text` and `span` are what an error marks, not the whole output.
        marked = {c: "" for c in ("text", "span") if c in table.columns and c not in own}
        found = propose(table.columns, SPAN_FIELDS, found | marked)
    found = propose(table.columns, wanted, found)
    return Sheet(table, {c: field for c, field in found.items() if field or c in own})


def matched(chosen: Mapping[str, str], tables: Sequence[Table]) -> dict[str, str]:
    """Return what was said under the columns' own names: case and outer blanks do not count."""
    names = {column.lower(): column for table in tables for column in table.columns}
    return {names.get(c.strip().lower(), c): field.strip() for c, field in chosen.items()}


def check_chosen(
    chosen: Mapping[str, str],
    tables: Sequence[Table],
    report: Report,
    wanted: Sequence[Wanted] = FIELDS,
    repeatable: Iterable[str] = (),
) -> None:
    """Report columns that no table has, fields that do not exist, and two columns for one field."""
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    names = [field.name for field in wanted]
    for column, field in chosen.items():
        if column not in columns:
            known = join_truncated(columns, 30)
            report.error(
                f"there is no column “{column}”; the columns are {known}", Place(field="column")
            )
        elif field and field not in names:
            message = f"“{field}” is no field that a column can hold; those are {', '.join(names)}"
            report.error(message, Place(field=f"column {column}"))
    for table in tables:
        own = [(c, f) for c, f in chosen.items() if f and c in table.columns]
        for column, field in own:
            first = next(c for c, f in own if f == field)
            if first != column and field not in repeatable:
                report.error(
                    f"“{first}” holds the field “{field}” already", Place(table.file, 1, column)
                )


def read_commas(sheets: Iterable[Sheet], report: Report) -> None:
    """Read decimal commas in columns of numbers, where a spreadsheet wrote them."""
    for sheet in sheets:
        columns = [column for column, field in sheet.fields.items() if field in NUMBERS]
        write_points(sheet.table, columns, report)


def say_unused(sheets: Sequence[Sheet], report: Report) -> None:
    """Note the columns that nothing is read from."""
    for sheet in sheets:
        if unused := _unused(sheet):
            word = "column" if len(unused) == 1 else "columns"
            report.note(f"not used: the {word} {', '.join(unused)}", Place(sheet.name, 1))


def doubt_scores(sheets: Sequence[Sheet], report: Report) -> None:
    """Warn of judgments without scores where a column that is not used may hold them."""
    if any("score" in sheet.has for sheet in sheets):
        return
    for sheet in sheets:
        if unused := _unused(sheet):
            report.warn(
                f"no column is taken for the score. Is it one of {', '.join(unused)}?",
                Place(sheet.name, 1),
            )


def _unused(sheet: Sheet) -> list[str]:
    return [column for column in sheet.table.columns if not sheet.fields.get(column)]
