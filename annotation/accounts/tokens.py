"""Tokens by which programs act as an account: make, find and revoke them."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.accounts.managing import Action, note
from annotation.models import ApiToken
from annotation.models.people import hash_token, new_token

# Scanners of secrets and `config.redaction` recognise tokens by this.
PREFIX = "touchstone_"
# `last_used_at` is exact to this; a program that reads page after page writes nothing else.
PRECISION = timedelta(minutes=1)


@transaction.atomic
def make(*, user: User, name: str, scopes: Sequence[str], days: int) -> str:
    """Make a token, and return it: only its hash is stored."""
    secret, _hash = new_token()
    token = PREFIX + secret
    ApiToken.objects.create(
        user=user, name=name, scopes=list(scopes), token_hash=hash_token(token),
        expires_at=timezone.now() + timedelta(days=days),
    )  # fmt: skip
    note(user, user, Action.TOKEN_MADE, f"{name}: {', '.join(scopes)}")
    return token


def find(token: str) -> ApiToken | None:
    """Return a valid token of an active account, and record its use."""
    now = timezone.now()
    rows = ApiToken.objects.select_related("user").filter(user__is_active=True, revoked_at=None)
    found = rows.filter(token_hash=hash_token(token), expires_at__gt=now).first()
    if found is not None and (not found.last_used_at or found.last_used_at < now - PRECISION):
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found


@transaction.atomic
def revoke(*, user: User, pk: int) -> bool:
    """Revoke one's own token; return False if there is none that still works."""
    rows = ApiToken.objects.filter(user=user, pk=pk, revoked_at=None)
    found = rows.first()
    if found is None:
        return False
    rows.update(revoked_at=timezone.now())
    note(user, user, Action.TOKEN_REVOKED, found.name)
    return True
