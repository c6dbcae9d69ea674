"""The mark of human translations among a test set's systems, changed by the set's owner."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import AuditEntry, System

NOT_YOURS = "Only the owner of a test set and site admins say which of its systems are human."


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
