"""Tables whose cells are separated by blanks, as R's `write.table` and Google's mean scores."""

import re
from collections.abc import Iterator, Sequence

from annotation.uploads.formats.base import Content, Import
from annotation.uploads.tables.rows import Table, column_name
from metaeval.files.decoding import split_lines
from metaeval.files.names import is_known
from metaeval.messages import message

# Possessive: a quotation mark that nothing closes is looked for once.
CELL = re.compile(r'"(?P<quoted>[^"]*+)"(?=\s|$)|\S++')


def _cells(line: str) -> list[str]:
    return [found["quoted"] or found[0].strip('"') for found in CELL.finditer(line)]


def is_table(name: str, text: str) -> bool:
    """Return True if the header has known names and no other separator, and rows have its width.

    Rows may have one cell more: the names that R gives them.
    """
    head, _, rest = text.partition("\n")
    columns = _cells(head)
    if (
        len(columns) < 2
        or any(sign in head for sign in "\t,;<{[")
        or not any(map(is_known, columns))
    ):
        return False
    widths = {len(_cells(line)) for line in split_lines(rest) if line.strip()}
    return widths in ({len(columns)}, {len(columns) + 1})


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the tables."""
    for content in contents:
        lines = enumerate(split_lines(content.text), 1)
        (_, head), *rest = [(number, _cells(line)) for number, line in lines if line.strip()]
        table = Table(content.name, [column_name(each) for each in head])
        table.titles = dict(zip(table.columns, head, strict=True))
        n_names = len(rest[0][1]) - len(head)
        table.rows = [
            (number, dict(zip(table.columns, cells[n_names:], strict=True)))
            for number, cells in rest
        ]
        if n_names:
            text = message("format.row-names", "The names of the rows were skipped.")
            to.report.note(text, table.head)
        if len(set(table.columns)) < len(head):
            to.report.error(
                message("format.column-twice", "Two columns have one name."), table.head
            )
        yield table
