"""Requests that found no database, or waited too long for a lock: 503, a page that needs none."""

import logging

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from annotation.web.errors import wants_json
from core import disk
from core.database.waits import is_lock_timeout

logger = logging.getLogger(__name__)
RETRY_AFTER = 10  # seconds
TITLE = _("Touchstone cannot be reached for a moment")
AWAY = _(
    "The database does not answer. Nothing that was saved is lost. Answers that you have given "
    "wait in your browser and are sent when it answers again. Reload this page in a minute."
)
BUSY = _(
    "Somebody else is changing the same thing. Nothing of yours was changed. Try again in a minute."
)
# SQLite: busy, locked, cannot be opened. Its other errors are faults of ours, or of the disk.
SQLITE = (5, 6, 14)


def is_unavailable(error: BaseException) -> bool:
    """Return True if the database could not be reached, or made a statement wait too long."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in SQLITE
    return getattr(error.__cause__, "sqlstate", None) != disk.POSTGRESQL_FULL


def answer(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer 503 with Retry-After, in the browser's language: the account's would be asked for."""
    logger.error("%s %s: the database is unavailable: %s", request.method, request.path, error)
    sentence = BUSY if is_lock_timeout(error) else AWAY
    language = translation.get_language_from_request(request)
    with translation.override(language):
        if wants_json(request):
            response: HttpResponse = JsonResponse({"error": sentence}, status=503)
        else:
            context = {"title": TITLE, "sentence": sentence}
            response = HttpResponse(render_to_string("unavailable.html", context), status=503)
    response["Retry-After"] = str(RETRY_AFTER)
    response["Content-Language"] = language
    return response
