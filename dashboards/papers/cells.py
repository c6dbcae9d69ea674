"""What a table for a paper is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One cell; `text` is plain and escaped when written. `align` counts where it spans columns."""

    text: str
    is_bold: bool = False
    span: int = 1
    align: str = "c"


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table in the paper's shape: `columns` as in ``lrr``; a one-cell row is a heading."""

    caption: str
    label: str
    columns: str
    head: Sequence[Row]
    body: Sequence[Row]
    notes: Sequence[str] = field(default_factory=tuple)


def is_heading(row: Row, table: Table) -> bool:
    """Whether a row is a heading above others, which spans the table when written."""
    return len(row) == 1 and row[0].span == 1 and len(table.columns) > 1
