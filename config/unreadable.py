"""Requests that no database can be asked about: NUL, numbers that fit no column, no such field."""

from collections.abc import Callable
from itertools import chain

from django.contrib.admin.options import TO_FIELD_VAR
from django.core.exceptions import FieldDoesNotExist
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from annotation.web.errors import SENTENCES, UNREADABLE, refuse

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
