"""Metric runs: what to score, and which workers score which part."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.functional import cached_property

from annotation.models import Output, System, TestSet
from core.messages import MessageField
from core.work.models import Work
from metaeval.messages import Message, message
from metrics.base import MetricInfo
from metrics.models.catalogue import find_info
from metrics.models.scores import MetricSignature

LOST = message("run.worker-state-lost", "stopped responding")
SCORING = message("run.worker-state-scoring", "scoring")
FINISHED = message("run.worker-state-finished", "finished")


class MetricRun(models.Model):
    """One metric over the outputs of some systems, scored by any number of workers.

    The state of a run is in rows only: this one, its plan, its slices and its workers.

    `total`, `done`, `reused` and `failed` count contents, not outputs: a text that two systems
    share counts once. `reused` of those done had a score before the run began, or got it from
    another run meanwhile; those `failed` are in `failed_texts`. `rate` is the recent contents per
    second of all workers together; `worker` took a slice last, and `heartbeat_at` is the last
    activity. `remarks` are the metric's warnings, each with its number of texts.
    """

    Status = Work.Status
    ACTIVE = Work.ACTIVE

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
    failed = models.PositiveIntegerField(default=0)
    rate = models.FloatField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True, default="")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    message = MessageField(blank=True)
    remarks = models.JSONField(default=dict, blank=True)
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
        """The label of the metric."""
        return self.info.label if self.info else self.metric

    @property
    def queue(self) -> str:
        """The queue whose workers can run it."""
        return self.info.queue if self.info else "cpu"

    @cached_property
    def info(self) -> MetricInfo | None:
        """The description of the metric; None if it no longer exists."""
        return find_info(self.metric)

    @property
    def is_active(self) -> bool:
        """Return True if the run waits or is being scored."""
        return self.status in self.ACTIVE

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the run is done at its present rate; None without a rate."""
        return self.left / self.rate if self.rate else None

    @property
    def left(self) -> int:
        """The number of contents that neither have a score nor failed."""
        return max(0, self.total - self.done - self.failed)

    @property
    def seconds_taken(self) -> float | None:
        """Seconds from the first claim to the end; None before the end."""
        if not (self.started_at and self.finished_at):
            return None
        return (self.finished_at - self.started_at).total_seconds()

    @property
    def average_rate(self) -> float | None:
        """Contents per second over a run that has ended, without reused ones."""
        scored = self.done - self.reused
        return scored / self.seconds_taken if self.seconds_taken and scored > 0 else None


class RunPlan(models.Model):
    """What a run has to score, as its first worker planned it.

    `output_ids` packs one output for each content without a score, as little-endian int64.
    """

    run = models.OneToOneField(MetricRun, models.CASCADE, primary_key=True, related_name="plan")
    output_ids = models.BinaryField()

    def __str__(self) -> str:
        return f"plan of run {self.run_id}"


class RunWorker(models.Model):
    """A worker's part in a run: what it scored, on which device, and whether it responds.

    `process` distinguishes two processes of one name. `seconds` is its busy time, `rate` its recent
    contents per second. `peak_bytes` is that of its process, `device_peak_bytes` that of its GPU,
    `builds` is from `workers.builds`. `is_lost` marks a worker that stopped responding.
    """

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="workers")
    name = models.CharField(max_length=200)
    process = models.CharField(max_length=32)
    host = models.CharField(max_length=200)
    device = models.CharField(max_length=120, blank=True)
    precision = models.CharField(max_length=40, blank=True)
    batch = models.CharField(max_length=40, blank=True)
    segments = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    rate = models.FloatField(null=True, blank=True)
    peak_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    device_peak_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    builds = models.JSONField(default=dict)
    joined_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    is_lost = models.BooleanField(default=False)

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name", "process"], name="run_worker_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} on run {self.run_id}"

    @property
    def average_rate(self) -> float | None:
        """Contents per second over its busy time."""
        return self.segments / self.seconds if self.segments and self.seconds else None

    @property
    def state(self) -> Message:
        """Its current activity."""
        if self.is_lost:
            return LOST
        running = any(each.status == Work.Status.RUNNING for each in self.slices.all())
        return SCORING if running else FINISHED


class Slice(Work):
    """A part of a plan that waits or is being scored; one that is done has no row.

    Size 0 is the planning of the run. While `is_loading`, its worker has not loaded the metric
    yet, so errors are not those of the texts.
    """

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="slices")
    worker = models.ForeignKey(
        RunWorker, models.SET_NULL, null=True, blank=True, related_name="slices"
    )
    first = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(default=0)
    is_loading = models.BooleanField(default=False)

    class Meta:
        ordering = ["run", "first"]

    def __str__(self) -> str:
        return f"{self.first}+{self.size} of run {self.run_id}"


class FailedText(models.Model):
    """A text that failed alone after `attempts` attempts; the run continued without it."""

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="failed_texts")
    output = models.ForeignKey(Output, models.CASCADE, related_name="+")
    error = MessageField()
    attempts = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "output"], name="failed_text_once"),
        ]

    def __str__(self) -> str:
        return f"output {self.output_id} in run {self.run_id}"
