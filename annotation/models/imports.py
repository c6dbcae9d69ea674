"""Imports of large files by a worker: what was sent, how far it has come, and the result."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from core.work.models import Work


class FileImport(Work):
    """Files that a worker reads, checks and stores.

    `door` names what they are imported as (`settings.IMPORT_DOORS`), and `choices` are what a
    person or program chose beside them, with `store` where nobody confirms what is found.
    The files wait in VAR_DIR under `held` until the import ends; `digest` is a hash of their
    contents and the choices. `done` of `total` rows have passed the `stage`. `report` lists the
    problems, and `stored` is what was stored, as `annotation.imports.background.Door` returned it.
    """

    class State(models.TextChoices):
        CHECKING = "checking", _("Being checked")
        CHECKED = "checked", _("Checked")
        STORING = "storing", _("Being stored")
        STORED = "stored", _("Stored")
        REFUSED = "refused", _("Refused")
        CANCELLED = "cancelled", _("Cancelled")

    WAITING = (State.CHECKING, State.STORING)
    OPEN = (*WAITING, State.CHECKED)

    door = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    held = models.JSONField(default=dict)
    choices = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.CHECKING)
    stage = models.CharField(max_length=20, blank=True, default="")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=list)
    stored = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["created_by", "door", "digest"],
                condition=Q(state__in=["checking", "checked", "storing"]),
                name="same_files_imported_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("file-import", args=[self.pk])

    @property
    def is_waiting(self) -> bool:
        """Whether a worker has something to do."""
        return self.state in self.WAITING


class SiteMark(models.Model):
    """The one row that names the folder of uploads which all web hosts share.

    The folder has the same text in a file, so that a host with another folder notices
    (`config.checks`).
    """

    mark = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.mark
