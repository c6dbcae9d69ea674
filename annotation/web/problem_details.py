"""Errors of the API as problem details (RFC 9457), with the fields that earlier versions had.

`detail` is one English text, `code` its message code, and `errors` has a line for each error with
its field, file and row where there are any. `error`, `message`, `problems` and the names of fields
stay as they were.
"""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from core.text import pluralize

CONTENT_TYPE = "application/problem+json"
STANDARD = frozenset({"type", "title", "status", "detail", "code", "errors"})
# Fields of a refusal that are not fields of the request.
OWN = STANDARD | {"error", "message", "messages", "problems"}
OF_PROBLEM = ("field", "file", "row", "code", "parameters", "more")


def problem_details(status: int, refusal: Any) -> dict[str, Any]:
    """Return a refusal, as views and the framework give it, as a problem."""
    fields = dict(refusal) if isinstance(refusal, Mapping) else {}
    errors = list(_errors(refusal, fields))
    detail = _detail(fields, errors) or _phrase(status)
    code = next((each["code"] for each in errors if each["code"]), "") if errors else ""
    return {
        **{name: value for name, value in fields.items() if name not in STANDARD},
        "type": "about:blank",
        "title": _phrase(status),
        "status": status,
        "detail": detail,
        "code": str(_code(fields) or code or "error"),
        "errors": errors,
    }


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase


def _detail(fields: Mapping[str, Any], errors: Sequence[Mapping[str, Any]]) -> str:
    for name in ("detail", "error"):
        value = fields.get(name)
        value = value.get("text", "") if isinstance(value, Mapping) else value
        if value and not isinstance(value, list):
            return str(value)
    first = errors[0] if errors else None
    if first is None:
        return ""
    text = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
    return text if len(errors) == 1 else f"{pluralize(len(errors), 'error')}. {text}"


def _code(fields: Mapping[str, Any]) -> str:
    for value in (fields.get("message"), fields.get("error"), *(fields.get("messages") or ())):
        if isinstance(value, Mapping) and value.get("code"):
            return str(value["code"])
    return str(getattr(fields.get("detail"), "code", ""))


def _errors(refusal: Any, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every error once: those of files, of messages, and of fields at any depth."""
    for each in fields.get("problems") or ():
        if each["severity"] == "error":
            yield {"detail": each["text"]} | {name: each[name] for name in OF_PROBLEM}
    if fields.get("problems"):
        return  # what fields of the request say is the same
    for each in fields.get("messages") or ():
        known = {"code": each["code"], "parameters": each["parameters"]}
        yield {"field": "", "detail": each["text"]} | known
    if not fields:
        yield from _nested(refusal, "")
    for name, value in fields.items():
        if name not in OWN or (name == "detail" and isinstance(value, list)):
            yield from _nested(value, "" if name == "non_field_errors" else str(name))


def _nested(value: Any, path: str) -> Iterator[dict[str, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _nested(each, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            is_leaf = not isinstance(each, Mapping | list | tuple)
            yield from _nested(each, path if is_leaf else f"{path}[{number}]")
    elif value:
        yield {"field": path, "detail": str(value), "code": str(getattr(value, "code", ""))}
