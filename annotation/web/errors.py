"""Refusals in sentences: pages for browsers, JSON for scripts, the right status for both."""

from contextlib import suppress
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.entry import throttle
from core.messages import as_json, translated
from metaeval.messages import Message

TOO_MANY_FILES = (
    "More than {limit:,} files were sent at once, and {limit:,} is the limit. Nothing was stored. "
    "Put the outputs of many systems into one table, or add the systems in several uploads."
)
TOO_MANY_FIELDS = (
    "This form sent more than {limit:,} values at once, which is the limit. Nothing was saved. "
    "Choose fewer of them, and send the rest afterwards."
)
TOO_MUCH_TEXT = (
    "The fields of this form hold more text than the limit of {limit:,} bytes. Nothing was saved. "
    "Send long texts as files."
)
UNREADABLE = "Something in it is damaged or does not belong here. Nothing was saved."
PIECE_BYTES = 64 * 1024
SENTENCES = {
    403: (
        _("You may not open this page"),
        _("Your account lacks the role that this page needs."),
    ),
    404: (
        _("This page does not exist"),
        _("The address is wrong, or the page is not yours to see."),
    ),
    500: (
        _("Something broke here"),
        _("The error was logged. Nothing that was saved is lost."),
    ),
}


def wants_json(request: HttpRequest) -> bool:
    """Whether the caller is a script of ours or an API client rather than a person."""
    accepts = "application/json" in request.headers.get("Accept", "")
    return accepts or request.path_info.startswith("/api/")


def refuse(
    request: HttpRequest, status: int, title: str | Promise, sentence: str | Promise | Message
) -> HttpResponse:
    """Answer with `status`, a title and one sentence, as a page or as JSON.

    Annotators read it in their language, whatever page they were refused.
    """
    language = getattr(request, "chosen_language", None) or translation.get_language()
    request.languages = settings.LANGUAGES  # type: ignore[attr-defined]
    with translation.override(language):
        if wants_json(request):
            return JsonResponse(_as_json(sentence), status=status)
        shown = translated(sentence) if isinstance(sentence, Message) else sentence
        context: dict[str, Any] = {"title": title, "sentence": shown, "status": status}
        # A page that refuses does not repeat a link that is a password.
        if getattr(request, "has_credential", False):
            context["return_to"] = reverse("home")
        response = render(request, "error.html", context, status=status)
    response["Content-Language"] = language or "en"
    return response


def _as_json(sentence: str | Promise | Message) -> dict[str, Any]:
    if isinstance(sentence, Message):
        return {"error": sentence.text, "message": as_json(sentence)}
    return {"error": sentence}


def refuse_guessing(request: HttpRequest, until: datetime) -> HttpResponse:
    """429 until a moment, after too many wrong passwords or dead links."""
    response = refuse(request, 429, throttle.TITLE, throttle.sentence(until))
    response["Retry-After"] = str(throttle.seconds_until(until))
    return response


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400 for what Django refuses unread, on every page: too many files, fields or bytes."""
    _read_to_the_end(request)
    if isinstance(exception, TooManyFilesSent):
        limit = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return refuse(request, 400, "Too many files", TOO_MANY_FILES.format(limit=limit))
    if isinstance(exception, TooManyFieldsSent):
        limit = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return refuse(request, 400, "Too many values", TOO_MANY_FIELDS.format(limit=limit))
    if isinstance(exception, RequestDataTooBig):
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        return refuse(request, 413, "Too much text", TOO_MUCH_TEXT.format(limit=limit))
    return refuse(request, 400, "This request cannot be read", UNREADABLE)


def _read_to_the_end(request: HttpRequest) -> None:
    """A browser shows no answer while what it sends is not taken."""
    left = settings.MAX_UPLOAD_BYTES
    with suppress(OSError):  # it went away
        while left > 0 and (data := request.read(PIECE_BYTES)):
            left -= len(data)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403, with the reason that the view gave, if any."""
    title, sentence = SENTENCES[403]
    return refuse(request, 403, title, str(exception or "") or sentence)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404: also for what exists but is another annotator's."""
    return refuse(request, 404, *SENTENCES[404])


def server_error(request: HttpRequest) -> HttpResponse:
    """500, without anything that could fail again."""
    return refuse(request, 500, *SENTENCES[500])
