"""Ask for the password again before changes that a session left open must not make.

Deletions and changes of roles call `ask_password` once they know that the account may make them.
Whoever signed in or gave the password within `LASTS` is not asked. Accounts without a password
prove who they are as extensions offer it.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import User
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
from core import extensions
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
    check: Callable[[str], bool] | None = partial(_is_password, user)
    address = ""
    if not user.has_usable_password():
        proofs = [prove(request, user) for prove in extensions.imported("proof")]
        check = next((each.check for each in proofs if each.check), None)
        address = next((each.address for each in proofs if each.address), "")
        if check is None and not address:
            return refuse(request, 403, TITLE, NO_PASSWORD)
    given = request.POST.get(FIELD, "")
    request.sensitive_post_parameters = "__ALL__"  # type: ignore[attr-defined]
    if given and check:
        attempt = throttle.attempt_sign_in(request, user.get_username())
        if attempt.blocked_until:
            return refuse_guessing(request, attempt.blocked_until)
        if check(given):
            throttle.take_back(attempt)
            request.session.cycle_key()
            has_proved(request)
            return None
    left_out = (FIELD, "csrfmiddlewaretoken")
    sent = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in left_out
        for value in values
    ]
    context = {
        "title": TITLE, "sent": sent, "field": FIELD, "is_wrong": bool(given),
        "has_password": user.has_usable_password(), "has_code": check is not None,
        "provider": address, "provider_name": getattr(settings, "OIDC_NAME", ""),
    }  # fmt: skip
    return render(request, "accounts/password_again.html", context, status=403)


def _is_password(user: User, given: str) -> bool:
    return check_password(given, user.password)


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
        has_proved(request)


def has_proved(request: HttpRequest) -> None:
    """Remember that the person of a session proved just now who they are."""
    request.session[KEY] = timezone.now().timestamp()
