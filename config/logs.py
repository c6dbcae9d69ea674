"""What a line of the log belongs to: a request or a task.

`LOG_FORMAT=json` writes one JSON object a line. Each request has an id, its proxy's
(`X-Request-ID`) or a new one, which the answer repeats: with it an operator finds the lines of
what a person reports.
"""

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from uuid import uuid4

from celery import current_task
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from pythonjsonlogger.json import JsonFormatter as PackagedFormatter

from config.redaction import redact

HEADER = "X-Request-ID"
GIVEN = re.compile(r"[\w.-]{1,64}", re.A)
SERVER_ERROR = 500

_request_id: ContextVar[str] = ContextVar("request_id", default="")


class RequestIdMiddleware:
    """Name the request in every line that it logs, and in the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        name = given if GIVEN.fullmatch(given) else uuid4().hex
        # Django logs most refusals after the last middleware, with the request.
        request.log_id = name  # type: ignore[attr-defined]
        token = _request_id.set(name)
        try:
            response = self.get_response(request)
        finally:
            _request_id.reset(token)
        response[HEADER] = name
        return response


class Origin(logging.Filter):
    """Add `request_id` and `task` to a record, and drop the traceback of a refused request.

    What Django answers with 403 or 404 is one line; a traceback tells of a fault.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record."""
        request = getattr(record, "request", None)
        record.request_id = getattr(request, "log_id", "") or _request_id.get()
        record.task = getattr(current_task, "name", None) or ""
        if getattr(record, "status_code", SERVER_ERROR) < SERVER_ERROR:
            record.exc_info = record.exc_text = None
        return True


class JsonFormatter(PackagedFormatter):
    """JSON without credentials in tracebacks and in what else a record has, such as its request."""

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a line as numbers and redacted texts."""
        return {
            name: value if isinstance(value, int | float | datetime | None) else redact(str(value))
            for name, value in log_data.items()
        }
