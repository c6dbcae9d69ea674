"""What came of loading metrics: their signatures, and what hosts could not load."""

from django.db import models
from django.db.models.functions import Now

from core.messages import MessageField
from metrics.models.scores import MetricSignature


class Loading(models.Model):
    """What a host found when it loaded a metric: its signature, or the problem that kept it.

    `key` changes with all that a signature depends on, see :mod:`metrics.workers.signatures`. A
    problem is held against the host `until` it may try again.
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
