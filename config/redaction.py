"""Keep links that work like passwords out of logs, error pages and error reports.

Whoever has a personal or an access link can rate in somebody's name. Which parts of an address
are such credentials is read from the URL configuration: every parameter with a name like `token`.
`docs/deployment.md` says what a proxy in front has to do besides.
"""

import logging
import logging.config
import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

HIDDEN = "***"
CREDENTIAL = re.compile(r"token|secret|key|code|uidb64", re.I)
# `<str:token>` of a route, `(?P<token>[^/]+)` of a regular expression.
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)")
SLASH = r"(?:/|%2[Ff])"
# A part of an address anywhere: up to the next slash or the end of the address.
PART = r"""(?:(?!%2[Ff])[^/\s?#&"'<>,;)\]}\\])+"""
# Tokens themselves, whatever surrounds them: 256 bits in URL-safe letters; those of programs have a
# prefix.
BARE = re.compile(r"(?<![\w-])(?:touchstone_)?[\w-]{43}(?![\w-])")
# What a provider sends a browser back with, which signs in once.
ANSWER = re.compile(r"([?&](?:code|state|id_token)(?:=|%3D))[^&\s#\"'<>]+", re.I)
# Without the path even on our own addresses, whose requests servers log; a browser that sends no
# referrer at all would send no origin with forms, either, and they would be refused as forged.
REFERRER_POLICY = "strict-origin"


def redact(text: str) -> str:
    """Return a text with every credential replaced by `***`."""
    for pattern in _patterns():
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return BARE.sub(HIDDEN, ANSWER.sub(rf"\g<1>{HIDDEN}", text))


def _patterns() -> tuple[re.Pattern[str], ...]:
    # While apps load there are no requests, and addresses cannot be read yet.
    return _of_routes() if apps.ready else ()


@cache
def _of_routes() -> tuple[re.Pattern[str], ...]:
    prefixes = set(_prefixes(get_resolver().url_patterns, "/"))
    return tuple(re.compile(f"({_any_slash(before)}){PART}") for before in sorted(prefixes))


def _prefixes(entries: Iterable[URLPattern | URLResolver], before: str) -> Iterator[str]:
    """Yield the part before each credential of a route, with other parameters as `<>`."""
    for entry in entries:
        route = before + str(entry.pattern).strip("^$").replace("\\", "")
        if isinstance(entry, URLResolver):
            yield from _prefixes(entry.url_patterns, route)
            continue
        for found in PARAMETER.finditer(route):
            if CREDENTIAL.search(found[1] or found[2]):
                yield PARAMETER.sub("<>", route[: found.start()])


def _any_slash(prefix: str) -> str:
    """Return a prefix as a pattern; slashes are encoded in queries."""
    return re.escape(prefix).replace("<>", PART).replace("/", SLASH)


def configure(config: dict[str, Any]) -> None:
    """Set up logging, and redact every record at its creation, before any handler sees it.

    `settings.LOGGING_CONFIG` names this function.
    """
    logging.config.dictConfig(config)
    make = logging.getLogRecordFactory()
    if not hasattr(make, "is_redacting"):
        logging.setLogRecordFactory(_redacting(make))


def _redacting(make: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    def make_redacted(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        _redact_record(record)
        return record

    make_redacted.is_redacting = True  # type: ignore[attr-defined]
    return make_redacted


def _redact_record(record: logging.LogRecord) -> None:
    try:
        message = record.getMessage()
    except (TypeError, ValueError, KeyError):
        # Logging reports the mistake with the arguments.
        message = f"{record.msg} {record.args}"
        record.msg, record.args = redact(message), ()
    if (redacted := redact(message)) != message:
        record.msg, record.args = redacted, ()
    if record.exc_info and record.exc_info[0]:
        report = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        if (redacted := redact(report)) != report:
            record.exc_text = redacted


class Reporter(ExceptionReporter):
    """Redact Django's report of an error, as a page in debug mode and as an e-mail."""

    def get_traceback_html(self) -> SafeString:
        """Return the report as HTML."""
        return SafeString(redact(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        """Return the report as plain text."""
        return SafeString(redact(super().get_traceback_text()))


class RedactionMiddleware:
    """Keep addresses with credentials out of referrers and error pages.

    `request.has_credential` is True where the address has one.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request; this is the outermost middleware, so all refusals pass it."""
        address = request.get_full_path()
        request.has_credential = redact(address) != address  # type: ignore[attr-defined]
        response = self.get_response(request)
        if request.has_credential:  # type: ignore[attr-defined]
            response["Referrer-Policy"] = REFERRER_POLICY
            is_error = response.status_code >= 400 and not getattr(response, "is_preview", False)
            if is_error and isinstance(response, HttpResponse):
                response.content = redact(response.text).encode(response.charset)
                response["Content-Length"] = str(len(response.content))
        return response


# Parts of a request that are sent.
REQUEST = ("method", "url")
SECRET_LENGTH = 8


def start_reports(dsn: str, *, release: str, secrets: tuple[str, ...], **options: Any) -> None:
    """Report errors to Sentry or a program like it; `secrets` are texts that no report may hold.

    Reports have neither bodies, cookies, headers, addresses of visitors nor values of variables.
    """
    import sentry_sdk

    hidden = tuple(each for each in secrets if len(each) >= SECRET_LENGTH)
    sentry_sdk.init(
        dsn=dsn,
        release=release,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=lambda event, hint: scrubbed(event, hidden),
        **options,
    )


def scrubbed(event: Any, secrets: tuple[str, ...]) -> Any:
    """Return a report without what identifies a person or is a credential."""
    event.pop("user", None)
    event.pop("breadcrumbs", None)
    event.pop("server_name", None)
    if request := event.get("request"):
        kept = {name: request[name] for name in REQUEST if name in request}
        kept["url"] = str(kept.get("url", "")).partition("?")[0]
        event["request"] = kept
    return _without(event, secrets)


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {_without(name, secrets): _without(each, secrets) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without(each, secrets) for each in value]
    if not isinstance(value, str):
        return value
    for secret in secrets:
        value = value.replace(secret, HIDDEN)
    return redact(value)
