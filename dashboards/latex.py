"""Tables for papers: LaTeX with booktabs, every text escaped."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: rf"\{character}" for character in "&%$#_{}"},
    # Letters and signs of the field that many fonts lack.
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "≤": r"$\leq$",
    "\N{NO-BREAK SPACE}": "~",
}


@dataclass(frozen=True)
class Cell:
    """One cell; `text` is plain text and escaped when the table is written."""

    text: str
    is_bold: bool = False
    span: int = 1


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


def escape(text: str) -> str:
    """Return plain text as LaTeX; control characters become spaces."""
    plain = "".join(c if c.isprintable() or c == "\N{NO-BREAK SPACE}" else " " for c in text)
    return "".join(_SPECIAL.get(character, character) for character in plain)


def number(value: float | None, places: int = 4, *, is_bold: bool = False) -> Cell:
    """Return a number's cell; a dash for None and nan."""
    if value is None or math.isnan(value):
        return Cell("–")
    return Cell(f"{value:.{places}f}".replace("-", "−"), is_bold)


def texts(*values: object) -> list[Cell]:
    """Return plain cells."""
    return [Cell(str(value)) for value in values]


def write(table: Table) -> str:
    """Return the source of a table; ``notes`` stand above it as comments."""
    lines = [f"% {' '.join(note.split())}" for note in table.notes]
    lines += [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{table.columns}}}",
        r"\toprule",
        *map(_line, table.head),
        r"\midrule",
        *_body(table),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape(table.caption)}}}",
        rf"\label{{tab:{_name(table.label)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def write_all(tables: Iterable[Table]) -> str:
    """Return several tables, one below the other."""
    return "\n".join(write(table) for table in tables)


def _body(table: Table) -> list[str]:
    lines = []
    for position, row in enumerate(table.body):
        is_heading = len(row) == 1 and len(table.columns) > 1
        if is_heading and position:
            lines.append(r"\addlinespace")
        lines.append(_line(row))
    return lines


def _line(row: Row) -> str:
    return " & ".join(map(_cell, row)) + r" \\"


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.is_bold:
        text = rf"\textbf{{{text}}}"
    return rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}" if cell.span > 1 else text


def _name(label: str) -> str:
    """Keep of a label what every package takes."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-:") else "-" for c in label)


def plain_table(
    caption: str, label: str, columns: Sequence[str], rows: Sequence[dict[str, Any]]
) -> Table:
    """Return rows of plain values as they are in the CSV: what a page has by default."""
    body = [[_value(row.get(column)) for column in columns] for row in rows]
    kinds = ["r" if _is_numeric(column, rows) else "l" for column in columns]
    return Table(caption, label, "".join(kinds), [texts(*columns)], body)


def _value(value: object) -> Cell:
    if isinstance(value, float):
        return number(value)
    return Cell("–" if value is None else str(value))


def _is_numeric(column: str, rows: Sequence[dict[str, Any]]) -> bool:
    values = [row.get(column) for row in rows]
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in known
    )
