"""Requests that no view can answer: no database, a full disk, values that no column can hold.

503 where the database is away or a lock was waited for too long, by a page that needs no database;
507 where a disk is full; 400 or 404 for NUL, numbers out of range and fields that do not exist.
"""

import logging
import shutil
import sys
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.contrib.admin.options import TO_FIELD_VAR
from django.core.exceptions import FieldDoesNotExist
from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from annotation.access import is_researcher
from annotation.web import errors
from annotation.web.errors import SENTENCES, UNREADABLE, refuse, wants_json
from core import disk
from core.database.waits import is_lock_timeout

logger = logging.getLogger(__name__)
RETRY_AFTER = 10  # seconds
OUT_OF_REACH = _("Touchstone is temporarily unavailable")
AWAY = _(
    "The database is not responding. Everything that was saved is still there. "
    "Answers that are not saved yet wait in your browser and are sent when the "
    "database responds again. Reload this page in a minute."
)
BUSY = _(
    "Somebody else is changing the same data. Your change has not been saved. "
    "Try again in a minute."
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


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer 503 with Retry-After, in the browser's language: the account's would be asked for."""
    logger.error("%s %s: the database is unavailable: %s", request.method, request.path, error)
    sentence = BUSY if is_lock_timeout(error) else AWAY
    language = translation.get_language_from_request(request)
    with translation.override(language):
        if wants_json(request):
            response: HttpResponse = JsonResponse({"error": sentence}, status=503)
        else:
            context = {"title": OUT_OF_REACH, "sentence": sentence}
            response = HttpResponse(render_to_string("unavailable.html", context), status=503)
    response["Retry-After"] = str(RETRY_AFTER)
    response["Content-Language"] = language
    return response


STATUS = 507
NO_ROOM = "There is no room"
FULL = "The disk of the server is full."
UNFINISHED = (
    "What you asked for was not finished. Once there is room, see what is stored and do it again."
)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 507 with the disk's sentence where the error in hand tells of one, else 500.

    Django asks its handler of errors while it handles the error, wherever that arose: in a view,
    while a form was read (files of more than 2.5 MB go to the disk), or where a session was saved.
    """
    error = sys.exception()
    if error is not None and is_unavailable(error):
        return unavailable(request, error)
    sentence = None if error is None else disk_refusal(error)
    if sentence is None:
        return errors.server_error(request)
    logger.error("A request was not finished: %s", sentence)
    # Folders of the server are the business of those who can do something about them.
    user = getattr(request, "user", None)
    told = sentence if user is not None and is_researcher(user) else FULL
    return errors.refuse(request, STATUS, NO_ROOM, f"{told} {UNFINISHED}")


def disk_refusal(error: BaseException) -> str | None:
    """Return the sentence of a disk, a quota or a database that is full; None for other errors.

    A file that may not be opened is a fault of ours or of the installation, and stays one.
    """
    number = disk.fault(error)
    if number is not None and number not in disk.FULL:
        return None
    return disk.refusal(error, _fullest())


def _fullest() -> Path:
    """Return which of the folders that requests write to has least room."""
    places = [Path(settings.VAR_DIR), Path(settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir())]
    return min(places, key=lambda place: shutil.disk_usage(place).free)


NUL = "\0"
HOLDS_NUL = "The address holds a NUL character, which no text here can hold."
OUT_OF_RANGE = "A value is outside what can be stored. Nothing was saved."


class UnreadableMiddleware:
    """Answer 400 or 404 in one place, whichever view and database would have failed.

    PostgreSQL knows no NUL and no number beyond its columns; SQLite's driver takes the first and
    refuses the second. Transactions of the view are rolled back by then.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Refuse an address with a NUL."""
        values = chain(request.GET, *(values for _name, values in request.GET.lists()))
        if NUL in request.path_info or any(NUL in value for value in values):
            return refuse(request, 400, UNREADABLE, HOLDS_NUL)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Refuse what the database could not hold: 404 to a question, 400 to a form."""
        # Django's admin looks up a field without a name where the address has an empty one.
        is_nameless = isinstance(error, FieldDoesNotExist) and TO_FIELD_VAR in request.GET
        if not (is_nameless or isinstance(error, (DataError, OverflowError))):
            return None
        if request.method in ("GET", "HEAD"):
            return refuse(request, 404, *SENTENCES[404])
        return refuse(request, 400, UNREADABLE, OUT_OF_RANGE)
