"""Sign programs in by tokens, each for the addresses of its scopes.

Every address of the API needs one scope: reading needs `read`, and changing what the view says in
its attribute `scope`. Outside of the API, tokens open what pages offer as data and files.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from annotation.accounts import tokens
from annotation.api.throttling import RequestsPerMinute
from annotation.models import ApiToken
from annotation.web.errors import refuse
from metaeval.messages import Message, message

Scope = ApiToken.Scope
# The ends of the names of addresses that answer with data or a file.
DATA = ("-data", "-file", "-figure", "-media", "hours")
UNKNOWN = message(
    "token.unknown",
    "This token is not valid: it is wrong, has expired or was revoked. Make another one on the "
    "page of your account.",
)


def needed_scope(method: str | None, view: object) -> str:
    """Return the scope that a request needs; a view that names none is for the site."""
    return Scope.READ if method in SAFE_METHODS else getattr(view, "scope", Scope.SITE)


def missing_scope(scope: str) -> Message:
    """Return why a token is refused."""
    return message(
        "token.scope", "This token lacks the scope “{scope}”, which this request needs.",
        scope=str(scope),
    )  # fmt: skip


def _token_of(header: str) -> str | None:
    """Return the token of a header `Authorization: Bearer TOKEN`, None for other headers."""
    kind, _space, token = header.strip().partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`; the scopes of the token limit what the account may do."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """Return the account and the token; None without such a header."""
        given = _token_of(request.headers.get("Authorization", ""))
        if given is None:
            return None
        found = tokens.find(given)
        if found is None:
            raise AuthenticationFailed(UNKNOWN.text, UNKNOWN.code)
        scope = needed_scope(request.method, request.parser_context.get("view"))
        if scope not in found.scopes:
            refusal = missing_scope(scope)
            raise PermissionDenied(refusal.text, refusal.code)
        return found.user, found

    def authenticate_header(self, request: Request) -> str:
        """Return what answers with status 401 ask for."""
        return 'Bearer realm="Touchstone"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describe tokens in the schema of the API."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme."""
        scopes = ", ".join(f"`{scope}`" for scope in Scope.values)
        return {
            "type": "http",
            "scheme": "bearer",
            "description": f"A token from the page of your account. Its scopes are among {scopes}. "
            "Each operation names the one that it needs.",
        }

    def get_security_requirement(self, auto_schema: Any) -> dict[str, list[str]]:
        """Return the scope of an operation."""
        return {self.name: [str(needed_scope(auto_schema.method, auto_schema.view))]}


class TokenMiddleware:
    """Let tokens with the scope `read` open the data and files of pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: object
    ) -> HttpResponseBase | None:
        """Sign the program in for this request, or refuse it."""
        given = _token_of(request.headers.get("Authorization", ""))
        name = request.resolver_match.url_name if request.resolver_match else None
        is_data = request.method in SAFE_METHODS and (name or "").endswith(DATA)
        if given is None or not is_data or request.path_info.startswith("/api/"):
            return None
        found = tokens.find(given)
        if found is None:
            return refuse(request, 401, _("This token is not valid"), UNKNOWN)
        if Scope.READ not in found.scopes:
            return refuse(request, 403, _("This token is not valid"), missing_scope(Scope.READ))
        request.user = found.user
        throttle: Any = RequestsPerMinute()
        if not throttle.allow_request(request, view):
            wait = throttle.refusal(throttle.wait())
            answer = refuse(request, 429, _("Too many requests"), wait)
            answer["Retry-After"] = str(wait.parameters["seconds"])
            return answer
        return None
