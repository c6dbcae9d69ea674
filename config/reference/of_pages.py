"""Every address that shows or does something, from the routes."""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from annotation.web.parameters import ALL, JUDGMENTS
from config.reference.markdown import code, first_sentence, table

# The API has a page of its own; Django's admin leads to ours.
ELSEWHERE = ("/api/", "/admin/")
BEFORE = """# Pages and other addresses

What an address takes besides its own parts stands in the last column; *filters* are those of
[the list](../filters.md).

"""


def write() -> str:
    """Return the page."""
    rows = (
        (
            code(re.sub(r"<\w+:(\w+)>", r"<\1>", route)),
            entry.name or "",
            _said(entry),
            _taken(route, entry),
        )
        for route, entry in walk()
        if not route.startswith(ELSEWHERE)
    )
    return BEFORE + table(("address", "name", "", "takes"), rows)


def walk(patterns: list[Any] | None = None, before: str = "/") -> Iterator[tuple[str, URLPattern]]:
    """Yield every address with its route as it is written."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry.url_patterns, route)
        else:
            yield route, entry


def _said(entry: URLPattern) -> str:
    view: Any = entry.callback
    return first_sentence(getattr(view, "view_class", view))


def taken(route: str, entry: URLPattern) -> frozenset[str] | None:
    """Return the parameters that an address takes; None where its view says nothing of them."""
    known: Any = getattr(entry.callback, "takes", None)
    given = dict.fromkeys(re.findall(r"<\w+:(\w+)>", route), "x") | (entry.default_args or {})
    return None if known is None else known(**given).names


def _taken(route: str, entry: URLPattern) -> str:
    names = taken(route, entry) or frozenset()
    for said, filters in (("filters", ALL), ("filters but `scores`, `scale`", JUDGMENTS)):
        if filters.names <= names:
            return ", ".join((said, *map(code, sorted(names - filters.names))))
    return ", ".join(map(code, sorted(names)))
