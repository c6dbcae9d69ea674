"""Which column of a person's table is which of ours: by its name, or as the person says.

What people call a field is said in `metaeval.files.names`, for every reader.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import Table
from core.text import join_truncated
from metaeval.files import names
from metaeval.files.names import NAMES, plain


@dataclass(frozen=True)
class Wanted:
    """A field that a table may hold, what pages call it, and other names that people give it."""

    name: str
    label: str
    synonyms: tuple[str, ...] = ()


def wanted(name: str, label: str, *also: str) -> Wanted:
    """Return a field of the registry; `also` are names that it has in one kind of table alone."""
    return Wanted(name, label, (*NAMES[name], *also))


def propose(
    columns: Sequence[str], fields: Sequence[Wanted], chosen: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the field of every column that has one; a field belongs to one column at most.

    `chosen` is what the person said of some columns, an empty field meaning that it is not used;
    those are returned as said. For the others exact names go before synonyms, and synonyms in
    their order. A remark in brackets at the end of a name, such as a scale, is no part of it.
    """
    found = dict(chosen or {})
    free = [column for column in columns if column not in found]
    for field in fields:
        if field.name in found.values():
            continue
        by_name = {plain(column): column for column in reversed(free)}
        known = map(plain, (field.name, *field.synonyms))
        if column := next((by_name[name] for name in known if name in by_name), ""):
            found[column] = field.name
            free.remove(column)
    return found


def is_called(column: str, field: Wanted) -> bool:
    """Whether a column has a name that people give to the field."""
    return names.is_called(column, (field.name, *field.synonyms))


def say_unused(table: Table, used: Container[str], report: Report) -> None:
    """Warn of columns that hold something and are not used, and note those that hold nothing."""
    rest = [column for column in table.columns if column not in used]
    empty = [c for c in rest if all(row.get(c) in (None, "", [], {}) for _, row in table.rows)]
    titles = [table.titles.get(column, column) for column in rest if column not in empty]
    if titles:
        word = "column" if len(titles) == 1 else "columns"
        report.warn(
            f"not used: the {word} {join_truncated(titles, 50)}. If one holds what is missing "
            "here, say what it is",
            table.head,
        )
    if empty:
        names = join_truncated([table.titles.get(column, column) for column in empty])
        report.note(f"empty, and not used: {names}", table.head)


def renamed(table: Table, fields: Mapping[str, str]) -> Table:
    """Return the table under the names of fields; columns without a field keep their names.

    Columns whose field is empty are left out.
    """
    kept = [column for column in table.columns if fields.get(column, column)]
    rows = [
        (line, {fields.get(c, c): row[c] for c in kept if c in row}) for line, row in table.rows
    ]
    columns = [fields.get(column, column) for column in kept]
    return replace(table, columns=columns, rows=rows)
