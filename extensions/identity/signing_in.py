"""The second step of signing in, sign-in through a provider, and proving again who one is.

Whoever gave the right password, or came back from the provider, is signed in only after the second
step. Until then the session holds the account and nothing else; it opens no page.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from allauth.mfa.webauthn.internal import auth as webauthn
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import signed_in
from annotation.entry import throttle
from annotation.web.errors import refuse, refuse_guessing
from annotation.web.password import has_proved, is_recent
from extensions.identity import factors, provider
from metaeval.messages import MessageError, message

logger = logging.getLogger(__name__)
PENDING, CONNECTING, PROVIDER_FACTOR = "second_step", "provider_connects", "provider_factor"
BACKEND = "django.contrib.auth.backends.ModelBackend"
LASTS = timedelta(minutes=10)
TITLE = _("Sign in")
NO_ACCOUNT = message(
    "provider.no-account",
    "No account here is connected with your sign-in. Ask a site admin for an account. If you have "
    "one, sign in with its password and connect it on the page of your account.",
)
INACTIVE = message("provider.inactive", "Your account is deactivated. Ask a site admin.")
OTHER = message(
    "provider.other",
    "That is not the person that your account is connected with. Nothing has changed.",
)
TAKEN = message(
    "provider.taken", "This account, or this person, is already connected. Nothing has changed."
)


@dataclass(frozen=True)
class Proof:
    """What proves again who an account without a password is: a code, or the provider."""

    check: Callable[[str], bool] | None
    address: str


def proof(request: HttpRequest, user: User) -> Proof:
    """Return what an account has to prove who it is."""
    has_codes = factors.has_factor(user)
    is_connected = bool(settings.OIDC_ISSUER) and provider.is_connected(user)
    return Proof(
        (lambda code: factors.check_code(user, code)) if has_codes else None,
        reverse("provider-ask", args=["again"]) if is_connected else "",
    )


def second_step(request: HttpRequest, user: User, target: str) -> HttpResponse | None:
    """Return the way to the second step, for an account that has a second factor."""
    if not factors.has_factor(user):
        return None
    request.session.cycle_key()
    request.session[PENDING] = [user.pk, user.get_session_auth_hash(), target, _now()]
    return redirect("second-step")


def _now() -> float:
    return timezone.now().timestamp()


def _pending(request: HttpRequest) -> tuple[User, str] | None:
    """Return the account whose second step is awaited, unless it is too late or changed."""
    pk, mark, target, at = request.session.get(PENDING) or (0, "", "", 0.0)
    user = User.objects.filter(pk=pk, is_active=True).first()
    if user is None or user.get_session_auth_hash() != mark or _now() - at > LASTS.total_seconds():
        request.session.pop(PENDING, None)
        return None
    return user, target


@never_cache
@sensitive_post_parameters("code", "credential")
@require_http_methods(["GET", "HEAD", "POST"])
def second_step_page(request: HttpRequest) -> HttpResponse:
    """Ask for a code or a security key, and sign in. Wrong ones count as failed sign-ins."""
    pending = _pending(request)
    if pending is None:
        return redirect("home" if request.user.is_authenticated else "login")
    user, target = pending
    is_wrong = False
    if request.method == "POST":
        attempt = throttle.attempt_sign_in(request, user.get_username())
        if attempt.blocked_until:
            return refuse_guessing(request, attempt.blocked_until)
        credential = factors.read_credential(request.POST.get("credential", ""))
        code = request.POST.get("code", "")
        if factors.check_key(user, credential) if credential else factors.check_code(user, code):
            throttle.take_back(attempt)
            del request.session[PENDING]
            login(request, user, backend=BACKEND)
            response = redirect(target)
            throttle.remember_device(request, response, attempt.account)
            return response
        is_wrong = True
        network = throttle.network_address(request)
        logger.warning("A second factor of account %d from %s was refused", user.pk, network)
    options = webauthn.begin_authentication(user) if factors.has_key(user) else None
    page = {"options": options, "is_wrong": is_wrong, "left": factors.n_recovery_codes(user)}
    return render(request, "identity/second_step.html", page, status=422 if is_wrong else 200)


@never_cache
@require_GET
def provider_ask(request: HttpRequest, process: str) -> HttpResponse:
    """Send the browser to the provider: to sign in, to connect the account, to prove it again.

    Connecting was asked for by POST, with the password; a link alone begins it not.
    """
    _require_provider()
    if process != "sign-in" and not request.user.is_authenticated:
        return redirect("login")
    if process == "connect" and not (
        request.session.pop(CONNECTING, False) and is_recent(request.session)
    ):
        return redirect("own-account")
    try:
        return provider.ask(request, process, _safe(request, request.GET.get("next", "")))
    except MessageError as error:
        return refuse(request, 502, TITLE, error.message)


def _require_provider() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404


def _safe(request: HttpRequest, target: str) -> str:
    is_safe = url_has_allowed_host_and_scheme(
        target, {request.get_host()}, require_https=request.is_secure()
    )
    return target if is_safe else ""


@never_cache
@require_GET
def provider_back(request: HttpRequest) -> HttpResponse:
    """Take what the provider answered."""
    _require_provider()
    try:
        answer = provider.answer(request)
        if answer.process == "sign-in":
            return _sign_in(request, answer)
        if not request.user.is_authenticated:
            raise MessageError(provider.STALE)
        return _connect(request, answer) if answer.process == "connect" else _prove(request, answer)
    except MessageError as error:
        network = throttle.network_address(request)
        logger.warning("A sign-in by the provider from %s: %s", network, error.message.code)
        return refuse(request, 403, TITLE, error.message)


def _sign_in(request: HttpRequest, answer: provider.Answer) -> HttpResponse:
    user = provider.account_of(answer.subject)
    if user is None:
        if not settings.OIDC_NEW_ACCOUNTS:
            raise MessageError(NO_ACCOUNT)
        user = provider.make_account(answer.claims)
    if not user.is_active:
        raise MessageError(INACTIVE)
    provider.set_roles(user, answer.claims)
    target = answer.target or reverse("home")
    if response := second_step(request, user, target):
        return response
    login(request, user, backend=BACKEND)
    request.session[PROVIDER_FACTOR] = answer.has_second_factor
    return redirect(target)


def _connect(request: HttpRequest, answer: provider.Answer) -> HttpResponse:
    if not is_recent(request.session) or not provider.connect(signed_in(request), answer.subject):
        raise MessageError(TAKEN)
    messages.success(request, _("Your account has been connected."))
    return redirect("own-account")


def _prove(request: HttpRequest, answer: provider.Answer) -> HttpResponse:
    if provider.account_of(answer.subject) != signed_in(request):
        raise MessageError(OTHER)
    request.session.cycle_key()
    has_proved(request)
    messages.success(request, _("You have proved who you are. Repeat what you wanted to do."))
    return redirect(answer.target or "own-account")
