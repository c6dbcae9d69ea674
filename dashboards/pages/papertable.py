"""The table of a page for a paper: its reader chooses rows, columns and style, and copies it.

The address names all choices, so that the same address with `.tex`, `.md`, `.csv` or `.html` is
the same table for a script.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.request import QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.exports import csv_lines
from annotation.filters import FilterError
from annotation.web.parameters import Parameters
from dashboards.comparisons.selection import one_of
from dashboards.comparisons.statistics import STATISTICS, not_one_of
from dashboards.documents import results
from dashboards.pages.answers import is_unfinished, no_document
from dashboards.papers import latex, writing
from dashboards.papers.cells import Table, is_heading
from dashboards.papers.shaping import Shape, column_names, joined, named_rows, shaped, shown_columns
from metaeval.messages import Message, message

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
    return {"preview": writing.html(table), "sources": _sources(table)}


def _sources(table: Table) -> list[tuple[str, str, str]]:
    return [
        ("tex", "LaTeX", latex.write(table, is_whole=True)),
        ("md", "Markdown", writing.markdown(table)),
        ("csv", "CSV", "".join(csv_lines((), writing.cells(table)))),
    ]


def _file(fmt: str, name: str, table: Table) -> HttpResponse:
    if fmt not in TYPES:
        raise Http404
    page = f'<!doctype html><meta charset="utf-8"><title>{name}</title>{writing.html(table)}'
    sources = {key: text for key, _, text in _sources(table)} | {"html": page}
    return HttpResponse(
        sources[fmt],
        content_type=TYPES[fmt],
        headers={"Content-Disposition": f'attachment; filename="{name}-table.{fmt}"'},
    )
