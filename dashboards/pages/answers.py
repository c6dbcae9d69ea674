"""What programs get of a page: the document as JSON, rows as CSV, or that there is none yet."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from annotation.exports import table_response
from dashboards.documents import results
from dashboards.documents.stored import encoded

# Columns behind those of a table.
UNITS = ("unit", "n_units")


def no_document(result: results.Result[Any]) -> HttpResponseBase:
    """What programs get while there are no numbers: 202 with Retry-After, or the error."""
    if result.message:
        part = f"{result.failing} could not be computed: " if result.failing else ""
        return JsonResponse({"error": f"{part}{result.message}"}, status=500)
    return JsonResponse({"status": "computing"}, status=202, headers={"Retry-After": "2"})


def is_unfinished(result: results.Result[Any], *, of_one_state: bool = False) -> bool:
    """Return whether a file of a result would lack a part: the verdict, intervals, a campaign.

    What several campaigns are said to agree on is `of_one_state` of the data of each of them.
    """
    is_mixed = of_one_state and not result.is_of_one_state
    return result.document is None or not result.is_whole or is_mixed


def public(document: Any, **more: Any) -> dict[str, Any]:
    """Return the fields of a document, and others, as programs get them."""
    return {**vars(document), **more}


def data_response(
    fmt: str, name: str, columns: Sequence[str], rows: Sequence[Any], document: Any
) -> HttpResponseBase:
    """Answer with `rows` as CSV or with a document as JSON; 404 for another format."""
    if fmt == "json":
        return HttpResponse(encoded(document), content_type="application/json")
    units = _units(document) if isinstance(document, dict) else {}
    table = [row | units for row in cells(rows, columns)]
    return table_response(fmt, name, [*columns, *units], table, None)


def cells(rows: Sequence[Any], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return of every row what a table shows."""
    return [{name: getattr(row, name) for name in columns} for row in rows]


def _units(document: Any) -> dict[str, Any]:
    """What a table says of the unit of its intervals in every row: of one campaign."""
    return {name: document[name] for name in UNITS} if document.get("unit") else {}
