"""Sign-in through an OpenID provider: the request, its answer, and the account that it is about.

allauth speaks OAuth 2.0 with state and PKCE. This module adds a nonce, and checks the
signature, issuer, audience and times of every token (OpenID Connect Core 1.0, 3.1.3.7). An account
is found by the provider's name for the person alone; an equal e-mail address proves nothing.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from requests import RequestException

from annotation.accounts.managing import note
from annotation.models import ChangeEntry
from metaeval.messages import MessageError, message

NAME = "organization"
# Signatures by a key that the provider alone has.
ALGORITHMS = frozenset(
    {f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)} | {"EdDSA"}
)
# Seconds between two clocks, and since a person proved to the provider who they are.
LEEWAY, FRESH = 30, 120
WRONG = message(
    "provider.wrong",
    "The sign-in service gave an answer that cannot be trusted. Nothing has changed. Try again, "
    "and tell a site admin if it happens again.",
)
SILENT = message("provider.silent", "The sign-in service does not answer. Try again later.")
STALE = message(
    "provider.stale", "This sign-in was not begun in this browser, or too long ago. Begin again."
)
CANCELLED = message("provider.cancelled", "The sign-in service did not sign you in.")


@dataclass(frozen=True)
class Answer:
    """What a provider said, and what it was asked for: `process` and `target`."""

    claims: Mapping[str, Any]
    process: str
    target: str

    @property
    def subject(self) -> str:
        """Return the provider's name for the person, which never changes."""
        return str(self.claims["sub"])

    @property
    def has_second_factor(self) -> bool:
        """Return whether the provider checked several factors (RFC 8176)."""
        return "mfa" in _texts(self.claims.get("amr"))


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Allauth's adapter, for the provider of the settings and with the address of our own page."""

    def get_provider(self) -> "Provider":
        """Return the provider."""
        return _provider(self.request)

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Return where the provider sends people back to."""
        return request.build_absolute_uri(reverse("provider-back"))

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's description; raises OAuth2Error if it is another's."""
        found: dict[str, Any] = super().openid_config
        if found.get("issuer") != settings.OIDC_ISSUER:
            raise OAuth2Error("The description names another issuer.")
        return found


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """The provider of the settings."""

    oauth2_adapter_class = Adapter


def _provider(request: HttpRequest) -> Provider:
    app = SocialApp(
        provider=OpenIDConnectProvider.id,
        provider_id=NAME,
        name=settings.OIDC_NAME,
        client_id=settings.OIDC_CLIENT_ID,
        secret=settings.OIDC_CLIENT_SECRET,
        settings={"server_url": settings.OIDC_ISSUER.rstrip("/"), "oauth_pkce_enabled": True},
    )
    return Provider(request, app=app)


def ask(request: HttpRequest, process: str, target: str) -> HttpResponse:
    """Send the browser to the provider. Raises MessageError if it does not answer."""
    nonce = secrets.token_urlsafe(32)
    parameters = {"nonce": nonce}
    if process != "sign-in":
        parameters |= {"prompt": "login", "max_age": "0"}
    try:
        response: HttpResponse = _provider(request).redirect(
            request, process=process, next_url=target, data={"nonce": nonce},
            auth_params=parameters,
        )  # fmt: skip
    except (OAuth2Error, RequestException, ValueError, KeyError) as error:
        raise MessageError(SILENT) from error
    return response


def answer(request: HttpRequest) -> Answer:
    """Return what the provider answered. Raises MessageError for what cannot be trusted."""
    provider = _provider(request)
    state = statekit.unstash_state(
        request, provider_id=provider.sub_id, state_id=request.GET.get("state", "")
    )
    if state is None:
        raise MessageError(STALE)
    # RFC 9207: another provider's answer.
    if request.GET.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:
        raise MessageError(WRONG)
    if "code" not in request.GET:
        raise MessageError(CANCELLED)
    adapter = Adapter(request, NAME)
    try:
        client = adapter.get_client(request, provider.app)
        given = adapter.get_access_token_data(
            request, provider.app, client, pkce_code_verifier=state["pkce_code_verifier"]
        )
        claims = _verified(adapter, str(given.get("id_token", "")), state["data"]["nonce"])
    except RequestException as error:
        raise MessageError(SILENT) from error
    except (OAuth2Error, jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
        raise MessageError(WRONG) from error
    process = str(state["process"])
    if process != "sign-in" and not _is_fresh(claims):
        raise MessageError(WRONG)
    return Answer(claims, process, str(state.get("next", "") or ""))


def _verified(adapter: Adapter, token: str, nonce: str) -> dict[str, Any]:
    header = jwt.get_unverified_header(token)
    algorithm = str(header.get("alg"))
    if algorithm not in ALGORITHMS:
        raise OAuth2Error("The token is not signed by a key of the provider.")
    with get_adapter().get_requests_session() as session:
        response = session.get(adapter.openid_config["jwks_uri"])
        response.raise_for_status()
    name = header.get("kid")
    keys = [
        key
        for key in jwt.PyJWKSet.from_dict(response.json()).keys
        if key.public_key_use in (None, "sig") and name in (None, key.key_id)
    ]
    if len(keys) != 1:
        raise OAuth2Error("The provider lists no such key.")
    claims = jwt.decode(
        token,
        keys[0].key,
        algorithms=[algorithm],
        audience=settings.OIDC_CLIENT_ID,
        issuer=settings.OIDC_ISSUER,
        leeway=LEEWAY,
        options={"require": ["iss", "sub", "aud", "exp", "iat", "nonce"]},
    )
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    party = claims.get("azp", None if several else settings.OIDC_CLIENT_ID)
    if party != settings.OIDC_CLIENT_ID:
        raise OAuth2Error("The token was made for another client.")
    if not compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
        raise OAuth2Error("The token answers another request.")
    return claims


def _is_fresh(claims: Mapping[str, Any]) -> bool:
    """Return whether the person proved just now who they are."""
    at = claims.get("auth_time")
    return isinstance(at, int) and abs(timezone.now().timestamp() - at) <= FRESH


def account_of(subject: str) -> User | None:
    """Return the account that is connected with a person of the provider."""
    row = SocialAccount.objects.filter(provider=NAME, uid=subject).select_related("user").first()
    return row.user if row else None


def is_connected(user: User) -> bool:
    """Return whether an account signs in through the provider."""
    return bool(SocialAccount.objects.filter(provider=NAME, user=user).exists())


@transaction.atomic
def connect(user: User, subject: str) -> bool:
    """Connect an account with a person of the provider; False if either is already connected."""
    if is_connected(user) or account_of(subject) is not None:
        return False
    try:
        with transaction.atomic():
            SocialAccount.objects.create(provider=NAME, uid=subject, user=user, extra_data={})
    except IntegrityError:
        return False
    note(user, user, ChangeEntry.Action.CONNECTED)
    return True


@transaction.atomic
def disconnect(user: User) -> None:
    """End the connection of an account with the provider."""
    if SocialAccount.objects.filter(provider=NAME, user=user).delete()[0]:
        note(user, user, ChangeEntry.Action.DISCONNECTED)


@transaction.atomic
def make_account(claims: Mapping[str, Any]) -> User:
    """Make an account without password, under a name that nobody has, and connect it."""
    given = claims.get("preferred_username") or claims.get("email") or claims["sub"]
    base = User.normalize_username("".join(c for c in str(given) if c.isalnum() or c in "@.+-_"))
    base = base[:140] or "account"
    names = set(User.objects.filter(username__istartswith=base).values_list("username", flat=True))
    taken = {name.casefold() for name in names}
    tries = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 2))
    name = next(name for name in tries if name.casefold() not in taken)
    address = claims.get("email") if claims.get("email_verified") is True else ""
    user = User(username=name, email=str(address or "")[:254])
    user.set_unusable_password()
    user.save()
    SocialAccount.objects.create(provider=NAME, uid=str(claims["sub"]), user=user, extra_data={})
    note(user, user, ChangeEntry.Action.MADE)
    return user


@transaction.atomic
def set_roles(user: User, claims: Mapping[str, Any]) -> None:
    """Give an account the roles of its groups, where the settings name roles for groups.

    Roles that no group has in the settings stay as site admins gave them.
    """
    if not settings.OIDC_ROLES:
        return
    groups = _texts(claims.get(settings.OIDC_CLAIM))
    given = {role for group, role in settings.OIDC_ROLES.items() if group in groups}
    present = {group.name for group in user.groups.all()}
    wanted = (present - set(settings.OIDC_ROLES.values())) | given
    if wanted != present:
        user.groups.set(Group.objects.filter(name__in=wanted))
        note(user, user, ChangeEntry.Action.ROLES, ", ".join(sorted(wanted)) or "none")


def _texts(value: object) -> Sequence[str]:
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
