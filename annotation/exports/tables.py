"""Tables out: CSV that no spreadsheet runs, and JSON without nan."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import Http404, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from core.csvsafe import neutralise


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a CSV table line by line, with cells that begin like a formula neutralised."""
    writer = csv.writer(_Echo())
    if header:
        yield writer.writerow(header)
    for row in rows:
        yield writer.writerow(["" if cell is None else neutralise(str(cell)) for cell in row])


def csv_response(
    name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> HttpResponseBase:
    """Answer with a CSV file, sent while it is made."""
    return StreamingHttpResponse(
        csv_lines(header, rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def table_response(
    fmt: str, name: str, header: Sequence[str], rows: Sequence[dict[str, Any]], document: Any
) -> HttpResponseBase:
    """Answer with `rows` as CSV or with `document` as JSON; 404 for another format."""
    if fmt == "csv":
        return csv_response(name, header, ([row[column] for column in header] for row in rows))
    if fmt == "json":
        return JsonResponse(document, json_dumps_params={"ensure_ascii": False})
    raise Http404
