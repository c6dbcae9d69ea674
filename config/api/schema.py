"""Add refusals that are common to all operations to the schema of the API."""

from typing import Any

from annotation.web.errors import CONTENT_TYPE

Document = dict[str, Any]

TEXT: Document = {"type": "string"}
ERROR: Document = {
    "type": "object",
    "description": "One error: the path of its field in the request, and for uploads file and row.",
    "properties": {
        "field": TEXT,
        "file": TEXT,
        "row": {"type": ["integer", "null"]},
        "code": TEXT,
        "detail": TEXT,
        "parameters": {"type": "object"},
        "more": {"type": ["object", "null"]},
    },
    "required": ["field", "code", "detail"],
    "additionalProperties": False,
}
PROBLEM: Document = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457): English text, message codes, and every "
    "error with its field. Fields of the request that are wrong are repeated with their errors; "
    "imports also have `problems`, with warnings and notes.",
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": TEXT,
        "status": {"type": "integer"},
        "detail": TEXT,
        "code": TEXT,
        "errors": {"type": "array", "items": {"$ref": "#/components/schemas/ProblemError"}},
        "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}},
    },
    "required": ["type", "title", "status", "detail", "code", "errors"],
}
BY_STATUS = {
    "400": "The request cannot be read, or cannot be done.",
    "401": "Nobody is signed in, or the token is not valid.",
    "403": "The account lacks the role, or the token the scope.",
    "404": "There is no such resource, or the account may not see it.",
    "406": "The answer is available as JSON only.",
    "429": "The account has sent too many requests; Retry-After says how long to wait, in seconds.",
    "507": "A disk of the server, or its database, is full.",
}
WITH_BODY = {"415": "The body has a type that is not supported here."}
# Of requests that change something.
WITH_KEY = {
    "409": "The state of the resource does not allow this.",
    "422": "The idempotency key was used for another request.",
}
KEY: Document = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Any text for this request, such as a random UUID. Repeated with the same key "
    "within a day, the request changes nothing and gets the same answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


def describe_refusals(result: Document, **generator: Any) -> Document:
    """Add the common statuses to each operation, with problem details as the body of errors.

    `settings.SPECTACULAR_SETTINGS` names this function. Descriptions of the operation stay.
    """
    result["components"]["schemas"] |= {"ProblemDetails": PROBLEM, "ProblemError": ERROR}
    for methods in result["paths"].values():
        for method, operation in methods.items():
            _describe(operation, changes=method != "get")
    return result


def _describe(operation: Document, *, changes: bool) -> None:
    common = BY_STATUS | (WITH_BODY if "requestBody" in operation else {})
    if changes:
        common |= WITH_KEY
        operation.setdefault("parameters", []).append(KEY)
    responses = operation["responses"]
    for status, description in common.items():
        responses.setdefault(status, {"description": description})
    for status, response in responses.items():
        if status >= "400":
            responses[status] = _response(response.get("description", ""))


def _response(description: str) -> Document:
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    return {"description": description, "content": content}
