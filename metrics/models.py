"""Metric runs, and scores stored once per signature and content."""

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from annotation.models import System, TestSet
from metrics.registry import METRICS


class MetricSignature(models.Model):
    """A metric in the exact form that gave its scores.

    `measures` names the values of a score row, `statistics` the additive counts behind them from
    which a corpus score of any set of segments follows.
    """

    metric = models.CharField(max_length=60)
    signature = models.CharField(max_length=400, unique=True)
    measures = models.JSONField()
    statistics = models.JSONField(default=list)

    class Meta:
        ordering = ["metric", "signature"]

    def __str__(self) -> str:
        return self.signature


class SegmentScore(models.Model):
    """The score of one content under one signature.

    `values` packs the measures, then the statistics, as little-endian float64: exact, and read
    for 50,000 outputs at once without parsing. Rows are keyed by content, not by output, so a
    text that several systems or test sets share is scored once.
    """

    signature = models.ForeignKey(MetricSignature, models.CASCADE, related_name="scores")
    content_key = models.CharField(max_length=32)
    values = models.BinaryField()

    class Meta:
        ordering = ["signature", "content_key"]
        constraints = [
            models.UniqueConstraint(fields=["signature", "content_key"], name="segment_score_once"),
        ]

    def __str__(self) -> str:
        return f"{self.signature_id}:{self.content_key}"


class MetricRun(models.Model):
    """One metric over the outputs of some systems, worked off by whichever worker claims it.

    The row is the only truth about the run: pages and workers read and change nothing else.
    A claim is a random token; every write of a worker carries it and fails once it is lost.

    `total`, `done` and `reused` count contents, not outputs: a text that two systems share is one.
    `reused` of them had a score before the run began. `rate` is contents a second, lately.
    `requeue_at` is when a queued run that nobody took is handed to the broker again.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    ACTIVE = (Status.QUEUED, Status.RUNNING)

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="metric_runs")
    metric = models.CharField(max_length=60)
    systems = models.ManyToManyField(System, related_name="metric_runs")
    signature = models.ForeignKey(
        MetricSignature, models.PROTECT, null=True, blank=True, related_name="runs"
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    reused = models.PositiveIntegerField(default=0)
    rate = models.FloatField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.CharField(max_length=32, blank=True, default="")
    worker = models.CharField(max_length=200, blank=True, default="")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    requeue_at = models.DateTimeField(default=timezone.now)
    message = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["status", "heartbeat_at"], name="run_stale")]

    def __str__(self) -> str:
        return f"{self.metric} on {self.test_set_id}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def label(self) -> str:
        """The metric as people know it."""
        info, _ = METRICS.get(self.metric, (None, ""))
        return info.label if info else self.metric

    @property
    def queue(self) -> str:
        """The queue whose workers can run it."""
        info, _ = METRICS.get(self.metric, (None, ""))
        return info.queue if info else "cpu"

    @property
    def is_active(self) -> bool:
        """Whether a worker has or will have something to do here."""
        return self.status in self.ACTIVE

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the run is done at its present rate, where there is one."""
        return (self.total - self.done) / self.rate if self.rate else None

    @property
    def seconds_taken(self) -> float | None:
        """Seconds from the first claim to the end, where the run has ended."""
        if not (self.started_at and self.finished_at):
            return None
        return (self.finished_at - self.started_at).total_seconds()

    @property
    def average_rate(self) -> float | None:
        """Contents a second over a run that has ended, those reused not counted."""
        scored = self.done - self.reused
        return scored / self.seconds_taken if self.seconds_taken and scored > 0 else None
