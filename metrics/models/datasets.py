"""Imports of whole sets that wait for a worker: what was sent, what it holds, what became of it."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from core.work.models import Work


class DatasetImport(Work):
    """A folder that was sent, or a published set on the server, on its way into the tables.

    Work that is done twice where somebody looks in between: checked, and then stored. The web
    process keeps what was sent in `content`, an archive, and shows the row. `choice` is what a
    person wants of it. `report` lists errors, warnings and notes as [severity, message, [file, row,
    field]], `found` says what would be stored, `stored` what was. `content` is emptied where the
    import has ended.
    """

    class State(models.TextChoices):
        CHECKING = "checking", "Being checked"
        CHECKED = "checked", "Checked"
        STORING = "storing", "Being stored"
        STORED = "stored", "Stored"
        REFUSED = "refused", "Refused"
        EXPIRED = "expired", "Expired"

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
