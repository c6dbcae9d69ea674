"""Read requests to the API: strict pagination, and JSON that can be stored."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import JSONParser
from rest_framework.request import Request

# The largest integer of all supported databases.
LARGEST = 2**31 - 1
# A page of segments with all references then has some megabytes.
MOST_ROWS = 1_000


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
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))
    if not is_number or not least <= int(text) <= most:
        message = f"Must be a whole number from {least} to {most}."
        raise ValidationError({name: [message]})
    return int(text)


DEEP = "The JSON is nested too deeply."
UNREADABLE = "A text contains a NUL character or half a character, which cannot be stored."
INFINITE = "A number is larger than any number that can be stored."


class StorableJSONParser(JSONParser):
    """A parser that answers 400 for values that the database cannot store."""

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value; raises ParseError."""
        try:
            value = super().parse(stream, media_type, parser_context)
            for leaf in _leaves(value):
                _require_storable(leaf)
        except RecursionError:
            raise ParseError(DEEP) from None
        return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _require_storable(leaf: Any) -> None:
    if isinstance(leaf, str) and any(c == "\0" or "\ud800" <= c <= "\udfff" for c in leaf):
        raise ParseError(UNREADABLE)
    if isinstance(leaf, float) and not math.isfinite(leaf):
        raise ParseError(INFINITE)
