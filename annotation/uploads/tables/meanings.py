"""Which columns a table of a test set may have, under which names people have them, what is odd."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.uploads.problems import Report
from annotation.uploads.tables.columns import is_called, propose, renamed, wanted
from annotation.uploads.tables.rows import Table, column_name
from metaeval.files.names import NAMES

LANGUAGES = (
    wanted("language_pair", "language pair"),
    wanted("source_language", "source language"),
    wanted("target_language", "target language"),
)
SEGMENTS = (
    wanted("segment", "segment: your id of it", *NAMES["item"]),
    wanted("document", "document: its id"),
    wanted("source", "source text"),
    wanted("reference", "reference"),
    wanted("reference_B", "second reference"),
    wanted("reference_C", "third reference"),
    *LANGUAGES,
    wanted("media", "file of a recording or picture"),
    wanted("media_start", "start in the recording, in seconds"),
    wanted("media_end", "end in the recording, in seconds"),
    wanted("alt", "description of the picture"),
    wanted("transcript", "transcript of the recording"),
    wanted("glossary", "terms of this segment"),
    wanted("register", "register: how formal it is to be"),
    wanted("instructions", "instructions for this segment"),
)
OUTPUTS = (
    wanted("system", "name of the system"),
    wanted("output", "output: the system’s translation"),
    wanted("length_ratio", "length ratio"),
)
WANTED = (*SEGMENTS, *OUTPUTS)
OWN = frozenset(field.name for field in WANTED)
SYSTEM = "system:"
SAMPLE = 60  # characters


@dataclass(frozen=True)
class Meaning:
    """What the columns of one table were taken for.

    `columns` are all of them in the table's order, `titles` how the file writes them, `fields` the
    field of each that has one, `samples` the beginning of what stands in the first row.
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
    """Whether a column may be taken for this: a field, a further reference, or a system."""
    return name in OWN or bool(re.fullmatch(r"reference_.+|system:.+", name))


def understand(
    table: Table, chosen: Mapping[str, Mapping[str, str]], report: Report
) -> tuple[Table | None, Meaning]:
    """Return the table under the names of fields, and what was taken for what.

    There is no table, with the reason reported, where two columns would be one.

    `chosen` is what a person said, by file or under no name for every table. Guesses are mentioned;
    columns that are probably misspelt are refused, because they would be lost unnoticed.
    """
    said = _said(table, chosen, report)
    fields = _fields(table, said)
    _mention(table, said, fields, report)
    _warn_of_rest(table, said, fields, report)
    meaning = Meaning(table.file, table.columns, table.titles, fields, _samples(table))
    is_renamed = any(column != field for column, field in fields.items())
    taken = renamed(table, fields) if is_renamed else table
    if twice := sorted({c for c in taken.columns if taken.columns.count(c) > 1}):
        report.error(f"two columns are taken for {', '.join(twice)}", table.head)
        return None, meaning
    return taken, meaning


def _samples(table: Table) -> dict[str, str]:
    row = table.rows[0][1] if table.rows else {}
    return {column: str(cell)[:SAMPLE] for column, cell in row.items()}


def _said(table: Table, chosen: Mapping[str, Mapping[str, str]], report: Report) -> dict[str, str]:
    said = {
        column_name(column): field.strip()
        for name in ("", table.file)
        for column, field in chosen.get(name, {}).items()
    }
    for column, field in said.items():
        if field and not is_field(field):
            report.error(
                f"“{field}” is nothing that the column “{column}” can be taken for; there are "
                f"{', '.join(f.name for f in WANTED)}, reference_NAME and system:NAME",
                table.head._replace(field=column),
            )
    for column in chosen.get(table.file, {}):
        if column_name(column) not in table.columns:
            report.error(f"there is no column “{column}”", table.head)
    return {c: f for c, f in said.items() if c in table.columns and (not f or is_field(f))}


def _fields(table: Table, said: Mapping[str, str]) -> dict[str, str]:
    """Guess the columns that nobody spoke of."""
    own = {c: c for c in table.columns if c not in said and _is_own(c)}
    is_wide = any(field.startswith(SYSTEM) for field in (*own.values(), *said.values()))
    return propose(table.columns, SEGMENTS if is_wide else WANTED, {**own, **said})


def _is_own(column: str) -> bool:
    return column not in OWN and is_field(column)


def _mention(
    table: Table, said: Mapping[str, str], fields: Mapping[str, str], report: Report
) -> None:
    guessed = [(c, f) for c, f in fields.items() if f and c not in said and c != f]
    if guessed:
        pairs = ", ".join(f"“{table.titles.get(c, c)}” as {f}" for c, f in guessed)
        report.note(f"columns taken by their names: {pairs}", table.head)
    for each in WANTED:
        rivals = [c for c in table.columns if c not in fields and is_called(c, each)]
        column = next((c for c, f in fields.items() if f == each.name), None)
        if rivals and column:
            report.note(
                f"“{column}” is taken as {each.name}, not {_quoted(rivals)}",
                table.head,
            )


def _warn_of_rest(
    table: Table, said: Mapping[str, str], fields: Mapping[str, str], report: Report
) -> None:
    unused = []
    known = sorted(OWN - {"reference_B", "reference_C"} - set(fields.values()))
    for column in (c for c in table.columns if not fields.get(c)):
        close = difflib.get_close_matches(column, known, n=1, cutoff=0.75)
        if column not in said and (column.startswith(("reference", SYSTEM)) or close):
            meant = close[0] if close else "reference_B or system:NAME"
            report.error(
                f"there is no column “{column}”; is “{meant}” meant?",
                table.head._replace(field=column),
            )
        else:
            unused.append(table.titles.get(column, column))
    if unused:
        names = ", ".join(unused[:50])
        one, several = f"not used: the column {names}", f"not used: the columns {names}"
        report.warn(one if len(unused) == 1 else several, table.head)
        if not any(f == "output" or f.startswith(SYSTEM) for f in fields.values()):
            report.warn(
                f"if a column has the outputs of a system, call it so: {SYSTEM}{unused[0]}",
                table.head,
            )


def _quoted(names: list[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
