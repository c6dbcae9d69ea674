"""Write a table for a paper as Markdown, as HTML for a word processor, and as cells of a CSV."""

import re
from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboards.papers.cells import Cell, Row, Table, is_heading
from dashboards.papers.shaping import column_names

# Characters that Markdown would take for its own signs.
SIGNS = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown, with its caption above and its notes below."""
    ends = ["---" if kind == "l" else "---:" for kind in table.columns]
    lines = [_line([_escaped(name) for name in column_names(table)]), _line(ends)]
    for row in table.body:
        cells = [_bold(cell.text) if cell.is_bold else _escaped(cell.text) for cell in row]
        if is_heading(row, table):
            cells = [_bold(row[0].text), *[""] * (len(table.columns) - 1)]
        lines.append(_line(cells))
    notes = [_escaped(str(each)) for each in table.below]
    below = ["", *notes] if notes else []
    return "\n".join([f"Table: {_escaped(table.heading)}", "", *lines, *below]) + "\n"


def cells(table: Table) -> list[list[str]]:
    """Return the rows of a CSV: the names of the columns, then the rows, numbers as written."""
    plain = [
        [row[0].text, *[""] * (len(table.columns) - 1)]
        if is_heading(row, table)
        else [cell.text for cell in row]
        for row in table.body
    ]
    return [column_names(table), *plain]


def html(table: Table) -> SafeString:
    """Return a table with its caption and notes, which a word processor takes as its own."""
    head = format_html_join("", "<tr>{}</tr>", ((_heads(row, table),) for row in table.head))
    body = format_html_join("", "<tr{}>{}</tr>", (_row(row, table) for row in table.body))
    notes = format_html_join("", "<p>{}</p>", ((str(each),) for each in table.below))
    return format_html(
        '<table class="paper"><caption>{}</caption><thead>{}</thead><tbody>{}</tbody></table>{}',
        table.heading, head, body, notes,
    )  # fmt: skip


def _heads(row: Row, table: Table) -> SafeString:
    found, at = [], 0
    for cell in row:
        align = "start" if table.columns[at] == "l" else "num"
        found.append(("span" if cell.span > 1 else align, cell.span, cell.text))
        at += cell.span
    # A header without a text is an empty cell.
    named = '<th scope="col" class="{}" colspan="{}">{}</th>'
    empty = '<td class="{}" colspan="{}">{}</td>'
    cells = ((format_html(named if each[2] else empty, *each),) for each in found)
    return format_html_join("", "{}", cells)


def _row(row: Row, table: Table) -> tuple[SafeString, SafeString]:
    name = row[0].text
    if is_heading(row, table):
        span = len(table.columns)
        cell = format_html('<th scope="rowgroup" colspan="{}">{}</th>', span, name)
        return SafeString(' class="group"'), cell
    rest = (_td(*each) for each in zip(row[1:], table.columns[1:], strict=True))
    first = format_html('<th scope="row">{}</th>' if name else "<td>{}</td>", name)
    return SafeString(""), first + format_html_join("", '<td class="{}">{}</td>', rest)


def _td(cell: Cell, kind: str) -> tuple[str, str | SafeString]:
    text = format_html("<strong>{}</strong>", cell.text) if cell.is_bold else cell.text
    return ("start" if kind == "l" else "num"), text


def _escaped(text: str) -> str:
    return SIGNS.sub(r"\\\1", text)


def _bold(text: str) -> str:
    return f"**{_escaped(text)}**"


def _line(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"
