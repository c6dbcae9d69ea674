"""Pages of lists in the API: strict numbers, cursors for a million rows, and quick rows."""

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

from core.messages import invalid_field
from metaeval.messages import message

# The largest integer of all supported databases.
LARGEST = 2**31 - 1
LARGEST_KEY = 2**63 - 1
TWO_PLACES = message("api.two-places", "Send cursor or offset, not both.")
# A page of segments with all references then has some megabytes.
MOST_ROWS = 1_000


class ListedRows:
    """A serializer, first of its bases, whose rows have every field: one call per value.

    Django REST framework makes eight, to find out for each row what is missing or callable.
    """

    @cached_property
    def _readers(self) -> Sequence[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]:
        fields: Sequence[serializers.Field[Any, Any, Any, Any]] = [*self._readable_fields]  # type: ignore[attr-defined]
        return [
            (
                str(field.field_name),
                attrgetter(str(field.source)) if field.source != "*" else lambda row: row,
                # Already what is sent.
                str if type(field) is serializers.CharField else field.to_representation,
            )
            for field in fields
        ]

    def to_representation(self, row: Any) -> dict[str, Any]:
        """Return the values by the names of the fields."""
        values = ((name, read(row), show) for name, read, show in self._readers)
        return {name: None if value is None else show(value) for name, value, show in values}


class StrictPagination(LimitOffsetPagination):
    """Pagination that refuses invalid `limit` and `offset` instead of returning another page."""

    def get_limit(self, request: Request) -> int | None:
        """Return the number of rows; 100 by default."""
        given = _whole(request, self.limit_query_param, least=1, most=MOST_ROWS)
        return self.default_limit if given is None else given

    def get_offset(self, request: Request) -> int:
        """Return the number of rows before the page."""
        return _whole(request, self.offset_query_param, least=0) or 0

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Add the bounds to the schema."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter, (least, most) in zip(
            parameters, ((1, MOST_ROWS), (0, LARGEST)), strict=True
        ):
            parameter["schema"] |= {"minimum": least, "maximum": most}
        return parameters

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe `next` and `previous` as nullable in the way of JSON Schema."""
        described: dict[str, Any] = super().get_paginated_response_schema(schema)
        for name in ("next", "previous"):
            described["properties"][name].pop("nullable")
            described["properties"][name]["type"] = ["string", "null"]
        return described


def _whole(request: Request, name: str, *, least: int, most: int = LARGEST) -> int | None:
    values = request.query_params.getlist(name)
    if not values:
        return None
    text = values[-1]
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        refused = message(
            "api.page-number",
            "Must be a whole number from {least:d} to {most:d}.",
            least=least,
            most=most,
        )
        raise invalid_field(name, refused)
    return int(text)


class CursorPagination(StrictPagination):
    """Pages that continue after the last row of the one before, so that each costs the same.

    Follow `next`. Only pages without a cursor count all rows, and may begin at an `offset`, before
    which the database reads all rows. The list is ordered by primary key.
    """

    parameters = ("limit", "offset", "cursor")

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        """Return the rows of a page."""
        rows: list[Any]
        after = _whole(request, "cursor", least=0, most=LARGEST_KEY)
        if after is not None and self.offset_query_param in request.query_params:
            raise invalid_field("cursor", TWO_PLACES)
        if after is None:
            rows = super().paginate_queryset(queryset, request, view) or []
            has_next = bool(rows) and (self.offset or 0) + len(rows) < (self.count or 0)
        else:
            limit = self.get_limit(request) or 0
            self.request, self.count, self.limit, self.offset = request, None, limit, 0
            found: QuerySet[Any] = queryset.filter(pk__gt=after)
            rows = list(found[: limit + 1])
            has_next, rows = len(rows) > limit, rows[:limit]
        self.after = rows[-1].pk if rows and has_next else None
        return rows

    def get_next_link(self) -> str | None:
        """Return the address of the next page, by cursor."""
        if self.after is None or self.request is None:
            return None
        address = self.request.build_absolute_uri()
        address = remove_query_param(address, self.offset_query_param)
        address = replace_query_param(address, self.limit_query_param, self.limit)
        return replace_query_param(address, "cursor", self.after)

    def get_paginated_response(self, data: Any) -> Response:
        """Return the rows with the addresses of other pages; `count` is null after a cursor."""
        return Response(
            {
                "count": self.count,
                "next": self.get_next_link(),
                "previous": self.get_previous_link(),
                "results": data,
            }
        )

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Add the cursor to the schema."""
        parameters = super().get_schema_operation_parameters(view)
        text = "Where the page begins: from the address in `next`."
        schema = {"type": "integer", "minimum": 0, "maximum": LARGEST_KEY}
        return [*parameters, {"name": "cursor", "in": "query", "required": False,
                              "description": text, "schema": schema}]  # fmt: skip

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe `count` as nullable."""
        described = super().get_paginated_response_schema(schema)
        described["properties"]["count"]["type"] = ["integer", "null"]
        return described
