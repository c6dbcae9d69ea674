"""JSON as programs send it, without what no text and no column here can hold."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

DEEP = "The JSON is nested too deeply."
UNREADABLE = "A text holds a NUL character or half a character, which no text here can hold."
INFINITE = "A number is larger than any that can be stored."


class StorableJSONParser(JSONParser):
    """Refuses with 400 what a database would refuse in the middle of a request."""

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
