"""Ask for the password again before changes that a session left open must not make.

Deletions and changes of roles call `ask_password` once they know that the account may make them.
Whoever signed in or gave the password within `LASTS` is not asked.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import check_password
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from annotation.access import signed_in
from annotation.entry import throttle
from annotation.web.errors import refuse, refuse_guessing
from metaeval.messages import message

KEY, FIELD = "password_at", "password_again"
LASTS = timedelta(minutes=15)
TITLE = _("Enter your password again")
NO_PASSWORD = message(
    "password.none",
    "Your account has no password here. Sign out, sign in again and repeat this within 15 minutes, "
    "or ask a site admin for a link that sets a password.",
)
AGAIN = message(
    "password.again",
    "Deletions and changes of roles need a sign-in within the last 15 minutes. Sign in again, or "
    "use a token.",
)


def is_recent(session: Any) -> bool:
    """Return whether the person of a session proved lately who they are."""
    seconds = timezone.now().timestamp() - session.get(KEY, 0)
    return bool(0 <= seconds < LASTS.total_seconds())


def ask_password(request: HttpRequest) -> HttpResponse | None:
    """Return the page that asks for the password, with what was sent; None if it is not needed.

    Wrong passwords count as failed sign-ins.
    """
    if is_recent(request.session):
        return None
    user = signed_in(request)
    if not user.has_usable_password():
        return refuse(request, 403, TITLE, NO_PASSWORD)
    given = request.POST.get(FIELD, "")
    request.sensitive_post_parameters = "__ALL__"  # type: ignore[attr-defined]
    if given:
        attempt = throttle.attempt_sign_in(request, user.get_username())
        if attempt.blocked_until:
            return refuse_guessing(request, attempt.blocked_until)
        if check_password(given, user.password):
            throttle.take_back(attempt)
            _remember(request)
            return None
    left_out = (FIELD, "csrfmiddlewaretoken")
    sent = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in left_out
        for value in values
    ]
    context = {"title": TITLE, "sent": sent, "field": FIELD, "is_wrong": bool(given)}
    return render(request, "accounts/password_again.html", context, status=403)


def require_recent(request: Request) -> None:
    """Raise PermissionDenied for a session of the API that is not recent; tokens pass."""
    if request.auth is None and not is_recent(request.session):
        raise PermissionDenied(AGAIN.text, AGAIN.code)


class AdminMiddleware:
    """Ask before everything that is sent to Django's admin."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: object) -> HttpResponseBase | None:
        """Ask everybody who may use the admin."""
        match = request.resolver_match
        is_change = request.method == "POST" and match is not None and "admin" in match.app_names
        return ask_password(request) if is_change and request.user.is_staff else None


@receiver(user_logged_in, dispatch_uid="annotation.web.password")
def _signed_in(request: HttpRequest | None, **kwargs: Any) -> None:
    if request is not None:
        _remember(request)


def _remember(request: HttpRequest) -> None:
    request.session[KEY] = timezone.now().timestamp()
