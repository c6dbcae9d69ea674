"""Recognise the columns of a table of a test set, and report unknown or ambiguous ones."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.uploads.problems import Report
from annotation.uploads.tables.columns import (
    is_called,
    propose,
    refuse_absent,
    refuse_unknown,
    renamed,
    wanted,
)
from annotation.uploads.tables.rows import Table, column_name
from metaeval.files.names import NAMES
from metaeval.messages import message, plural, truncated

LANGUAGES = (
    wanted("language_pair", message("column.language-pair", "language pair")),
    wanted("source_language", message("column.source-language", "source language")),
    wanted("target_language", message("column.target-language", "target language")),
)
SEGMENTS = (
    wanted("segment", message("column.segment", "segment: your id for it"), *NAMES["item"]),
    wanted("document", message("column.document", "document: its id")),
    wanted("domain", message("column.domain", "domain: the kind of text, such as news")),
    wanted("source", message("column.source", "source text")),
    wanted("reference", message("column.reference", "reference")),
    wanted("reference_B", message("column.reference-b", "second reference")),
    wanted("reference_C", message("column.reference-c", "third reference")),
    *LANGUAGES,
    wanted("media", message("column.media", "file of a recording or picture")),
    wanted("media_start", message("column.media-start", "start in the recording, in seconds")),
    wanted("media_end", message("column.media-end", "end in the recording, in seconds")),
    wanted("alt", message("column.alt", "description of the picture")),
    wanted("transcript", message("column.transcript", "transcript of the recording")),
    wanted("glossary", message("column.glossary", "terms of this segment")),
    wanted("register", message("column.register", "register: how formal the translation must be")),
    wanted("instructions", message("column.instructions", "instructions for this segment")),
)
OUTPUTS = (
    wanted("system", message("column.system", "name of the system")),
    wanted("output", message("column.output", "output: the system’s translation")),
    wanted("length_ratio", message("column.length-ratio", "length ratio")),
)
WANTED = (*SEGMENTS, *OUTPUTS)
OWN = frozenset(field.name for field in WANTED)
SYSTEM, REFERENCE = "system:", "reference_"


@dataclass(frozen=True)
class Meaning:
    """The fields that the columns of one table were matched with.

    `columns` are all columns in the table's order, `titles` their spellings in the file, `fields`
    the field of each column that has one, `samples` the beginning of each cell in the first row.
    """

    file: str
    columns: list[str]
    titles: dict[str, str]
    fields: dict[str, str]
    samples: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def is_field(name: str) -> bool:
    """Return True if a column may have this meaning: a field, another reference, or a system."""
    return name in OWN or bool(re.fullmatch(r"reference_.+|system:.+", name))


def understand(
    table: Table, chosen: Mapping[str, Mapping[str, str]], report: Report
) -> tuple[Table | None, Meaning]:
    """Return the table under the names of fields, and the fields of its columns.

    The table is None, with the reason reported, if two columns have one field, or none has any.

    `chosen` has the choices of a person, by file or under an empty name for every table. Guesses
    are noted; columns that are probably misspelt are refused, because they would be lost unnoticed.
    """
    stated = _stated(table, chosen, report)
    fields = _fields(table, stated)
    _note_guesses(table, stated, fields, report)
    is_known = _warn_of_rest(table, stated, fields, report)
    meaning = Meaning(table.file, table.columns, table.titles, fields, table.samples)
    if not is_known:
        return None, meaning
    is_renamed = any(column != field for column, field in fields.items())
    taken = renamed(table, fields) if is_renamed else table
    if twice := sorted({c for c in taken.columns if taken.columns.count(c) > 1}):
        text = message(
            "columns.same-field", "Two columns have the same meaning: {fields}.", fields=twice
        )
        report.error(text, table.head)
        return None, meaning
    written = {field: table.titles.get(column, column) for column, field in fields.items() if field}
    report.name_columns(table.file, written)
    return taken, meaning


def _stated(
    table: Table, chosen: Mapping[str, Mapping[str, str]], report: Report
) -> dict[str, str]:
    stated = {
        column_name(column): field.strip()
        for name in ("", table.file)
        for column, field in chosen.get(name, {}).items()
    }
    for column, field in stated.items():
        if field and not is_field(field):
            text = message(
                "columns.no-field",
                "“{field}” is not a meaning of a column. Use {fields}, reference_NAME or "
                "system:NAME.",
                field=field,
                fields=[f.name for f in WANTED],
            )
            report.error(text, table.head._replace(field=column))
    for column in chosen.get(table.file, {}):
        if column_name(column) not in table.columns:
            refuse_absent(column, table.columns, report, table.head)
    return {c: f for c, f in stated.items() if c in table.columns and (not f or is_field(f))}


def _fields(table: Table, stated: Mapping[str, str]) -> dict[str, str]:
    """Guess the fields of columns that were not stated."""
    fixed = {c: c for c in table.columns if c not in stated and _is_special(c)}
    is_wide = any(field.startswith(SYSTEM) for field in (*fixed.values(), *stated.values()))
    among = SEGMENTS if is_wide else WANTED
    return propose(table.columns, among, {**fixed, **stated}, table.constants)


def _is_special(column: str) -> bool:
    return column not in OWN and is_field(column)


def _note_guesses(
    table: Table, stated: Mapping[str, str], fields: Mapping[str, str], report: Report
) -> None:
    guessed = [(c, f) for c, f in fields.items() if f and c not in stated and c != f]
    if guessed:
        pairs = [
            message("columns.pair", "“{column}” as {field}", column=table.titles.get(c, c), field=f)
            for c, f in guessed
        ]
        text = message("columns.guessed", "Columns were matched by name: {pairs}.", pairs=pairs)
        report.note(text, table.head)
    for each in WANTED:
        rivals = [c for c in table.columns if c not in fields and is_called(c, each)]
        column = next((c for c, f in fields.items() if f == each.name), None)
        if rivals and column:
            text = message(
                "columns.rivals",
                "“{column}” was read as {field}. Not read as {field}: {others}.",
                column=column,
                field=each.name,
                others=rivals,
            )
            report.note(text, table.head)


def _warn_of_rest(
    table: Table, stated: Mapping[str, str], fields: Mapping[str, str], report: Report
) -> bool:
    """Report columns without a field, and return whether any column has one or nearly has one."""
    unused = []
    known = sorted(OWN - {"reference_B", "reference_C"} - set(fields.values()))
    for column in (c for c in table.columns if not fields.get(c)):
        close = difflib.get_close_matches(column, known, n=1, cutoff=0.75)
        if column not in stated and (column.startswith(("reference", SYSTEM)) or close):
            text = message(
                "columns.misspelt",
                "“{column}” is not the name of a known column. Did you mean {names}?",
                column=column,
                names=close or ["reference_B", "system:NAME"],
            )
            report.error(text, table.head._replace(field=column))
        else:
            unused.append(table.titles.get(column, column))
    if len(unused) == len(table.columns):
        refuse_unknown(table, report)
        return False
    if unused:
        text = plural(
            "columns.not-used",
            "The column {columns} is not used.",
            "The columns {columns} are not used.",
            n=len(unused),
            columns=truncated(unused, 50),
        )
        report.warn(text, table.head)
        if not any(f == "output" or f.startswith(SYSTEM) for f in fields.values()):
            text = message(
                "columns.no-outputs",
                "If a column contains the outputs of a system, name it as such: system:{column}.",
                column=unused[0],
            )
            report.warn(text, table.head)
    return True
