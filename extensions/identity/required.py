"""Lead site admins without a second factor to set one up, where the settings require one."""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import BACKEND_SESSION_KEY
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from annotation.access import is_site_admin
from annotation.entry.accounts import BY_LINK
from extensions.identity.factors import has_factor
from extensions.identity.signing_in import PROVIDER_FACTOR
from metaeval.messages import message

OPEN = frozenset(
    {
        *("factors", "factor-app", "factor-key", "logout", "set_language", "set-appearance"),
        *("provider-ask", "provider-back", "healthz", "readyz", "prometheus"),
    }
)
REQUIRED = message(
    "factor.required",
    "Site admins need a second factor here. Set one up on the page of your account first.",
)


class SecondFactorMiddleware:
    """Refuse every other page to site admins who have no second factor.

    Tokens were made by somebody who had passed here. A provider that checked several factors
    counts.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: object) -> HttpResponse | None:
        """Answer in place of the page."""
        session = request.session
        match = request.resolver_match
        if (
            settings.SECOND_FACTOR != "admins"
            or (match is not None and match.url_name in OPEN)
            or session.get(BACKEND_SESSION_KEY, BY_LINK) == BY_LINK
            or session.get(PROVIDER_FACTOR)
            or not is_site_admin(request.user)
            or has_factor(request.user)
        ):
            return None
        if request.method != "GET" or request.path.startswith("/api/"):
            raise PermissionDenied(REQUIRED)
        messages.info(request, _("Site admins need a second factor here. Set one up first."))
        return redirect("factors")
