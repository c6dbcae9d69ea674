"""Requests made from the schema of the API: every operation, every parameter, every property."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.fuzz.hostile import (
    BODIES,
    CONTENT_TYPES,
    DEPTH,
    HEADERS,
    IN_ADDRESS,
    IN_FORM,
    IN_JSON,
    METHODS,
    chosen,
)
from tests.fuzz.requests import Case

Schema = dict[str, Any]
JSON = "application/json"
BOUNDARY = "fuzz"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
# Sent to every operation, which has none of them.
NOWHERE = ("unknown", "format", "%00", "a%ED")
FILES = {
    "empty": b"",
    "NUL": b"\0" * 100,
    "no UTF-8": b"\xff\xfe\xfa\n" * 20,
    "one line": b"a\tb\n",
    "ragged": b"a\tb\n1\n1\t2\t3\n",
    "JSON": b'{"a": 1e400}\n[',
    "zip": b"PK\x03\x04" + b"\0" * 50,
    "long line": b"x" * 200_000,
}


@dataclass(frozen=True)
class Operation:
    """An operation of the schema, with what fills its parameters rightly."""

    method: str
    path: str
    described: Schema
    schema: Schema
    right: Mapping[str, str]
    hints: Schema

    @property
    def address(self) -> str:
        """The address that asks for something that is there."""
        return self.filled({})

    def filled(self, changed: Mapping[str, str]) -> str:
        """The address with some parameters changed."""
        path = self.path
        for name in self.names("path"):
            path = path.replace(f"{{{name}}}", changed.get(name, self.right.get(name, "1")))
        return path

    def names(self, where: str) -> list[str]:
        """Return the names of the parameters in the path or in the query."""
        return [p["name"] for p in self.described.get("parameters", []) if p["in"] == where]

    def body(self, content_type: str) -> Schema | None:
        """The schema of the body of a type, or None where none is read."""
        content = self.described.get("requestBody", {}).get("content", {})
        return (
            resolve(self.schema, content[content_type]["schema"])
            if content_type in content
            else None
        )


def resolve(document: Schema, schema: Schema) -> Schema:
    """Follow a reference."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Schema = document["components"]["schemas"][name] if name else schema
    return found


def operations(
    document: Schema, right: Callable[[str, str], str], hints: Schema
) -> Iterator[Operation]:
    """Yield every operation; `right` gives the right value of a path's parameter."""
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            names = [p["name"] for p in described.get("parameters", []) if p["in"] == "path"]
            values = {name: right(path, name) for name in names}
            yield Operation(method.upper(), path, described, document, values, hints)


def cases(operation: Operation) -> Iterator[Case]:
    """Yield all requests to an operation."""
    case = right_case(operation)
    yield case
    yield from _addresses(operation, case)
    yield from _queries(operation, case)
    for what, headers in some({str(each): each for each in HEADERS}, operation):
        yield replace(case, headers=headers, what=f"headers {what}")
    if operation.body(JSON) is not None:
        yield from _json_bodies(operation, case)
    if "requestBody" in operation.described:
        yield from _bodies(operation, case)
    if (form := operation.body("multipart/form-data")) is not None:
        yield from _forms(operation, form, case)


def some(values: Mapping[str, Any], operation: Operation, *name: str) -> list[tuple[str, Any]]:
    """Those of the values that this operation meets by this name."""
    return chosen(values, 3 * DEPTH, operation.method, operation.path, *name)


def right_case(operation: Operation) -> Case:
    """The request with nothing wrong in it."""
    case = Case(operation.method, operation.address, "right")
    schema = operation.body(JSON)
    if schema is not None:
        return replace(case, body=_json(_instance(operation, schema)), content_type=JSON)
    form = operation.body("multipart/form-data")
    if form is None:
        return case
    return replace(case, body=multipart(_instance(operation, form)), content_type=MULTIPART)


def wrong_methods(path: str, address: str, methods: Sequence[str]) -> Iterator[Case]:
    """Yield requests by methods that the schema does not name for this path."""
    for method in METHODS:
        if method not in methods:
            yield Case(method, address, "method", body=b"{}", content_type=JSON)


def _addresses(operation: Operation, case: Case) -> Iterator[Case]:
    for name in operation.names("path"):
        for what, value in some(IN_ADDRESS, operation, name):
            address = operation.filled({name: value})
            yield replace(case, address=address, what=f"{name}: {what}")


def _queries(operation: Operation, case: Case) -> Iterator[Case]:
    for name in (*operation.names("query"), *NOWHERE):
        queries = {what: f"{name}={value}" for what, value in some(IN_ADDRESS, operation, name)}
        queries |= {query: query for query in _odd(name)}
        number = DEPTH if name in NOWHERE else len(queries)
        for what, query in chosen(queries, number, operation.path, name):
            yield replace(case, address=f"{case.address}?{query}", what=f"{name}: {what}")
    many = "&".join(f"p{number}=1" for number in range(3000))
    yield replace(case, address=f"{case.address}?{many}", what="3,000 parameters")


def _odd(name: str) -> tuple[str, ...]:
    """Queries that no form would send."""
    return f"{name}=1&{name}=2", name, f"{name}[]=1", f"{name}=1;{name}=2", f"&&={name}"


def _bodies(operation: Operation, case: Case) -> Iterator[Case]:
    for what, body in some(BODIES, operation):
        yield replace(case, body=body, content_type=JSON, what=f"body: {what}")
    for content_type, _ in some(dict.fromkeys(CONTENT_TYPES), operation):
        yield replace(case, body=b"{}", content_type=content_type, what=f"type: {content_type}")
        yield replace(case, body=b"a=%00&b=%FF", content_type=content_type, what="pairs")
    broken = b'--x\r\nContent-Disposition: form-data; name="a"; filename="\x00"\r\n\r\nhalf'
    yield replace(
        case, body=broken, content_type="multipart/form-data; boundary=x", what="half a part"
    )


def _json_bodies(operation: Operation, case: Case) -> Iterator[Case]:
    schema = operation.body(JSON) or {}
    right = _instance(operation, schema)
    for name in schema.get("properties", {}):
        for what, text in some(IN_JSON, operation, name):
            others = {key: value for key, value in right.items() if key != name}
            body = _json(others)[:-1] + (b", " if others else b"") + f'"{name}": {text}}}'.encode()
            yield replace(case, body=body, what=f"{name}: {what}")
        lacking = {key: value for key, value in right.items() if key != name}
        yield replace(case, body=_json(lacking), what=f"{name}: missing")
    yield replace(case, body=_json(right | {"unknown": {"a": [1]}}), what="unknown property")


def _forms(operation: Operation, schema: Schema, case: Case) -> Iterator[Case]:
    right = _instance(operation, schema)
    for name, described in schema.get("properties", {}).items():
        is_file = _is_file(operation.schema, described)
        wrong: Mapping[str, Any] = FILES if is_file else IN_FORM
        for what, value in some(wrong, operation, name):
            body = multipart(right | {name: value})
            yield replace(case, body=body, content_type=MULTIPART, what=f"form {name}: {what}")
        swapped = multipart(right | {name: "text" if is_file else b"a file"})
        yield replace(case, body=swapped, content_type=MULTIPART, what=f"form {name}: other kind")


def _is_file(document: Schema, described: Schema) -> bool:
    inner = resolve(document, described)
    inner = resolve(document, inner.get("items", inner))
    return inner.get("format") == "binary" or "contentMediaType" in inner


def _instance(operation: Operation, schema: Schema) -> dict[str, Any]:
    """Return valid values of what the schema requires and what the hints name.

    Fields whose hint is None are omitted.
    """
    unwanted = {name for name, hint in operation.hints.items() if hint is None}
    wanted = (set(schema.get("required", ())) | operation.hints.keys()) - unwanted
    return {
        name: operation.hints.get(name, _value(operation.schema, described))
        for name, described in schema.get("properties", {}).items()
        if name in wanted
    }


def _value(document: Schema, described: Schema) -> Any:
    """Return a value of a type, of which nothing is known but that."""
    if _is_file(document, described):
        return FILES["one line"]
    inner = resolve(document, described)
    if "enum" in inner:
        return inner["enum"][0]
    kinds = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return kinds.get(inner.get("type", ""), "text")


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def multipart(values: Mapping[str, Any]) -> bytes:
    """Write a form as browsers send it; bytes are files."""
    parts = [_part(name, value) for name, value in values.items()]
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def _part(name: str, value: Any) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
    if isinstance(value, bytes):
        return f'{head}; filename="{name}.tsv"\r\n\r\n'.encode() + value + b"\r\n"
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{head}\r\n\r\n{text}\r\n".encode()
