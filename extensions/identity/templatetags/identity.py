"""What pages of the core show of this extension."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.conf import settings

from extensions.identity import factors, provider

register = template.Library()


@dataclass(frozen=True)
class Ways:
    """How an account signs in; `provider` is its name, empty without one."""

    has_factors: bool
    n_factors: int
    provider: str
    is_connected: bool
    has_password: bool


@register.simple_tag
def provider_name() -> str:
    """Return the name of the provider, empty without one."""
    return str(settings.OIDC_NAME) if settings.OIDC_ISSUER else ""


@register.simple_tag
def sign_in_ways(user: Any) -> Ways:
    """Return how an account signs in."""
    return Ways(
        has_factors=settings.SECOND_FACTOR != "no",
        n_factors=len(factors.factors_of(user)),
        provider=provider_name(),
        is_connected=bool(settings.OIDC_ISSUER) and provider.is_connected(user),
        has_password=user.has_usable_password(),
    )
