"""Parts of a table for a paper."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from metaeval.messages import Message

# A caption of one text or several; those that are None are skipped.
Caption: TypeAlias = Message | str | Sequence[Message | str | None]


@dataclass(frozen=True)
class Cell:
    """One cell; `text` is escaped when written, and `align` applies where it spans columns.

    `numbers` are the values behind the text: one, the two ends of an interval, or a value with
    both; `mark` follows them, such as a dagger.
    """

    text: str
    is_bold: bool = False
    span: int = 1
    align: str = "c"
    numbers: Sequence[float | None] = ()
    mark: str = ""


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table in the paper's shape: `columns` as in ``lrr``; a one-cell row is a heading.

    `caption`, `below` and `notes` are written in English: `below` is printed under the table, and
    `notes` are comments. `usual` are the columns of a table that its reader has not shaped, by
    position; all where it is empty.
    """

    caption: Caption
    label: str
    columns: str
    head: Sequence[Row]
    body: Sequence[Row]
    notes: Sequence[Message | str] = field(default_factory=tuple)
    below: Sequence[Message | str] = field(default_factory=tuple)
    usual: Sequence[int] = field(default_factory=tuple)

    @property
    def heading(self) -> str:
        """The caption in English."""
        if isinstance(self.caption, Message | str):
            return str(self.caption)
        return " ".join(str(each) for each in self.caption if each)


def is_heading(row: Row, table: Table) -> bool:
    """Return whether a row is a heading above others, which spans the table when written."""
    return len(row) == 1 and row[0].span == 1 and len(table.columns) > 1
