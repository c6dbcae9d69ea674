"""Comparisons of checkpoints with their hashes, requested on pages."""

from django.db import models

from core.work.models import Work


class HashCheck(Work):
    """A comparison of a checkpoint's files on one host with their known hashes.

    `requires` names the host. `problems` are those of the last comparison, at `checked_at`; they
    are valid as long as the files have the same `size`.
    """

    host = models.CharField(max_length=200)
    checkpoint = models.CharField(max_length=500)
    problems = models.JSONField(default=list)
    size = models.PositiveBigIntegerField(null=True)
    checked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "checkpoint"], name="hash_check_once")
        ]

    def __str__(self) -> str:
        return f"{self.checkpoint} on {self.host}"
