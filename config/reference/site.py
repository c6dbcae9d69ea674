"""Reference pages of addresses, API, commands, settings and packages."""

import ast
import re
from argparse import SUPPRESS
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator

from annotation.web.parameters import ALL, JUDGMENTS
from config.reference.markdown import code, first_sentence, table
from config.reference.variables import VARIABLES
from core import extensions

# The API has its own page; Django's admin links to the pages of the site.
ELSEWHERE = ("/api/", "/admin/")
PAGES_HEAD = """# Pages and other addresses

The last column has the query parameters of an address. *filters* are those of
[the list](../filters.md).

"""


def pages_page() -> str:
    """Return the page."""
    rows = (
        (
            code(re.sub(r"<\w+:(\w+)>", r"<\1>", route)),
            entry.name or "",
            _view_sentence(entry),
            _page_parameters(route, entry),
        )
        for route, entry in walk()
        if not route.startswith(ELSEWHERE)
    )
    return PAGES_HEAD + table(("address", "name", "", "takes"), rows)


def walk(patterns: list[Any] | None = None, before: str = "/") -> Iterator[tuple[str, URLPattern]]:
    """Yield every address with its route."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry.url_patterns, route)
        else:
            yield route, entry


def _view_sentence(entry: URLPattern) -> str:
    view: Any = entry.callback
    return first_sentence(getattr(view, "view_class", view))


def taken(route: str, entry: URLPattern) -> frozenset[str] | None:
    """Return the parameters of an address; None if its view does not declare them."""
    known: Any = getattr(entry.callback, "takes", None)
    given = dict.fromkeys(re.findall(r"<\w+:(\w+)>", route), "x") | (entry.default_args or {})
    return None if known is None else known(**given).names


def _page_parameters(route: str, entry: URLPattern) -> str:
    names = taken(route, entry) or frozenset()
    for group, filters in (("filters", ALL), ("filters except `scores`, `scale`", JUDGMENTS)):
        if filters.names <= names:
            return ", ".join((group, *map(code, sorted(names - filters.names))))
    return ", ".join(map(code, sorted(names)))


PAGING = {"limit", "offset"}
API_HEAD = """# API

JSON with a [token](../programs.md#tokens) of the named scope, or a session. Lists are
paginated (`limit`, `offset`). The OpenAPI schema at `/api/schema/` has every field and status.

"""


def api_page() -> str:
    """Return the page."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    head = ("operation", "", "scope", "parameters")
    return API_HEAD + table(head, _operations(schema["paths"]))


def _operations(paths: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            about = first_sentence(operation.get("description", ""))
            if method == "get" and path.endswith("}/") and _collection(path) in paths:
                about = "Return one of them."
            scopes = [scope for each in operation["security"] for scope in each.get("token", ())]
            operation_name = code(f"{method.upper()} {path}")
            yield operation_name, about, ", ".join(scopes), _api_parameters(operation)


def _collection(path: str) -> str:
    return path[: path.rindex("{")]


def _api_parameters(operation: dict[str, Any]) -> str:
    given = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    return ", ".join(code(each["name"]) for each in given if each["name"] not in PAGING)


OURS = {
    *("annotation", "metrics", "dashboards", "lifecycle", "config", "core"),
    *(each.app for each in extensions.installed()),
}


def commands_page() -> str:
    """Return the page."""
    found = [(name, app) for name, app in get_commands().items() if app in OURS]
    parts = [_command(name, str(app)) for name, app in sorted(found)]
    return "\n\n".join(["# Commands", *parts])


def _command(name: str, app: str) -> str:
    """Return the help of a command without the options that all commands have."""
    formatter = partial(DjangoHelpFormatter, width=100)
    parser = load_command_class(app, name).create_parser(
        "manage.py", name, formatter_class=formatter
    )
    for action in parser._actions:
        if DjangoHelpFormatter.show_last.intersection(action.option_strings):
            action.help = SUPPRESS
    return f"## manage.py {name}\n\n```text\n{parser.format_help()}```"


def settings_page() -> str:
    """Return the page."""
    rows = [(code(v.name), _default_value(v.default), v.meaning) for v in VARIABLES]
    return "# Settings\n\n" + table(("variable", "default", "meaning"), rows)


def _default_value(default: str) -> str:
    return default if "`" in default else code(default)


ROOT = Path(__file__).parents[2]
TOPS = (
    *("config", "core", "annotation", "metrics", "metaeval", "dashboards", "training", "lifecycle"),
    *("extensions", "touchstone", "benchmarks"),
)
# Folders with names of Django need no explanation.
SELF_EVIDENT = {"management", "migrations", "templatetags", "commands"}


def tree_page() -> str:
    """Return the page."""
    return "# The tree\n" + "".join(
        f"\n## {top}\n\n{_package_sentence(ROOT / top)}\n\n{table(('room', ''), _rooms(top))}\n"
        for top in TOPS
    )


def _rooms(top: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / top).rglob("__init__.py")):
        parts = path.parent.relative_to(ROOT / top).parts
        if parts and not SELF_EVIDENT.intersection(parts):
            yield code("/".join(parts)), _package_sentence(path.parent)


def _package_sentence(folder: Path) -> str:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    return first_sentence(ast.get_docstring(ast.parse(text)) or "")
