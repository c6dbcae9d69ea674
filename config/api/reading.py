"""Read the bodies of requests to the API: JSON that can be stored."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

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
