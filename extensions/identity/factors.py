"""Second factors of an account: authenticator apps, security keys and recovery codes.

Rows and protocols are allauth's; recovery codes are our own, because allauth stores what they are
made from. Secrets of apps are stored encrypted with SECRET_KEY, and of recovery codes only hashes.
A code is accepted once: the row remembers the last time step, for all processes together.
"""

import base64
import json
import re
import secrets
from hmac import compare_digest
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.internal import auth as webauthn
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from annotation.accounts.managing import note
from annotation.models import ChangeEntry
from annotation.models.people import hash_token
from metaeval.messages import message

Type = Authenticator.Type
Action = ChangeEntry.Action
FACTORS = (Type.TOTP, Type.WEBAUTHN)
APP, KEY = "authenticator app", "security key"
# 116 bits each: more than 112 need no salt and no slow hash (ASVS 5.0, 6.5.2).
N_CODES, DIGITS = 10, 35
HASHES = "hashes"


class Adapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypt what allauth would store as it is."""

    def encrypt(self, text: str) -> str:
        """Return a text for the database."""
        return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a secret; raises InvalidToken after a change of SECRET_KEY."""
        return _cipher(settings.SECRET_KEY).decrypt(encrypted_text.encode()).decode()


def _cipher(secret: str) -> Fernet:
    key = salted_hmac("extensions.identity.factors", "", secret=secret, algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))


def has_factor(user: Any) -> bool:
    """Return whether an account signs in with a second factor."""
    return bool(Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS).exists())


def has_key(user: User) -> bool:
    """Return whether an account has a security key."""
    return bool(Authenticator.objects.filter(user=user, type=Type.WEBAUTHN).exists())


def factors_of(user: User) -> list[Authenticator]:
    """Return the factors of an account, the oldest first, without its recovery codes."""
    return list(Authenticator.objects.filter(user=user, type__in=FACTORS).order_by("pk"))


def n_recovery_codes(user: User) -> int:
    """Return how many recovery codes are left."""
    row = Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).first()
    return len(row.data.get(HASHES, ())) if row else 0


@transaction.atomic
def check_code(user: User, code: str) -> bool:
    """Return whether a code of an app or a recovery code is right, and use it up."""
    # However its groups were written down.
    code = re.sub(r"[\s-]", "", code)
    rows = Authenticator.objects.select_for_update().filter(user=user).order_by("pk")
    for row in rows.exclude(type=Type.WEBAUTHN):
        try:
            is_right = _is_next(row, code) if row.type == Type.TOTP else _recovers(row, code)
        except InvalidToken:
            continue
        if is_right:
            row.refresh_from_db(fields=["data"])
            row.record_usage()
            return True
    return False


def _is_next(row: Authenticator, code: str) -> bool:
    """Return whether a code is that of a time step after the last used one (RFC 6238, 5.2)."""
    secret = totp.decrypt(row.data["secret"])
    step = matching_step(secret, code, after=row.data.get("step", -1))
    if step is None:
        return False
    row.data["step"] = step
    row.save(update_fields=["data"])
    return True


def _recovers(row: Authenticator, code: str) -> bool:
    """Return whether a recovery code is right, and remove it."""
    left = list(row.data.get(HASHES, ()))
    if (given := hash_token(code)) not in left:
        return False
    left.remove(given)
    row.data[HASHES] = left
    row.save(update_fields=["data"])
    return True


def matching_step(secret: str, code: str, *, after: int = -1) -> int | None:
    """Return the time step of a code: the present one, or one beside it."""
    for step in totp.yield_hotp_counters_from_time():
        expected = totp.format_hotp_value(totp.hotp_value(secret, step))
        if step > after and compare_digest(expected.encode(), code.encode()):
            return int(step)
    return None


@transaction.atomic
def add_app(user: User, secret: str, code: str) -> list[str] | None:
    """Add an authenticator app whose code is right; return new recovery codes, None if it is not.

    An account has one app: a second one takes the place of the first.
    """
    step = matching_step(secret, "".join(code.split()))
    if step is None:
        return None
    Authenticator.objects.filter(user=user, type=Type.TOTP).delete()
    row = totp.TOTP.activate(user, secret).instance
    row.data["step"] = step
    row.save(update_fields=["data"])
    note(user, user, Action.FACTOR_ADDED, APP)
    return first_codes(user)


@transaction.atomic
def add_key(user: User, name: str, credential: dict[str, Any]) -> list[str]:
    """Add a security key that answered; raises ValidationError for a wrong answer."""
    try:
        webauthn.complete_registration(credential)
    except (TypeError, KeyError, AttributeError) as error:
        raise wrong_key() from error
    webauthn.WebAuthn.add(user, name, credential)
    note(user, user, Action.FACTOR_ADDED, KEY)
    return first_codes(user)


@transaction.atomic
def check_key(user: User, credential: dict[str, Any]) -> bool:
    """Return whether a security key of the account signed the challenge of this session."""
    try:
        row = webauthn.complete_authentication(user, credential)
    except (ValidationError, TypeError, KeyError, AttributeError, ValueError):
        return False
    row.record_usage()
    return True


def read_credential(text: str) -> dict[str, Any]:
    """Return what a browser sent of a security key as JSON; {} for anything else."""
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    return given if isinstance(given, dict) else {}


def wrong_key() -> ValidationError:
    """Return the error for a key that did not answer as asked."""
    text = message("factor.key", "The security key gave no valid answer. Try again.")
    return ValidationError([text])


def first_codes(user: User) -> list[str]:
    """Return the recovery codes that come with the first factor; none with others."""
    has_codes = Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).exists()
    return [] if has_codes else new_codes(user)


@transaction.atomic
def new_codes(user: User) -> list[str]:
    """Make new recovery codes, shown now and never again; older ones stop working."""
    Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).delete()
    codes = [f"{secrets.randbelow(10**DIGITS):0{DIGITS}}" for _ in range(N_CODES)]
    data = {HASHES: [hash_token(code) for code in codes]}
    try:
        with transaction.atomic():
            Authenticator.objects.create(user=user, type=Type.RECOVERY_CODES, data=data)
    except IntegrityError:  # made at the same time in another window, which shows them
        return []
    # In groups, to be read and typed.
    return [" ".join(code[n : n + 5] for n in range(0, DIGITS, 5)) for code in codes]


@transaction.atomic
def remove(actor: User, user: User, pk: int | None = None) -> int:
    """Remove one factor of an account, or all; recovery codes go with the last one."""
    rows = Authenticator.objects.filter(user=user, type__in=FACTORS)
    chosen = list(rows if pk is None else rows.filter(pk=pk))
    for row in chosen:
        note(actor, user, Action.FACTOR_REMOVED, APP if row.type == Type.TOTP else KEY)
        row.delete()
    if not rows.all().exists():
        Authenticator.objects.filter(user=user).delete()
    return len(chosen)
