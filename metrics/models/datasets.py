"""Imports of whole sets by a worker: what was sent, its content, and the result."""

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from core.work.models import Work


class DatasetImport(Work):
    """An uploaded folder, or a published set on the server, that is being imported.

    If a person confirms the content, the work is done twice: it is checked, and then stored.
    `content` is the uploaded archive, emptied when the import has ended, and `choice` the part to
    import. `report` lists the problems (`Problem.as_json`), `found` is what would be stored,
    `stored` what was stored.
    """

    class State(models.TextChoices):
        CHECKING = "checking", _("Being checked")
        CHECKED = "checked", _("Checked")
        STORING = "storing", _("Being stored")
        STORED = "stored", _("Stored")
        REFUSED = "refused", _("Refused")
        EXPIRED = "expired", _("Expired")

    WAITING = (State.CHECKING, State.STORING)

    name = models.CharField(max_length=200)
    dataset = models.CharField(max_length=80, blank=True, default="")
    content = models.BinaryField(default=bytes)
    choice = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.CHECKING)
    report = models.JSONField(default=list)
    found = models.JSONField(default=dict)
    stored = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("dataset-import", args=[self.pk])

    @property
    def is_waiting(self) -> bool:
        """Whether a worker has something to do."""
        return self.state in self.WAITING
