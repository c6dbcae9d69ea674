"""Manage stored test sets: who may add to them, who owns them, which systems are human."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.access import is_admin
from annotation.models import AuditEntry, Segment, System, TestSet, TestSetShare
from metaeval.messages import message


def sizes() -> dict[str, Coalesce]:
    """Return columns of test sets: `n_segments` and `n_systems`, each counted for itself."""
    return {
        f"n_{name}": Coalesce(
            Subquery(
                rows.filter(test_set=OuterRef("pk"))
                .order_by()
                .values("test_set")
                .values(n=Count("pk"))
            ),
            0,
        )
        for name, rows in (("segments", Segment.objects), ("systems", System.objects))
    }


@transaction.atomic
def share(*, test_set: TestSet, username: str, actor: User) -> None:
    """Let an account add to a test set; do nothing if it may already.

    Raises ValidationError for an unknown account or one that may not upload.
    """
    user = _uploader(username)
    if user.pk == test_set.created_by_id:
        return
    _shared, is_new = TestSetShare.objects.get_or_create(test_set=test_set, user=user)
    if is_new:
        _note(test_set, actor, "test set shared", account=user.get_username())


@transaction.atomic
def unshare(*, shared: TestSetShare, actor: User) -> None:
    """Stop sharing a test set with an account; what it added stays."""
    account = shared.user.get_username()
    _note(shared.test_set, actor, "test set shared no more", account=account)
    shared.delete()


@transaction.atomic
def set_owner(*, test_set: TestSet, username: str, actor: User) -> None:
    """Give a test set another owner, or its first. Raises ValidationError as `share` does."""
    user = _uploader(username)
    locked = TestSet.objects.select_for_update().get(pk=test_set.pk)
    if locked.created_by_id == user.pk:
        return
    before = locked.created_by.get_username() if locked.created_by else None
    TestSet.objects.filter(pk=test_set.pk).update(created_by=user)
    TestSetShare.objects.filter(test_set=test_set, user=user).delete()
    _note(test_set, actor, "test set owner set", account=user.get_username(), before=before)


def _uploader(username: str) -> User:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        refusal = message(
            "account.unknown", "There is no account named “{account}”.", account=username
        )
        raise ValidationError({"username": [refusal]})
    if not is_admin(user):
        refusal = message(
            "account.no-uploads",
            "“{account}” may not upload. A site admin must first give the account the role "
            "campaign admin.",
            account=username,
        )
        raise ValidationError({"username": [refusal]})
    return user


def _note(test_set: TestSet, actor: User, action: str, **details: str | None) -> None:
    AuditEntry.objects.create(test_set=test_set, actor=actor, action=action, details=details)


NOT_YOURS = message(
    "test-set.humans-not-yours",
    "Only the owner of a test set and site admins decide which of its systems are human.",
)


@transaction.atomic
def set_human(*, system: System, is_human: bool, actor: User) -> bool:
    """Mark a system as a human translation or as MT; return whether that changed anything.

    Correlations of metrics are computed again; texts, judgments and scores stay.
    """
    locked = System.objects.select_for_update().get(pk=system.pk)
    if locked.is_human == is_human:
        return False
    System.objects.filter(pk=system.pk).update(is_human=is_human)
    AuditEntry.objects.create(
        test_set=locked.test_set,
        actor=actor,
        action="marked as human translation" if is_human else "marked as MT system",
        details={"system": locked.name, "length_ratio": str(locked.length_ratio)},
    )
    return True
