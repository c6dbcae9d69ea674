"""Pages of the own account: second factors, and the connection with the provider.

Every change asks for the password again (:mod:`annotation.web.password`).
"""

import base64
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.internal import auth as webauthn
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import signed_in, site_admin_required
from annotation.accounts.managing import check_may_change
from annotation.entry import sign_ins
from annotation.web.password import ask_password
from core.messages import messages_of, sentences
from extensions.identity import factors, provider
from extensions.identity.signing_in import CONNECTING

SECRET = "new_factor"  # noqa: S105  the key of a session


def _offered(request: HttpRequest) -> User:
    """Return the account, which may have a second factor; 404 for people who came by a link."""
    user = signed_in(request)
    if settings.SECOND_FACTOR == "no" or not request.session.get(sign_ins.KEY):
        raise Http404
    return user


@never_cache
@login_required
@require_GET
def factor_list(request: HttpRequest) -> HttpResponse:
    """Show the second factors of the own account, with what can be added and removed."""
    return _show(request, _offered(request))


def _show(request: HttpRequest, user: User, codes: list[str] | None = None) -> HttpResponse:
    page = {
        "factors": factors.factors_of(user),
        "left": factors.n_recovery_codes(user),
        "codes": codes or [],
    }
    return render(request, "identity/factors.html", page)


@never_cache
@login_required
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def factor_app(request: HttpRequest) -> HttpResponse:
    """Show the secret of a new authenticator app, and add the app with its first code.

    The password comes first, so that nobody else sees the secret.
    """
    user = _offered(request)
    if request.method != "POST":
        return redirect("factors")
    if asked := ask_password(request):
        return asked
    secret = request.session.get(SECRET)
    code = request.POST.get("code", "")
    if not secret or not code:
        secret = request.session[SECRET] = totp.generate_totp_secret()
        return _show_app(request, user, secret)
    codes = factors.add_app(user, secret, code)
    if codes is None:
        return _show_app(request, user, secret, is_wrong=True)
    del request.session[SECRET]
    sign_ins.others(request, user).delete()
    messages.success(request, _("The authenticator app has been added."))
    return _show(request, user, codes)


def _show_app(
    request: HttpRequest, user: User, secret: str, *, is_wrong: bool = False
) -> HttpResponse:
    address = get_adapter().build_totp_url(user, secret)
    picture = base64.b64encode(get_adapter().build_totp_svg(address).encode()).decode()
    groups = [secret[start : start + 4] for start in range(0, len(secret), 4)]
    page = {"picture": picture, "secret": " ".join(groups), "is_wrong": is_wrong}
    return render(request, "identity/app.html", page, status=422 if is_wrong else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def factor_key(request: HttpRequest) -> HttpResponse:
    """Add a security key: first its name, then the browser asks the key."""
    user = _offered(request)
    if request.method != "POST":
        return redirect("factors")
    if asked := ask_password(request):
        return asked
    page: dict[str, Any] = {"name": request.POST.get("name", "").strip()[:60] or _("Security key")}
    if credential := factors.read_credential(request.POST.get("credential", "")):
        try:
            codes = factors.add_key(user, str(page["name"]), credential)
        except ValidationError as error:
            page["error"] = sentences(messages_of(error))
        else:
            sign_ins.others(request, user).delete()
            messages.success(request, _("The security key has been added."))
            return _show(request, user, codes)
    page["options"] = webauthn.begin_registration(user, passwordless=False)
    return render(request, "identity/key.html", page, status=422 if "error" in page else 200)


@never_cache
@login_required
@require_POST
def factor_codes(request: HttpRequest) -> HttpResponse:
    """Make new recovery codes and show them once."""
    user = _offered(request)
    if asked := ask_password(request):
        return asked
    if not factors.has_factor(user):
        raise Http404
    return _show(request, user, factors.new_codes(user))


@login_required
@require_POST
def factor_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove one factor of the own account."""
    user = _offered(request)
    if asked := ask_password(request):
        return asked
    if factors.remove(user, user, pk):
        sign_ins.others(request, user).delete()
        messages.success(request, _("The second factor has been removed."))
    return redirect("factors")


@site_admin_required
@require_POST
def factors_reset(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove all second factors of an account whose owner has lost them."""
    actor, user = signed_in(request), get_object_or_404(User, pk=pk)
    if asked := ask_password(request):
        return asked
    check_may_change(actor, user)
    factors.remove(actor, user)
    messages.success(request, _("The second factors have been removed."))
    return redirect("account", pk)


@login_required
@require_POST
def provider_connect(request: HttpRequest) -> HttpResponse:
    """Begin to connect the own account; a link leads on, as forms may not leave the site."""
    user = signed_in(request)
    if not settings.OIDC_ISSUER or not request.session.get(sign_ins.KEY):
        raise Http404
    if asked := ask_password(request):
        return asked
    if provider.is_connected(user):
        return redirect("own-account")
    request.session[CONNECTING] = True
    address = reverse("provider-ask", args=["connect"])
    return render(request, "identity/connect.html", {"address": address})


@login_required
@require_POST
def provider_disconnect(request: HttpRequest) -> HttpResponse:
    """End the connection of the own account, which can sign in with its password."""
    user = signed_in(request)
    if not user.has_usable_password():
        raise Http404
    if asked := ask_password(request):
        return asked
    provider.disconnect(user)
    messages.success(request, _("Your account is no longer connected."))
    return redirect("own-account")
