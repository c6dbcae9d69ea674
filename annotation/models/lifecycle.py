"""What became of things: put away and brought back, renamed, copied, deleted."""

from typing import TypeVar

from django.conf import settings
from django.db import models
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from core.messages import MessageField

M = TypeVar("M", bound=models.Model)


class Archived(models.Model):
    """An archived object: lists do not show it, its pages stay, and it can be restored.

    `model` is the label of its model, `object_id` its primary key.
    """

    model = models.CharField(max_length=60)
    object_id = models.BigIntegerField()
    archived_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    archived_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "object_id"], name="archived_once"),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.object_id}"


class ChangeEntry(models.Model):
    """Who did what to which thing or account, and when; it outlives the thing. Only ever added.

    `kind`, `key` and `name` say what it was called, `counts` what went or came with it by its name.
    """

    class Action(models.TextChoices):
        ARCHIVED = "archived", _("Archived")
        RESTORED = "restored", _("Restored")
        RENAMED = "renamed", _("Renamed")
        COPIED = "copied", _("Copied")
        DELETED = "deleted", _("Deleted")
        INVITED = "invited", _("Invited")
        LINKED = "linked", _("Given a link to set a password")
        ENTERED = "entered", _("Set a password by a link")
        ROLES = "roles", _("Given roles")
        DEACTIVATED = "deactivated", _("Deactivated")
        ACTIVATED = "activated", _("Activated")
        SIGNED_OUT = "signed out", _("Signed out everywhere")
        EXPORTED = "exported", _("Personal data exported")
        ERASED = "erased", _("Personal data erased")
        TOKEN_MADE = "token made", _("Made a token for programs")
        TOKEN_REVOKED = "token revoked", _("Revoked a token for programs")
        MADE = "made", _("Made at the first sign-in through the provider")
        CONNECTED = "connected", _("Connected with the provider")
        DISCONNECTED = "disconnected", _("Disconnected from the provider")
        FACTOR_ADDED = "factor added", _("Second factor added")
        FACTOR_REMOVED = "factor removed", _("Second factor removed")

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    actor_name = models.CharField(max_length=150, blank=True)
    action = models.CharField(max_length=20, choices=Action.choices)
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=120)
    name = models.CharField(max_length=200)
    counts = models.JSONField(default=dict)
    reason = MessageField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} {self.action}"


def listed(rows: QuerySet[M]) -> QuerySet[M]:
    """Return the rows that are not archived."""
    archived = Archived.objects.filter(model=rows.model._meta.label_lower)
    return rows.exclude(pk__in=archived.values("object_id"))


def is_archived(thing: models.Model) -> bool:
    """Return whether an object is archived, so that lists do not show it."""
    label = thing._meta.label_lower
    return Archived.objects.filter(model=label, object_id=thing.pk).exists()
