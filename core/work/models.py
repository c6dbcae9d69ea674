"""A piece of work as a row: what becomes of it, who has it in hand and until when."""

from django.db import models
from django.db.models.functions import Now as DatabaseNow


class Work(models.Model):
    """What a worker is to do once. Times are the database's own.

    `owner` names the claim on a running row, which ends at `expires_at` unless its process beats.
    `requires` is what a worker must have (:meth:`core.work.kinds.Kind.serves`); a larger
    `priority` goes first. `sent_at` is when Celery last got a message for it.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    ACTIVE = (Status.QUEUED, Status.RUNNING)

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    queue = models.CharField(max_length=60, default="cpu")
    priority = models.SmallIntegerField(default=0)
    requires = models.CharField(max_length=200, blank=True, default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    owner = models.CharField(max_length=60, blank=True, default="")
    not_before = models.DateTimeField(db_default=DatabaseNow())
    expires_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True, default="")

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Whether a worker has or will have something to do here."""
        return self.status in self.ACTIVE
