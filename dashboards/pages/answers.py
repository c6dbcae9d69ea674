"""Answer programs: a document as JSON, its rows as CSV, or that there is none yet."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from annotation.exports import table_response
from core.messages import as_json
from dashboards.documents import results
from dashboards.documents.stored import encoded
from metaeval.messages import Message, message

# Columns after those of a table.
UNITS = ("unit", "n_units")


def no_document(result: results.Result[Any]) -> HttpResponseBase:
    """Answer while there are no numbers: 202 with Retry-After, or the error."""
    if result.message:
        error = result.message
        if result.failing:
            error = message(
                "part.failed",
                "This part could not be computed: {part}. {error}",
                part=result.failing,
                error=error,
            )
        return JsonResponse({"error": as_json(error)}, status=500)
    return JsonResponse({"status": "computing"}, status=202, headers={"Retry-After": "2"})


def is_unfinished(result: results.Result[Any], *, of_one_state: bool = False) -> bool:
    """Return whether a file of a result would lack a part: the verdict, intervals, a campaign.

    With `of_one_state`, all parts must also use the same state of the data of each campaign.
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
    """Return the columns of every row."""
    return [{name: _cell(getattr(row, name)) for name in columns} for row in rows]


def _cell(value: Any) -> Any:
    """Return a value for a file: messages in English, several joined by semicolons."""
    if isinstance(value, Message):
        return value.text
    is_list = isinstance(value, list | tuple) and any(isinstance(each, Message) for each in value)
    return "; ".join(map(str, value)) if is_list else "" if value == [] else value


def _units(document: Any) -> dict[str, Any]:
    """The unit of intervals, for every row of a table of one campaign."""
    return {name: document[name] for name in UNITS} if document.get("unit") else {}
