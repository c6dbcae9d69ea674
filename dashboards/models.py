"""Computed documents of the pages. Everything here can be computed again."""

from django.db import models

from annotation.models import Campaign


class Analysis(models.Model):
    """One kind of analysis of a campaign under some filters, for one state of the data.

    What readers state themselves is analysed without a campaign.

    `state` is a hash of all that the numbers rest on, so a row never becomes wrong, only old.
    `payload` is the compressed JSON document, empty while it is waited for.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    kind = models.CharField(max_length=40)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="analyses", null=True)
    filters = models.JSONField(default=dict)
    question = models.CharField(max_length=64)
    state = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    payload = models.BinaryField(default=b"")
    message = models.TextField(blank=True)
    seconds = models.FloatField(null=True, blank=True)
    requested_at = models.DateTimeField(auto_now_add=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["question", "state"], name="analysis_once"),
        ]
        indexes = [models.Index(fields=["status", "requested_at"], name="analysis_waiting")]

    def __str__(self) -> str:
        return f"{self.kind} of campaign {self.campaign_id or 'none'}"
