"""Changes of accounts by site admins, and setting a password by a link; each is logged."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.access import ADMIN
from annotation.models import AccountLink, ChangeEntry
from annotation.models.people import hash_token, new_token
from metaeval.messages import message

Action = ChangeEntry.Action
INVITATION, RESET = timedelta(days=7), timedelta(days=1)
NOT_YOURS = message("accounts.superuser", "Only superusers may change the account of a superuser.")
NOT_YOURSELF = message(
    "accounts.yourself", "You cannot remove your own access: ask another site admin."
)
INACTIVE = message("accounts.inactive", "This account is deactivated. Activate it first.")


def managed() -> QuerySet[User]:
    """Return the accounts of people, without those that personal and access links made."""
    of_links = Q(password__startswith=UNUSABLE_PASSWORD_PREFIX, account_link=None)
    if settings.IDENTITY:
        of_links &= Q(socialaccount=None)
    rows = User.objects.exclude(of_links & Q(annotators__isnull=False))
    return rows.prefetch_related("groups").order_by("username").distinct()


@transaction.atomic
def invite(*, actor: User, username: str, email: str, roles: Sequence[str]) -> tuple[User, str]:
    """Make an account, and return the token of the link by which its password is set."""
    user = User(username=username, email=email)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    user.groups.set(Group.objects.filter(name__in=roles))
    note(actor, user, Action.INVITED, ", ".join(sorted(roles)))
    return user, _link(user, INVITATION)


@transaction.atomic
def reset(*, actor: User, user: User) -> str:
    """Return the token of a link that sets a new password; an older link stops working.

    The current password works until then.
    """
    check_may_link(actor, user)
    note(actor, user, Action.LINKED)
    return _link(user, RESET if user.has_usable_password() else INVITATION)


def check_may_link(actor: User, user: User) -> None:
    """Raise PermissionDenied or ValidationError unless `actor` may make a link for an account."""
    check_may_change(actor, user)
    if not user.is_active:
        raise ValidationError([INACTIVE])


def _link(user: User, lasts: timedelta) -> str:
    token, hashed = new_token()
    AccountLink.objects.update_or_create(
        user=user, defaults={"token_hash": hashed, "expires_at": timezone.now() + lasts}
    )
    return token


def find_link(token: str, *, lock: bool = False) -> AccountLink | None:
    """Return the valid link of a token; `lock` it in a transaction."""
    rows = AccountLink.objects.filter(token_hash=hash_token(token), user__is_active=True)
    rows = rows.filter(expires_at__gt=timezone.now())
    return (rows.select_for_update(of=("self",)) if lock else rows.select_related("user")).first()


def enter(link: AccountLink, password: str) -> User:
    """Set a checked password, once; call it in a transaction that locks the link."""
    user = link.user
    user.set_password(password)
    user.save(update_fields=["password"])
    link.delete()
    user.sign_ins.all().delete()
    note(user, user, Action.ENTERED)
    return user


@transaction.atomic
def set_roles(*, actor: User, user: User, roles: Sequence[str]) -> None:
    """Give an account these roles and no others."""
    check_may_change(actor, user)
    if user == actor and not actor.is_superuser and ADMIN not in roles:
        raise ValidationError([NOT_YOURSELF])
    if set(roles) != {group.name for group in user.groups.all()}:
        user.groups.set(Group.objects.filter(name__in=roles))
        note(actor, user, Action.ROLES, ", ".join(sorted(roles)) or "none")


@transaction.atomic
def set_active(*, actor: User, user: User, is_active: bool) -> None:
    """Activate or deactivate an account; deactivating it signs its user out at once.

    All that the account made and judged stays.
    """
    check_may_change(actor, user)
    if user == actor:
        raise ValidationError([NOT_YOURSELF])
    if user.is_active != is_active:
        user.is_active = is_active
        user.save(update_fields=["is_active"])
        AccountLink.objects.filter(user=user).delete()
        user.sign_ins.all().delete()
        note(actor, user, Action.ACTIVATED if is_active else Action.DEACTIVATED)


@transaction.atomic
def sign_out(*, actor: User, user: User) -> int:
    """End all sessions of an account that began with a password; return how many there were."""
    check_may_change(actor, user)
    ended, _rows = user.sign_ins.all().delete()
    if ended:
        note(actor, user, Action.SIGNED_OUT)
    return ended


def check_may_change(actor: User, user: User) -> None:
    """Raise PermissionDenied unless `actor` may change an account."""
    if user.is_superuser and not actor.is_superuser:
        raise PermissionDenied(NOT_YOURS)


def note(actor: User, user: User, action: str, reason: Any = "") -> None:
    """Record a change of an account; the reason is a text or a message."""
    ChangeEntry.objects.create(
        actor=actor, actor_name=actor.get_username(), action=action, kind="account",
        key=str(user.pk), name=user.get_username(), reason=reason,
    )  # fmt: skip
