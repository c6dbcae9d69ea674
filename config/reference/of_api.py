"""The operations of the API, from its schema."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from config.reference.markdown import code, first_sentence, table

PAGING = {"limit", "offset"}
BEFORE = """# API

JSON over a session and, for what changes something, its CSRF token
([how](../importing.md#by-program)). Lists come in pages (`limit`, `offset`). The OpenAPI schema,
with every field and status, stands at `/api/schema/`.

"""


def write() -> str:
    """Return the page."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return BEFORE + table(("operation", "", "parameters"), _operations(schema["paths"]))


def _operations(paths: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            said = first_sentence(operation.get("description", ""))
            if method == "get" and path.endswith("}/") and _collection(path) in paths:
                said = "One of them."
            yield code(f"{method.upper()} {path}"), said, _taken(operation)


def _collection(path: str) -> str:
    return path[: path.rindex("{")]


def _taken(operation: dict[str, Any]) -> str:
    given = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    return ", ".join(code(each["name"]) for each in given if each["name"] not in PAGING)
