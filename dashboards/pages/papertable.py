"""The table of a page for a paper: its reader chooses rows, columns and style, and copies it.

The address names all choices, so that the same address with `.tex`, `.md`, `.csv` or `.html` is
the same table for a script.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.request import QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.exports import csv_lines
from annotation.filters import FilterError
from annotation.web.parameters import Parameters
from dashboards.comparisons.selection import one_of
from dashboards.comparisons.statistics import STATISTICS, not_one_of
from dashboards.documents import results
from dashboards.pages.answers import is_unfinished, no_document
from dashboards.papers import latex
from dashboards.papers.fitting import Cell, Row, Table, is_heading
from dashboards.papers.shaping import Shape, column_names, joined, named_rows, shaped, shown_columns
from metaeval.messages import Message, message

# Write a table for a paper as Markdown, as HTML for a word processor, and as cells of a CSV.

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
        '<table class="paper"><caption><span>{}</span></caption><thead>{}</thead><tbody>{}</tbody>'
        "</table>{}",
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


CHOICES = ("part", "places", "zero", "bold", "marks", "turned", "notes", "caption")
LISTS = ("line", "column", "also")
PLACES = ("", "1", "2", "3", "4")
YES, NO = "yes", "no"
COMMENTS, BELOW = "comments", "below"
LONGEST_CAPTION = 500
# Content types by ending.
TYPES = {
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
NO_TABLE = message("papertable.none", "This page has no table for these choices.")


def parameters(of_page: Callable[..., Parameters]) -> Callable[..., Parameters]:
    """Return a function that gives the parameters of a table: its page's and its own."""

    def at(fmt: str = "", **_: str) -> Parameters:
        return of_page(fmt="tex").and_others(*CHOICES, repeated=LISTS)

    return at


def answer(request: HttpRequest, shown: Any, fmt: str, figure: str = "") -> HttpResponseBase:
    """Answer with the page of a table, or with `fmt` as a file.

    `shown` is the request's newest result (:mod:`dashboards.pages.page`). Raises FilterError for a
    choice that does not exist.
    """
    shape, result = _shape(request.GET), shown.result
    others = _others(shown) if shown.page.joins else {}
    found = [result, *(each for each, _ in others.values())]
    result = results.together(found, lambda documents: documents[0])
    table = part = None
    tables: Sequence[Table] = ()
    if shown.document is not None:
        tables = shown.page.tables(shown.document)
        part, table = _table(tables, request.GET), None
        table = tables[part] if tables else None
    if table is not None and others:
        table = _joined(shown, table, others)
    if fmt:
        if table is None or is_unfinished(result):
            return no_document(result)
        return _file(fmt, shown.filename, shaped(table, shape))
    if request.headers.get("If-None-Match") == result.tag:
        return HttpResponseNotModified()
    context = shown.context | {
        "has_csv": False,
        "result": result,
        "base": "shell/study.html" if shown.about.get("study") else "shell/campaign.html",
        "back": shown.files.removesuffix("/table") + "/",
        "shape": shape,
        "tables": [(str(place), each.heading) for place, each in enumerate(tables)],
        "part": str(part or 0),
        "places": PLACES,
        "further": _further(shown),
    }
    if table is not None:
        context |= _choices(table, shape, shown.page.repeated) | _written(shaped(table, shape))
    response = render(request, "dashboards/papertable.html", context)
    response["ETag"] = result.tag
    return response


def _shape(query: QueryDict) -> Shape:
    places = one_of(query, "places", PLACES)
    caption = query.get("caption", "").strip()
    if len(caption) > LONGEST_CAPTION:
        raise FilterError(
            message(
                "papertable.caption",
                "A caption can have at most {limit} characters.",
                limit=LONGEST_CAPTION,
            )
        )
    return Shape(
        rows=query.getlist("line"),
        columns=query.getlist("column"),
        places=int(places) if places else None,
        has_zero=one_of(query, "zero", (YES, NO)) == YES,
        has_bold=one_of(query, "bold", (YES, NO)) == YES,
        has_marks=one_of(query, "marks", (YES, NO)) == YES,
        is_transposed=one_of(query, "turned", (NO, YES)) == YES,
        are_notes_below=one_of(query, "notes", (COMMENTS, BELOW)) == BELOW,
        caption=caption,
    )


def _table(tables: Sequence[Table], query: QueryDict) -> int:
    known = [str(place) for place in range(len(tables))] or ["0"]
    return int(one_of(query, "part", known))


def _others(shown: Any) -> dict[str, tuple[results.Result[Any], Any]]:
    """Return the results of further statistics, and the documents that they show."""
    found = {}
    for key in dict.fromkeys(shown.query.getlist("also")):
        if key not in STATISTICS:
            raise not_one_of("also", key, list(STATISTICS))
        query = shown.query.copy()
        query["statistic"] = key
        result = shown.page.latest(query, shown.campaigns[0], shown.filters)
        document = None if result.document is None else shown.page.choose(result.document, query)
        found[key] = result, document
    return found


def _joined(shown: Any, table: Table, others: dict[str, tuple[Any, Any]]) -> Table:
    documents = [shown.document, *(document for _, document in others.values() if document)]
    named = {str(each.statistic_label): each for each in reversed(documents)}
    tables = [(name, shown.page.tables(named[name])[0]) for name in reversed(named)]
    first = (str(shown.document.statistic_label), table)
    return joined([first, *(each for each in tables if each[0] != first[0])])


def _further(shown: Any) -> list[tuple[str, Message, bool]]:
    """Return the statistics that could join the table, and whether they do."""
    if not shown.page.joins or shown.document is None:
        return []
    chosen = shown.query.getlist("also")
    current = shown.document.statistic
    return [(k, s.label, k in chosen) for k, s in STATISTICS.items() if k != current]


def _choices(table: Table, shape: Shape, repeated: Sequence[str]) -> dict[str, Any]:
    """Return the rows and columns with whether they are shown; metrics have a list of their own."""
    names, shown = column_names(table), shown_columns(table, shape)
    rows = named_rows(row for row in table.body if not is_heading(row, table))
    lines = dict.fromkeys(name for name, _ in rows)
    return {
        "columns": [(name, place in shown) for place, name in enumerate(names) if place],
        "lines": []
        if "metric" in repeated
        else [(name, not shape.rows or name in shape.rows) for name in lines],
    }


def _written(table: Table) -> dict[str, Any]:
    return {"preview": html(table), "sources": _sources(table)}


def _sources(table: Table) -> list[tuple[str, str, str]]:
    return [
        ("tex", "LaTeX", latex.write(table, is_whole=True)),
        ("md", "Markdown", markdown(table)),
        ("csv", "CSV", "".join(csv_lines((), cells(table)))),
    ]


def _file(fmt: str, name: str, table: Table) -> HttpResponse:
    if fmt not in TYPES:
        raise Http404
    page = f'<!doctype html><meta charset="utf-8"><title>{name}</title>{html(table)}'
    sources = {key: text for key, _, text in _sources(table)} | {"html": page}
    return HttpResponse(
        sources[fmt],
        content_type=TYPES[fmt],
        headers={"Content-Disposition": f'attachment; filename="{name}-table.{fmt}"'},
    )
