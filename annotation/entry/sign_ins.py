"""Browsers in which somebody signed in with a password: listed, ended, and limited in time.

A session names the row of its sign-in, and ends with it. Sessions by link have no row: replacing
or revoking the link ends them.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from annotation.access import only_rates
from annotation.entry.accounts import BY_LINK
from annotation.entry.throttle import network_address
from annotation.models import SignIn
from core import extensions
from core.database.prepared import Prepared, placeholder_key

KEY = "sign_in"
# `seen_at` is exact to this; more requests within it write nothing.
PRECISION = timedelta(minutes=1)
BROWSERS = (
    ("Edg", "Edge"), ("OPR", "Opera"), ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("Chrome", "Chrome"), ("CriOS", "Chrome"),
    ("Safari", "Safari"),
)  # fmt: skip
SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
    ("CrOS", "ChromeOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip
ROW = placeholder_key(1)

_row = Prepared(lambda: SignIn.objects.filter(pk=ROW))


class SignInMiddleware(AuthenticationMiddleware):
    """Django's middleware, without the sessions that were ended or are too old."""

    def process_request(self, request: HttpRequest) -> None:
        """Set `request.user`, which is read only where a page asks for it."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _user_of(request))  # type: ignore[assignment]

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Keep what was made for somebody out of caches, unless the page decides for itself.

        On a shared machine, the back button then shows nothing to whoever comes next.
        """
        if request.session.accessed and not response.has_header("Cache-Control"):
            response.headers["Cache-Control"] = "no-store"
        return response


def _user_of(request: HttpRequest) -> Any:
    user = get_user(request)
    if not user.is_authenticated or request.session.get(BACKEND_SESSION_KEY) == BY_LINK:
        return user
    row = next(iter(_row.rows({ROW: request.session.get(KEY, 0)})), None)
    now = timezone.now()
    if row is None or row.user_id != user.pk or is_over(row, user, now):
        request.session.flush()
        return AnonymousUser()
    if row.seen_at < now - PRECISION:
        # A full disk or a locked table does not keep anybody out.
        with suppress(DatabaseError), transaction.atomic():
            SignIn.objects.filter(pk=row.pk).update(seen_at=now)
    return user


def second_step(request: HttpRequest, user: User, target: str) -> HttpResponse | None:
    """Return the page that asks for more before an account signs in, None if nothing is missing."""
    answers = (ask(request, user, target) for ask in extensions.imported("second_step"))
    return next(filter(None, answers), None)


def is_over(row: SignIn, user: User, now: datetime) -> bool:
    """Return whether a sign-in has reached a limit; who only rates has no limit of idleness."""
    if now - row.created_at >= timedelta(days=settings.SESSION_DAYS):
        return True
    idle = timedelta(hours=settings.SESSION_IDLE_HOURS)
    return bool(idle) and now - row.seen_at >= idle and not only_rates(user)


def present(user: User) -> list[SignIn]:
    """Return the sign-ins of an account that have not ended, the last used first."""
    now = timezone.now()
    return [row for row in user.sign_ins.order_by("-seen_at", "-pk") if not is_over(row, user, now)]


def others(request: HttpRequest, user: User) -> QuerySet[SignIn]:
    """Return the sign-ins of an account, without the one of this request."""
    return SignIn.objects.filter(user=user).exclude(pk=request.session.get(KEY, 0))


def browser_of(request: HttpRequest) -> str:
    """Return browser and system in short words, as far as the browser says them."""
    agent = str(request.META.get("HTTP_USER_AGENT", ""))
    words = [
        next((name for part, name in names if part in agent), "") for names in (BROWSERS, SYSTEMS)
    ]
    return ", ".join(filter(None, words))


@receiver(user_logged_in, dispatch_uid="annotation.entry.sign_ins.begin")
def _begin(request: HttpRequest | None, user: User, **kwargs: Any) -> None:
    if request is None or request.session.get(BACKEND_SESSION_KEY) == BY_LINK:
        return
    now = timezone.now()
    SignIn.objects.filter(pk=request.session.get(KEY, 0)).delete()
    address = network_address(request) if settings.SESSION_ADDRESSES else ""
    row = SignIn.objects.create(
        user=user, created_at=now, seen_at=now, browser=browser_of(request), address=address
    )
    request.session[KEY] = row.pk


@receiver(user_logged_out, dispatch_uid="annotation.entry.sign_ins.end")
def _end(request: HttpRequest | None, **kwargs: Any) -> None:
    if request is not None:
        SignIn.objects.filter(pk=request.session.get(KEY, 0)).delete()
