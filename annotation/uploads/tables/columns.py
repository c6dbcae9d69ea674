"""Which column of a person's table is which of ours: by its name, or as the person says."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.uploads.tables.rows import Table


@dataclass(frozen=True)
class Wanted:
    """A field that a table may hold, what pages call it, and other names that people give it."""

    name: str
    label: str
    synonyms: tuple[str, ...] = ()


def propose(
    columns: Sequence[str], wanted: Sequence[Wanted], chosen: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the field of every column that has one; a field belongs to one column at most.

    `chosen` is what the person said of some columns, an empty field meaning that it is not used;
    those are returned as said. For the others exact names go before synonyms, and synonyms in
    their order. A remark in brackets at the end of a name, such as a scale, is no part of it.
    """
    found = dict(chosen or {})
    free = [column for column in columns if column not in found]
    for field in wanted:
        if field.name in found.values():
            continue
        by_name = {_plain(column): column for column in reversed(free)}
        names = (_plain(name) for name in (field.name, *field.synonyms))
        if column := next((by_name[name] for name in names if name in by_name), ""):
            found[column] = field.name
            free.remove(column)
    return found


def is_called(column: str, field: Wanted) -> bool:
    """Whether a column has a name that people give to the field."""
    return _plain(column) in map(_plain, (field.name, *field.synonyms))


def renamed(table: Table, fields: Mapping[str, str]) -> Table:
    """Return the table under the names of fields; columns without a field keep their names.

    Columns whose field is empty are left out.
    """
    kept = [column for column in table.columns if fields.get(column, column)]
    rows = [
        (line, {fields.get(c, c): row[c] for c in kept if c in row}) for line, row in table.rows
    ]
    return Table(table.file, [fields.get(column, column) for column in kept], rows)


def _plain(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold()
    without_remark = re.sub(r"\s*(\([^()]*\)|\[[^][]*\])\s*$", "", plain)
    return re.sub(r"[\W_]+", "", without_remark or plain)
