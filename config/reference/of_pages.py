"""Every address that shows or does something, from the routes."""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from config.reference.markdown import code, first_sentence, table

# The API has a page of its own; Django's admin leads to ours.
ELSEWHERE = ("/api/", "/admin/")


def write() -> str:
    """Return the page."""
    rows = [(code(route), entry.name or "", _said(entry)) for route, entry in _ours()]
    return "# Pages and other addresses\n\n" + table(("address", "name", ""), rows)


def _ours() -> Iterator[tuple[str, URLPattern]]:
    for route, entry in walk():
        if not route.startswith(ELSEWHERE):
            yield re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", route), entry


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
