"""Answer requests that no view can answer: no database, a full disk, values out of range.

503 if the database does not answer or a lock was not free in time, by a page that needs no
database; 507 if a disk is full; 400 or 404 for NUL, numbers out of range and unknown fields.
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
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from annotation.access import is_researcher
from annotation.web import errors
from annotation.web.errors import REASONS, refuse, wants_json
from core import disk
from core.database.waits import is_lock_timeout
from core.messages import translated
from metaeval.messages import Message, message

logger = logging.getLogger(__name__)
RETRY_AFTER = 10  # seconds
OUT_OF_REACH = _("Touchstone is temporarily unavailable")
AWAY = message(
    "database.away",
    "The database is not responding. Everything that was saved is still there. "
    "Ratings that are not saved yet wait in your browser and are sent when the "
    "database responds again. Reload this page in a minute.",
)
BUSY = message(
    "database.busy",
    "Somebody else is changing the same data. Your change has not been saved. "
    "Try again in a minute.",
)
# SQLite: busy, locked, cannot be opened. Its other errors are bugs, or faults of the disk.
SQLITE = (5, 6, 14)


def is_unavailable(error: BaseException) -> bool:
    """Return True if the database did not answer, or a statement waited too long for a lock."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in SQLITE
    return getattr(error.__cause__, "sqlstate", None) != disk.POSTGRESQL_FULL


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer 503 with Retry-After, in the language of the browser.

    The language of the account is in the database.
    """
    logger.error("%s %s: the database is unavailable: %s", request.method, request.path, error)
    reason = BUSY if is_lock_timeout(error) else AWAY
    language = translation.get_language_from_request(request)
    with translation.override(language):
        if wants_json(request):
            response = errors.as_json_answer(request, 503, reason)
        else:
            context = {"title": OUT_OF_REACH, "sentence": translated(reason)}
            response = HttpResponse(render_to_string("unavailable.html", context), status=503)
    response["Retry-After"] = str(RETRY_AFTER)
    response["Content-Language"] = language
    return response


STATUS = 507
NO_ROOM = _("The disk is full")
FULL = message("disk.server-full", "The disk of the server is full.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 507 if the current error is a full disk, 503 without a database, else 500.

    Django calls this while it handles the error, wherever that arose: in a view, while a form was
    read (files of more than 2.5 MB go to the disk), or while a session was saved.
    """
    error = sys.exception()
    if error is not None and is_unavailable(error):
        return unavailable(request, error)
    sentence = None if error is None else disk_refusal(error)
    if sentence is None:
        return errors.server_error(request)
    logger.error("A request was not finished: %s", sentence)
    # Only researchers see folders of the server.
    user = getattr(request, "user", None)
    reason = sentence if user is not None and is_researcher(user) else FULL
    unfinished = message(
        "disk.request-unfinished",
        "{reason} Your request was not completed. When there is space again, check what has been "
        "stored and repeat the request.",
        reason=reason,
    )
    return errors.refuse(request, STATUS, NO_ROOM, unfinished)


def disk_refusal(error: BaseException) -> Message | None:
    """Return the refusal of a full disk, quota or database; None for other errors.

    A file that may not be opened is a bug or a fault of the installation: 500.
    """
    number = disk.fault(error)
    if number is not None and number not in disk.FULL:
        return None
    return disk.refusal(error, _fullest())


def _fullest() -> Path:
    """Return the folder that requests write to with the least free space."""
    places = [Path(settings.VAR_DIR), Path(settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir())]
    return min(places, key=lambda place: shutil.disk_usage(place).free)


NUL = "\0"
NOT_READ = _("This request cannot be read")
HOLDS_NUL = message("request.nul", "The address contains a NUL character, which cannot be stored.")
OUT_OF_RANGE = message(
    "request.out-of-range", "A value is too large to be stored. Nothing was saved."
)


class UnreadableMiddleware:
    """Answer 400 or 404 for values that the database cannot store, whatever the view.

    PostgreSQL refuses NUL and numbers beyond its columns; SQLite's driver accepts the first and
    refuses the second. Transactions of the view have been rolled back by then.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Refuse an address that contains a NUL."""
        values = chain(request.GET, *(values for _name, values in request.GET.lists()))
        if NUL in request.path_info or any(NUL in value for value in values):
            return refuse(request, 400, NOT_READ, HOLDS_NUL)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Refuse a value that the database cannot store: 404 for GET, 400 for a form."""
        # Django's admin looks up a field without a name where the address has an empty one.
        is_nameless = isinstance(error, FieldDoesNotExist) and TO_FIELD_VAR in request.GET
        if not (is_nameless or isinstance(error, (DataError, OverflowError))):
            return None
        if request.method in ("GET", "HEAD"):
            return refuse(request, 404, *REASONS[404])
        return refuse(request, 400, NOT_READ, OUT_OF_RANGE)
