"""Write tables for papers: LaTeX with booktabs, every text escaped."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from django.http import HttpResponse

from core import numbers
from dashboards.papers.fitting import NORMAL, Caption, Cell, Fitted, Row, Table, fitted, is_heading

__all__ = ["Caption", "Cell", "Row", "Table", "escape", "estimate", "interval", "number",
           "plain_table", "response", "scripts", "small_number", "texts", "write",
           "write_all"]  # fmt: skip

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # TeX's oldest encoding lacks the straight quotation mark.
    '"': "''",
    "`": r"\textasciigrave{}",
    **{character: rf"\{character}" for character in "&%$#_{}"},
    # Letters and signs of the field that many fonts lack.
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "α": r"$\alpha$",
    "χ": r"$\chi$",
    "Δ": r"$\Delta$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "→": r"$\rightarrow$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "⊥": r"$^{\perp}$",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "∞": r"$\infty$",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}
# Adjacent signs in names that TeX would join to one.
_JOINED = re.compile("(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=[`])")
# Characters of pdflatex: Latin letters and punctuation; accented letters need T1.
_LATIN = re.compile("(?![ĦħĸĿŀŉŦŧſ])[\u0020-\u017f‘’“”…·]")
_ACCENTED = re.compile("[\u00a1-\u017f]")


def escape(text: str) -> str:
    """Return plain text as LaTeX; control characters become spaces."""
    composed = unicodedata.normalize("NFC", text)
    plain = "".join(c if c.isprintable() or c in _SPECIAL else " " for c in composed)
    pieces = _JOINED.split(plain)
    return "{}".join("".join(_SPECIAL.get(c, c) for c in piece) for piece in pieces)


def scripts(text: str) -> list[str]:
    """Return the scripts of a text that pdflatex cannot set, such as CJK and CYRILLIC."""
    strange = {c for c in text if c not in _SPECIAL and c.isprintable() and not _LATIN.match(c)}
    return sorted({unicodedata.name(c, "UNNAMED").split()[0] for c in strange})


def number(value: float | None, places: int = 3, *, is_bold: bool = False, mark: str = "") -> Cell:
    """Return a number's cell; a dash for None and nan."""
    bold = is_bold and numbers.is_known(value)
    text = f"{numbers.decimals(value, places)}{mark}"
    return Cell(text, bold, numbers=(value,), mark=mark)


def small_number(value: float | None, places: int = 3) -> Cell:
    """Return a number's cell; one that would be printed as 0 keeps its first digits: 7.4e−5."""
    if value is None or value == 0 or math.isnan(value) or abs(value) >= 0.5 * 10**-places:
        return number(value, places)
    digits, _, power = f"{value:.1e}".partition("e")
    return Cell(f"{digits}e{int(power)}".replace("-", "−"))


def interval(low: float | None, high: float | None, places: int = 3) -> Cell:
    """Return the cell of an interval in brackets; a dash where an end is not known."""
    return Cell(numbers.interval((low, high), places) or numbers.NOTHING, numbers=(low, high))


def estimate(value: float | None, low: float | None, high: float | None, places: int = 3) -> Cell:
    """Return the cell of a number with its interval, where it has one."""
    ends = numbers.interval((low, high), places)
    text = f"{numbers.decimals(value, places)} {ends}".rstrip()
    return Cell(text, numbers=(value, low, high))


def texts(*values: object) -> list[Cell]:
    """Return plain cells; a dash for None."""
    return [Cell("–" if value is None else str(value)) for value in values]


def write(table: Table, *, is_whole: bool = False) -> str:
    """Return the source of a table, in parts where it is wider than a page or longer.

    With `is_whole` it stays one table in the size of the text. ``notes`` precede it as comments.
    """
    notes = [f"% {' '.join(str(note).split())}" for note in table.notes]
    parts = [Fitted(table, table.columns, NORMAL)] if is_whole else fitted(table)
    lines = [*notes, r"% Needs \usepackage{booktabs}.", *_needs(table)]
    return "\n".join([*lines, *(line for part in parts for line in _written(part))]) + "\n"


def _written(part: Fitted) -> list[str]:
    table, size = part.table, part.size
    return [
        r"\begin{table}",
        r"\centering",
        *([size.command] if size.command else []),
        *([rf"\setlength{{\tabcolsep}}{{{size.gap:.0f}pt}}"] if size.gap < 6 else []),
        rf"\begin{{tabular}}{{{part.columns}}}",
        r"\toprule",
        *(line for row in table.head for line in _head(row)),
        r"\midrule",
        *_body(table),
        r"\bottomrule",
        r"\end{tabular}",
        *([_below(table)] if table.below else []),
        rf"\caption{{{escape(table.heading)}}}",
        rf"\label{{tab:{_name(table.label)}}}",
        r"\end{table}",
    ]


def _below(table: Table) -> str:
    text = " ".join(escape(str(note)) for note in table.below)
    return rf"\par\smallskip{{\footnotesize {text}\par}}"


def write_all(tables: Iterable[Table]) -> str:
    """Return several tables, one below the other."""
    return "\n".join(write(table) for table in tables)


def response(tables: Iterable[Table], filename: str, *, head: str = "") -> HttpResponse:
    """Answer with tables as a file, to be saved under a name without extension.

    `head` is LaTeX that precedes them: comments.
    """
    return HttpResponse(
        f"{head}{write_all(tables)}",
        content_type="application/x-tex; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{filename}.tex"'},
    )


def _needs(table: Table) -> list[str]:
    """Return comments on letters that need more than plain pdflatex."""
    cells = [cell.text for row in [*table.head, *table.body] for cell in row]
    text = unicodedata.normalize("NFC", "".join([table.heading, *cells]))
    if found := scripts(text):
        return [f"% Needs xelatex or lualatex, and a font with these letters: {', '.join(found)}."]
    if any(_ACCENTED.match(c) and c not in _SPECIAL for c in text):
        return [r"% Needs \usepackage[T1]{fontenc} with pdflatex."]
    return []


def _head(row: Row) -> list[str]:
    """Return a row of heads, with a rule under each that spans several columns."""
    ends = list(accumulate(cell.span for cell in row))
    rules = [
        rf"\cmidrule(lr){{{end - cell.span + 1}-{end}}}"
        for cell, end in zip(row, ends, strict=True)
        if cell.span > 1
    ]
    return [_line(row), *([" ".join(rules)] if rules else [])]


def _body(table: Table) -> list[str]:
    lines = []
    for position, row in enumerate(table.body):
        if is_heading(row, table):
            if position:
                lines.append(r"\addlinespace")
            row = [replace(row[0], span=len(table.columns), align="l")]
        lines.append(_line(row))
    return lines


def _line(row: Row) -> str:
    text = " & ".join(map(_cell, row)) + r" \\"
    # After a rule or the end of a line, TeX would read these as an argument.
    return f"{{}}{text}" if text[0] in "[*(" else text


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.is_bold:
        text = rf"\textbf{{{text}}}"
    return rf"\multicolumn{{{cell.span}}}{{{cell.align}}}{{{text}}}" if cell.span > 1 else text


def _name(label: str) -> str:
    """Replace the characters of a label that some packages refuse."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-:") else "-" for c in label)


def plain_table(
    caption: Caption, label: str, columns: Sequence[str], rows: Sequence[dict[str, Any]]
) -> Table:
    """Return rows of plain values as in the CSV: the default table of a page."""
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
