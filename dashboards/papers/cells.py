"""Parts of a table for a paper."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from metaeval.messages import Message

# A caption of one text or several; those that are None are skipped.
Caption: TypeAlias = Message | str | Sequence[Message | str | None]


@dataclass(frozen=True)
class Cell:
    """One cell; `text` is escaped when written, and `align` applies where it spans columns."""

    text: str
    is_bold: bool = False
    span: int = 1
    align: str = "c"


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table in the paper's shape: `columns` as in ``lrr``; a one-cell row is a heading.

    `caption` and `notes` are written in English.
    """

    caption: Caption
    label: str
    columns: str
    head: Sequence[Row]
    body: Sequence[Row]
    notes: Sequence[Message | str] = field(default_factory=tuple)

    @property
    def heading(self) -> str:
        """The caption in English."""
        if isinstance(self.caption, Message | str):
            return str(self.caption)
        return " ".join(str(each) for each in self.caption if each)


def is_heading(row: Row, table: Table) -> bool:
    """Return whether a row is a heading above others, which spans the table when written."""
    return len(row) == 1 and row[0].span == 1 and len(table.columns) > 1
