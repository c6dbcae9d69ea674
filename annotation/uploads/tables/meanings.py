"""Recognise the columns of a table of a test set, and report unknown or ambiguous ones."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.uploads.problems import Report
from annotation.uploads.tables.columns import (
    name_fields,
    numbering,
    propose,
    refuse_unknown,
    renamed,
    say_unused,
)
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import read_score
from metaeval.files.names import NAMES, TEST_SET, fields_of, is_called, is_field, number_of
from metaeval.messages import message

WANTED = fields_of(TEST_SET)
OWN = frozenset(field.name for field in WANTED)
# In a table with a column for each system nothing else is an output.
OUTPUTS = ("system", "output", "length_ratio")
SYSTEM, REFERENCE = "system:", "reference_"
OF_OUTPUTS = ("output", "outputs", "translations", "hypotheses", *NAMES["output"])
# `System A`, `MT_2`, `hyp1`: a system's outputs, called by a word for them and a letter or number.
WORDS = tuple(name for field in WANTED if field.name in OUTPUTS[:2] for name in field.names)


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


def is_named(field: str) -> bool:
    """Return True for a reference with a name of its own, or the outputs of a system."""
    return field not in OWN and bool(re.fullmatch(r"reference_.+|system:.+", field))


def understand(
    table: Table, stated: Mapping[str, str], report: Report
) -> tuple[Table | None, Meaning]:
    """Return the table under the names of fields, and the fields of its columns.

    The table is None, with the reason reported, if no column has a field. `stated` are the choices
    of a person. Guesses are noted; columns that are probably misspelt are refused, because they
    would be lost unnoticed.
    """
    fixed = {c: c for c in table.columns if is_named(c)} or _by_name(table) or _numbered(table)
    fixed = {column: field for column, field in fixed.items() if column not in stated}
    is_wide = any(field.startswith(SYSTEM) for field in (*fixed.values(), *stated.values()))
    among = [field for field in WANTED if not is_wide or field.name not in OUTPUTS]
    fields = propose(table.columns, among, {**fixed, **stated}, table.constants)
    if numbers := numbering(table, fields):
        fields[numbers] = "segment"
    _note_guesses(table, stated, fields, report)
    is_known = _warn_of_rest(table, stated, fields, report)
    meaning = Meaning(table.file, table.columns, table.titles, fields, table.samples)
    if not is_known:
        return None, meaning
    name_fields(table, fields, report)
    return renamed(table, fields), meaning


def _by_name(table: Table) -> dict[str, str]:
    """Return the fields of the outputs in an object by system, such as `outputs.gpt`.

    Numbers and signs are no outputs: `translation.rating` is one of the translation.
    """
    parts = {column: table.titles.get(column, column).partition(".") for column in table.columns}
    return {c: f"{SYSTEM}{name}" for c, (head, _, name) in parts.items()
            if name and c not in OWN and is_called(head, OF_OUTPUTS)
            and any(map(_is_text, table.column(c)))}  # fmt: skip


def _is_text(cell: Any) -> bool:
    return read_score(cell) is None and any(map(str.isalpha, str(cell)))


def _numbered(table: Table) -> dict[str, str]:
    """Return the fields of the columns `System A`, `System B` … if no other column is an output."""
    titles = {column: table.titles.get(column, column) for column in table.columns}
    if any(is_called(title, WORDS) for title in titles.values()):
        return {}
    found = [column for column, title in titles.items() if number_of(title, WORDS)]
    return {c: f"{SYSTEM}{titles[c].strip()}" for c in found} if len(found) > 1 else {}


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
        rivals = [c for c in table.columns if c not in fields and is_called(c, each.names)]
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
    used = {column for column, field in fields.items() if field}
    known = sorted(OWN - {"reference_B", "reference_C"} - set(fields.values()))
    rest = (c for c in table.columns if c not in used and c not in stated and not is_field(c))
    for column in rest:
        close = difflib.get_close_matches(column, known, n=1, cutoff=0.75)
        if column.startswith(("reference", SYSTEM)) or close:
            text = message(
                "columns.misspelt",
                "“{column}” is not the name of a known column. Did you mean {names}?",
                column=column,
                names=close or ["reference_B", "system:NAME"],
            )
            report.error(text, table.head._replace(field=column))
            used.add(column)
    if not used:
        refuse_unknown(table, report)
        return False
    unused = say_unused(table, used, report)
    samples = {table.titles.get(column, column): text for column, text in table.samples.items()}
    if unused and not any(f == "output" or f.startswith(SYSTEM) for f in fields.values()):
        text = message(
            "columns.no-outputs",
            "If a column contains the outputs of a system, name it as such: “system:{column}”.",
            column=max(unused, key=lambda title: len(samples.get(title, ""))),
        )
        report.warn(text, table.head)
    return True
