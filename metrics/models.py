"""Metric runs, and scores stored once per signature and content."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from annotation.models import System, TestSet
from metrics.base import MetricInfo
from metrics.registry import METRICS


class ConfiguredMetric(models.Model):
    """A metric that an admin or a training run added: a family of the registry with its options.

    `description` holds the fields of its :class:`MetricInfo` as they were made, so that scores
    stay readable where the checkpoint is not. Rows are never changed, only retired.
    """

    name = models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(r"^[a-z0-9][a-z0-9+.-]*$", "Use a–z, 0–9, + . - for the name.")],
    )
    label = models.CharField(max_length=80)
    family = models.CharField(max_length=40)
    description = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["family", "label", "name"]

    def __str__(self) -> str:
        return self.label

    @property
    def info(self) -> MetricInfo:
        """The description as every metric has one."""
        fields = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in self.description.items()
        }
        return MetricInfo(**fields | {"options": tuple(self.description["options"].items())})


def find_info(name: str) -> MetricInfo | None:
    """Return the description of a metric, retired or not; None where nobody knows it."""
    if name in METRICS:
        return METRICS[name][0]
    row = ConfiguredMetric.objects.filter(name=name).first()
    return row.info if row else None


class MetricSignature(models.Model):
    """A metric in the exact form that gave its scores.

    `measures` names the values of a score row, `statistics` the additive counts behind them from
    which a corpus score of any set of segments follows.
    """

    metric = models.CharField(max_length=60)
    signature = models.CharField(max_length=1000, unique=True)
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


class ImportedScores(models.Model):
    """One system's scores under the signature of an import, of outputs and of the whole system.

    Kept by system and segment, not by content: scores that were computed elsewhere may differ where
    texts are equal (metrics of documents, random controls), and test sets may have no texts.
    `segments` packs ids in ascending order as int64, `values` their scores as float64, both
    little-endian; `value` is the score of the system as a whole, where that was imported.
    """

    signature = models.ForeignKey(MetricSignature, models.CASCADE, related_name="imported")
    system = models.ForeignKey(System, models.CASCADE, related_name="imported_scores")
    value = models.FloatField(null=True, blank=True)
    segments = models.BinaryField(default=bytes)
    values = models.BinaryField(default=bytes)

    class Meta:
        ordering = ["signature", "system"]
        constraints = [
            models.UniqueConstraint(fields=["signature", "system"], name="imported_system_once"),
        ]

    def __str__(self) -> str:
        return f"{self.signature_id}:{self.system_id}"


class MetricImport(models.Model):
    """Scores of one metric on one test set that came from elsewhere, as one import left them.

    `signature` stands for every score that the metric then had on the test set. Of the imports
    that are not withdrawn the newest is shown. Rows are never changed but for being withdrawn.
    `provenance` says in words whence the scores came, `files` their names and SHA-256.
    """

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="metric_imports")
    metric = models.CharField(max_length=60)
    signature = models.ForeignKey(MetricSignature, models.PROTECT, related_name="imports")
    provenance = models.TextField(blank=True)
    files = models.JSONField(default=list)
    n_outputs = models.PositiveIntegerField()
    n_systems = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["test_set", "metric", "id"]
        indexes = [models.Index(fields=["metric"], name="metric_import_of_metric")]

    def __str__(self) -> str:
        return f"{self.metric} on {self.test_set_id}"


class MetricRun(models.Model):
    """One metric over the outputs of some systems, shared by all workers that take part.

    Rows are the only truth about a run: this one, its plan, its leases and its workers.
    `cursor` is how far the plan of `planned` outputs is handed out, -1 before anybody makes it.

    `total`, `done` and `reused` count contents, not outputs: a text that two systems share is one.
    `reused` of them had a score before the run began, or got it from another run meanwhile.
    `rate` is contents a second, lately, of all workers together; `worker` took work last.
    A queued run is for workers from `requeue_at` on.
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
    planned = models.PositiveIntegerField(default=0)
    cursor = models.IntegerField(default=-1)
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
        return self.info.label if self.info else self.metric

    @property
    def queue(self) -> str:
        """The queue whose workers can run it."""
        return self.info.queue if self.info else "cpu"

    @cached_property
    def info(self) -> MetricInfo | None:
        """The description of the metric; None where nobody knows it any more."""
        return find_info(self.metric)

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


class RunPlan(models.Model):
    """What a run has to score, as its first worker found it.

    `output_ids` packs one output for each content without a score, as little-endian int64.
    """

    run = models.OneToOneField(MetricRun, models.CASCADE, primary_key=True, related_name="plan")
    output_ids = models.BinaryField()

    def __str__(self) -> str:
        return f"plan of run {self.run_id}"


class RunWorker(models.Model):
    """A worker's part in a run: what it did, on what, and whether it is still there.

    `process` tells two processes of one name apart. `seconds` are those it was busy, `rate` is
    contents a second, lately. `peak_bytes` is of its process, `device_peak_bytes` of its GPU,
    `builds` what `metrics.builds` says. `is_lost` marks one that fell silent; it has then left.
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
    left_at = models.DateTimeField(null=True, blank=True)
    is_lost = models.BooleanField(default=False)

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name", "process"], name="run_worker_once"),
        ]
        indexes = [
            models.Index(
                fields=["seen_at"], condition=models.Q(left_at=None), name="run_worker_there"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} on run {self.run_id}"

    @property
    def average_rate(self) -> float | None:
        """Contents a second over the time it was busy."""
        return self.segments / self.seconds if self.segments and self.seconds else None

    @property
    def state(self) -> str:
        """What it is doing, in a word or two."""
        if self.is_lost:
            return "stopped answering"
        return "left" if self.left_at or not self.run.is_active else "at work"


class Lease(models.Model):
    """A slice of a plan that a worker has in hand, or that waits to be done again from `due_at`.

    Size 0 is the making of the plan itself. A slice that is done has no row any more.
    """

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="leases")
    worker = models.ForeignKey(
        RunWorker, models.CASCADE, null=True, blank=True, related_name="leases"
    )
    first = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["run", "first"]

    def __str__(self) -> str:
        return f"{self.first}+{self.size} of run {self.run_id}"


from metrics.dataset_models import DatasetImport as DatasetImport  # noqa: E402
