"""Requests that a full disk stopped: one answer, whichever page, upload or session met it."""

import logging
import shutil
import sys
import tempfile
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from annotation.access import is_researcher
from annotation.web import errors
from config import unavailable
from core import disk

logger = logging.getLogger(__name__)
STATUS = 507
TITLE = "There is no room"
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
    if error is not None and unavailable.is_unavailable(error):
        return unavailable.answer(request, error)
    sentence = None if error is None else refusal(error)
    if sentence is None:
        return errors.server_error(request)
    logger.error("A request was not finished: %s", sentence)
    # Folders of the server are the business of those who can do something about them.
    user = getattr(request, "user", None)
    told = sentence if user is not None and is_researcher(user) else FULL
    return errors.refuse(request, STATUS, TITLE, f"{told} {UNFINISHED}")


def refusal(error: BaseException) -> str | None:
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
