"""Every address of the project, read from its URL configuration."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from django.urls import URLPattern, URLResolver, get_resolver


def routes() -> Iterator[tuple[str, str]]:
    """Yield the name and the route of every address of ours, with `<slug>` where it varies."""
    yield from _walk(get_resolver().url_patterns, "/")


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, str]]:
    for entry in patterns:
        # The API's router writes regular expressions; the others are plain routes.
        plain = re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", str(entry.pattern))
        plain = re.sub(r"<drf_format_suffix:", ".<", plain)
        route = before + plain.strip("^$").removesuffix("/?").replace("\\.", ".")
        if isinstance(entry, URLResolver):
            yield from _walk(entry.url_patterns, route)
        elif not route.startswith("/admin/"):
            yield entry.name or route, re.sub(r"<\w+:", "<", route)


def fill(route: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the route with every combination of values for what varies in it."""
    names = re.findall(r"<([^>]+)>", route)
    for choice in product(*(values.get(name, ["1"]) for name in names)):
        filled = route
        for name, value in zip(names, choice, strict=True):
            filled = filled.replace(f"<{name}>", value)
        yield filled
