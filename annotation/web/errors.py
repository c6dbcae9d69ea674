"""Refuse requests with a title and a reason: as pages for browsers, as JSON for scripts.

`detail` is one English text, `code` its message code, and `errors` has a line for each error with
its field, file and row where there are any. `error`, `message`, `problems` and the names of fields
stay as they were.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.access import visible_campaigns
from annotation.entry import throttle
from annotation.models import AuditEntry
from core.messages import as_json, translated
from core.text import pluralize
from metaeval.messages import Message, message

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


UNREADABLE = message(
    "request.unreadable",
    "The request is damaged or has unexpected parts. Nothing was saved.",
)
PIECE_BYTES = 64 * 1024
REASONS = {
    403: (
        _("You do not have access to this page"),
        message(
            "request.not-permitted",
            "Your account does not have the role that this page requires.",
        ),
    ),
    404: (
        _("This page does not exist"),
        message(
            "request.not-found", "The address is wrong, or you do not have access to the page."
        ),
    ),
    500: (
        _("Something went wrong"),
        message(
            "request.crashed",
            "The error has been logged. Everything that was saved is still there.",
        ),
    ),
}


def wants_json(request: HttpRequest) -> bool:
    """Return whether the caller is a script of our pages or an API client."""
    accepts = "application/json" in request.headers.get("Accept", "")
    return accepts or request.path_info.startswith("/api/")


def refusal_json(refusal: Message, **more: object) -> dict[str, object]:
    """Return a refusal as scripts of annotators' pages get it; `error` is in their language."""
    return {"error": translated(refusal), "message": as_json(refusal), **more}


def refuse(
    request: HttpRequest, status: int, title: str | Promise, reason: Message
) -> HttpResponse:
    """Answer with `status`, a title and a reason, as a page or as JSON.

    The answer is in the reader's language, whichever page was refused.
    """
    language = getattr(request, "chosen_language", None) or translation.get_language()
    request.languages = settings.LANGUAGES  # type: ignore[attr-defined]
    with translation.override(language):
        if wants_json(request):
            return as_json_answer(request, status, reason)
        context: dict[str, Any] = {"title": title, "sentence": translated(reason), "status": status}
        # The page must not repeat a link that works like a password.
        if getattr(request, "has_credential", False):
            context["return_to"] = reverse("home")
        response = render(request, "error.html", context, status=status)
    response["Content-Language"] = language or "en"
    return response


def as_json_answer(request: HttpRequest, status: int, reason: Message) -> HttpResponse:
    """Return a refusal as JSON: to programs as problem details, in English."""
    if not request.path_info.startswith("/api/"):
        return JsonResponse(refusal_json(reason), status=status)
    found = problem_details(status, {"error": reason.text, "message": as_json(reason)})
    return JsonResponse(found, status=status, content_type=CONTENT_TYPE)


def refuse_guessing(request: HttpRequest, until: datetime) -> HttpResponse:
    """Answer 429 until a moment, after too many wrong passwords or dead links."""
    response = refuse(request, 429, throttle.TITLE, throttle.refusal(until))
    response["Retry-After"] = str(throttle.seconds_until(until))
    return response


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 400 for requests that Django refuses to read: too many files, fields or bytes."""
    _read_to_the_end(request)
    if isinstance(exception, TooManyFilesSent):
        reason = message(
            "request.too-many-files",
            "At most {limit} files can be sent at once. Nothing was stored. Put the outputs of "
            "many systems into one table, or add the systems in several uploads.",
            limit=settings.DATA_UPLOAD_MAX_NUMBER_FILES,
        )
        return refuse(request, 400, _("Too many files"), reason)
    if isinstance(exception, TooManyFieldsSent):
        reason = message(
            "request.too-many-fields",
            "A form can send at most {limit} values at once. Nothing was saved. Choose fewer "
            "values, and send the rest afterwards.",
            limit=settings.DATA_UPLOAD_MAX_NUMBER_FIELDS,
        )
        return refuse(request, 400, _("Too many values"), reason)
    if isinstance(exception, RequestDataTooBig):
        reason = message(
            "request.too-much-text",
            "The fields of a form can have at most {limit} bytes of text. Nothing was saved. Send "
            "long texts as files.",
            limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        )
        return refuse(request, 413, _("Too much text"), reason)
    return refuse(request, 400, _("This request cannot be read"), UNREADABLE)


def _read_to_the_end(request: HttpRequest) -> None:
    """Read the whole body, because browsers show no answer before they have sent it."""
    left = settings.MAX_UPLOAD_BYTES
    with suppress(OSError):  # the browser closed the connection
        while left > 0 and (data := request.read(PIECE_BYTES)):
            left -= len(data)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 403, with the reason that the view gave, if any."""
    title, usual = REASONS[403]
    reason = exception.args[0] if exception and exception.args else usual
    return refuse(request, 403, title, reason if isinstance(reason, Message) else usual)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 404, also for pages that exist but belong to another annotator.

    The address that a draft had before leads those who may read it to its present one.
    """
    if (now := _address_now(request)) is not None:
        return redirect(now)
    return refuse(request, 404, *REASONS[404])


def _address_now(request: HttpRequest) -> str | None:
    """Return where a draft's page is since its slug followed its title, if the user may read it."""
    match = request.resolver_match
    before = str(match.kwargs.get("slug", "")) if match else ""
    prefix = f"/campaigns/{before}/"
    is_read = request.method in ("GET", "HEAD") and request.path_info.startswith(prefix)
    if not before or not is_read or not request.user.is_authenticated:
        return None
    changes = AuditEntry.objects.filter(action="address", details__before=before)
    moved = visible_campaigns(request.user).filter(audit__in=changes).exclude(slug=before)
    slug = moved.order_by("-pk").values_list("slug", flat=True).first()
    if slug is None:
        return None
    return request.get_full_path().replace(prefix, f"/campaigns/{slug}/", 1)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, without code that could fail again."""
    return refuse(request, 500, *REASONS[500])
