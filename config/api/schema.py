"""What the schema of the API says of every operation: the refusals that no view writes itself."""

from typing import Any

Document = dict[str, Any]

REFUSAL: Document = {
    "type": "object",
    "description": "Why a request was refused, in a sentence.",
    "properties": {"detail": {"type": "string"}, "error": {"type": "string"}},
    "minProperties": 1,
    "additionalProperties": False,
}
# What a field, a row of a list or a whole form lacks, however deep it lies.
PROBLEMS: Document = {
    "description": "Sentences by field, as deep as the request was; or one for all of it.",
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
    "400": ("Problems", "The request cannot be read, or what it asks for cannot be done."),
    "403": ("Refusal", "Nobody is signed in, or the account lacks the role."),
    "404": ("Refusal", "There is no such thing, or it is not the account's to see."),
    "406": ("Refusal", "The answer exists as JSON only."),
    "507": ("Refusal", "A disk of the server, or its database, is full."),
}
WITH_BODY = {"415": ("Refusal", "The body is of a type that is not read here.")}


def describe_refusals(result: Document, **generator: Any) -> Document:
    """Add to each operation the statuses that it can answer besides its own.

    `settings.SPECTACULAR_SETTINGS` names this function. An operation's own words stay; where it
    declares an error without a body, the body is a refusal.
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
