"""Results of loading metrics: signatures, and metrics that hosts could not load."""

from django.db import models
from django.db.models.functions import Now

from core.messages import MessageField
from core.work.models import Work
from metrics.models.scores import MetricSignature

# Comparisons of checkpoints with their hashes, requested on pages.


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


class Loading(models.Model):
    """The result of loading a metric on a host: its signature, or the problem.

    `key` changes with everything that a signature depends on (:mod:`metrics.workers.signatures`).
    After a problem the host does not try again before `until`.
    """

    key = models.CharField(max_length=64)
    host = models.CharField(max_length=200)
    metric = models.CharField(max_length=60)
    signature = models.ForeignKey(
        MetricSignature, models.CASCADE, null=True, blank=True, related_name="+"
    )
    problem = MessageField(blank=True)
    until = models.DateTimeField(null=True, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["metric", "host", "-at"]
        constraints = [
            models.UniqueConstraint(fields=["key", "host", "metric"], name="loading_once"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} on {self.host}"
