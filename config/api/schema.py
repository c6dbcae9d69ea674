"""Add refusals that are common to all operations to the schema of the API."""

from typing import Any

Document = dict[str, Any]

REFUSAL: Document = {
    "type": "object",
    "description": "Why a request was refused: English text, and messages with code and "
    "parameters.",
    "properties": {
        "detail": {"type": "string"},
        "error": {"type": "string"},
        "message": {"type": "object"},
        "messages": {"type": "array", "items": {"type": "object"}},
    },
    "minProperties": 1,
    "additionalProperties": False,
}
# Errors of a field, a row of a list or a whole form, at any depth.
PROBLEMS: Document = {
    "description": "Errors by field, nested like the request, or errors of the whole request.",
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"$ref": "#/components/schemas/Problems"}},
        {
            "type": "object",
            "additionalProperties": {"$ref": "#/components/schemas/Problems"},
        },
    ],
}
BY_STATUS = {
    "400": ("Problems", "The request cannot be read, or cannot be done."),
    "401": ("Refusal", "Nobody is signed in, or the token is not valid."),
    "403": ("Refusal", "The account lacks the role, or the token the scope."),
    "404": ("Refusal", "There is no such resource, or the account may not see it."),
    "406": ("Refusal", "The answer is available as JSON only."),
    "507": ("Refusal", "A disk of the server, or its database, is full."),
}
WITH_BODY = {"415": ("Refusal", "The body has a type that is not supported here.")}


def describe_refusals(result: Document, **generator: Any) -> Document:
    """Add the common statuses to each operation.

    `settings.SPECTACULAR_SETTINGS` names this function. Statuses of the operation stay; an error
    that is declared without a body gets a refusal as its body.
    """
    result["components"]["schemas"] |= {"Refusal": REFUSAL, "Problems": PROBLEMS}
    for methods in result["paths"].values():
        for operation in methods.values():
            _describe(operation)
    return result


def _describe(operation: Document) -> None:
    common = BY_STATUS | (WITH_BODY if "requestBody" in operation else {})
    responses = operation["responses"]
    for status, (name, description) in common.items():
        responses.setdefault(status, _response(name, description))
    for status, response in responses.items():
        if status >= "400" and "content" not in response:
            responses[status] = _response("Refusal", response.get("description", ""))


def _response(name: str, description: str) -> Document:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return {"description": description, "content": content}
