"""Match the columns of a person's table with fields: by their names, or as the person chose.

The names that people give to fields are in `metaeval.files.names`, for every reader.
"""

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from metaeval.files import names
from metaeval.files.names import NAMES, plain
from metaeval.messages import Message, message, truncated

# What columns without names are called.
NUMBERED = re.compile(r"\s*column [1-9]\d*\s*", re.IGNORECASE)
FIRST = "column 1"


@dataclass(frozen=True)
class Wanted:
    """A field that a table may have, its label on pages, and other names that people give it."""

    name: str
    label: Message
    synonyms: tuple[str, ...] = ()


def wanted(name: str, label: Message, *also: str) -> Wanted:
    """Return a field of the registry; `also` are names that it has in one kind of table alone."""
    return Wanted(name, label, (*NAMES[name], *also))


def propose(
    columns: Sequence[str],
    fields: Sequence[Wanted],
    chosen: Mapping[str, str] | None = None,
    constants: Container[str] = (),
) -> dict[str, str]:
    """Return the field of every column that has one; a field belongs to one column at most.

    `chosen` has the person's choices for some columns, with an empty field for unused columns;
    they are returned unchanged. For the others exact names precede synonyms, and synonyms go by
    their order. A comment in brackets at the end of a name, such as a scale, is not part of it.
    `constants` are outputs only where no other column can be.
    """
    found = dict(chosen or {})
    free = [column for column in columns if column not in found]
    for field in fields:
        if field.name in found.values():
            continue
        by_name = {plain(column): column for column in reversed(free)}
        known = map(plain, (field.name, *field.synonyms))
        own = [by_name[name] for name in known if name in by_name]
        if field.name == "output":
            own.sort(key=lambda column: column in constants)
        if column := next(iter(own), ""):
            found[column] = field.name
            free.remove(column)
    return found


def is_called(column: str, field: Wanted) -> bool:
    """Return True if a column has a name that people give to the field."""
    return names.is_called(column, (field.name, *field.synonyms))


def unnamed(chosen: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the files whose columns a person calls by numbers: their first rows are data.

    An empty name is every file.

    >>> unnamed({"": ["column 1", "column 2"], "b.tsv": ["sid"]})
    ['']
    """
    return [file for file, columns in chosen.items() if any(map(NUMBERED.fullmatch, columns))]


def refuse_absent(
    column: str, columns: Collection[str], report: Report, place: Place | None = None
) -> None:
    """Report a column that a person named and no table has; `columns` are those of the tables.

    If it is called by its number and no column is, the files name theirs, which was reported.
    """
    if FIRST in columns or not NUMBERED.fullmatch(column):
        refusal = message(
            "columns.absent",
            "There is no column “{column}”. The columns are {columns}.",
            column=column,
            columns=truncated(list(columns), 30),
        )
        report.error(refusal, place or Place(field="column"))


def refuse_unknown(table: Table, report: Report) -> None:
    """Report that no column of a table is known, and that its first row may be data."""
    titles = [table.titles.get(column, column) for column in table.columns]
    if all(map(NUMBERED.fullmatch, table.columns)):
        refusal = message(
            "columns.without-names",
            "The columns of this table have no names. Choose what they are: {columns}.",
            columns=truncated(titles, 30),
        )
    else:
        refusal = message(
            "columns.none-known",
            "No column has a known name: the first row reads {columns}. If that row is data, say "
            "so (on the page below the columns; command line: --column “column 1=segment”; API: "
            "columns), then say what columns 1, 2, … contain. Otherwise say what the columns "
            "contain.",
            columns=truncated(titles, 30),
        )
    report.error(refusal, table.head)


def say_unused(table: Table, used: Container[str], report: Report) -> None:
    """Warn of unused columns with content, and note the empty ones."""
    rest = [column for column in table.columns if column not in used]
    empty = [c for c in rest if all(row.get(c) in (None, "", [], {}) for _, row in table.rows)]
    titles = [table.titles.get(column, column) for column in rest if column not in empty]
    report.warn_of(
        len(titles),
        "columns.unused",
        "The column {columns} is not used. If it has something that is missing here, say what "
        "it is.",
        "The columns {columns} are not used. If one of them has something that is missing "
        "here, say what it is.",
        table.head,
        columns=truncated(titles, 50),
    )
    report.note_of(
        len(empty),
        "columns.empty",
        "The column {columns} is empty and not used.",
        "The columns {columns} are empty and not used.",
        table.head,
        columns=truncated([table.titles.get(column, column) for column in empty]),
    )


def renamed(table: Table, fields: Mapping[str, str]) -> Table:
    """Return the table under the names of fields; columns without a field keep their names.

    Columns with an empty field are dropped.
    """
    if all(fields.get(column, column) == column for column in table.columns):
        return replace(table)
    used = [column for column in table.columns if fields.get(column, column)]
    rows = [
        (line, {fields.get(c, c): row[c] for c in used if c in row}) for line, row in table.rows
    ]
    columns = [fields.get(column, column) for column in used]
    return replace(table, columns=columns, rows=rows)
