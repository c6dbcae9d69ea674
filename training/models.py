"""Parallel text, jobs that make metrics and models of it, what preference analyses found, and
translations of test sets."""

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from annotation.models import Segment, System, TestSet
from annotation.uploads.drafts import label as system_label
from core.work.models import Work
from metrics.models import ConfiguredMetric
from training.contract import KINDS

# What ReFreeEval's reports name, in words.
LEVELS = {
    "teacher": "cosines of the sentence encoder",
    "sentence": "sentence level",
    "word": "word level",
}


class ParallelCorpus(models.Model):
    """Cleaned parallel text. Its pairs lie in the database, so that workers on any host have them.

    `report` is the :class:`training.parallel.reading.Cleaning` of the upload; `sha256` that of the
    kept pairs, by which results name it.
    """

    name = models.SlugField(max_length=60, unique=True)
    source_language = models.CharField(max_length=20)
    target_language = models.CharField(max_length=20)
    n_pairs = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    report = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "parallel corpora"

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("corpus", args=[self.name])

    @property
    def direction(self) -> str:
        """Both languages, as test sets show them."""
        return f"{self.source_language}→{self.target_language}"


class CorpusText(models.Model):
    """The pairs of a corpus: zlib-compressed TSV (`training.parallel.reading.write_pairs`)."""

    corpus = models.OneToOneField(ParallelCorpus, models.CASCADE, related_name="text")
    packed = models.BinaryField()

    def __str__(self) -> str:
        return f"Pairs of {self.corpus_id}"


class TrainingJob(Work):
    """One fit, training or analysis, worked off by whichever worker claims it.

    `options` are checked by the kind before the row exists. `progress` is what pages show while
    the job runs, `result` what it found. `sweep` names the jobs that were started together. One
    that `is_here` is worked off by the command that started it: no worker takes it. `lacks` says,
    by host, what keeps workers from a job that waits.
    """

    kind = models.CharField(max_length=40)
    name = models.CharField(max_length=60)
    sweep = models.CharField(max_length=60, blank=True, default="", db_index=True)
    corpora = models.ManyToManyField(ParallelCorpus, blank=True, related_name="jobs")
    options = models.JSONField(default=dict)
    progress = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    metric = models.ForeignKey(
        ConfiguredMetric, models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    is_here = models.BooleanField(default=False)
    lacks = models.JSONField(default=dict)
    worker = models.CharField(max_length=200, blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["status", "queue"], name="job_status")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("job", args=[self.pk])

    @property
    def heartbeat_at(self) -> datetime | None:
        """The last sign of life of who works on it."""
        return self.expires_at and self.expires_at - timedelta(seconds=settings.RUN_STALE_SECONDS)

    @property
    def settings(self) -> dict[str, Any]:
        """The options in the order of the form: databases keep no order in JSON."""
        known = [option.name for option in KINDS[self.kind].options] if self.kind in KINDS else []
        names = dict.fromkeys([*known, *self.options])
        return {name: self.options[name] for name in names if name in self.options}

    @property
    def label(self) -> str:
        """The kind as people know it."""
        return KINDS[self.kind].label if self.kind in KINDS else self.kind

    @property
    def folder(self) -> Path:
        """Where the job keeps its checkpoints, below TRAINED_DIR."""
        return Path(settings.TRAINED_DIR) / f"{self.pk}-{self.name}"

    @property
    def may_go_on(self) -> bool:
        """Whether it ended before it was done."""
        return self.status in (self.Status.FAILED, self.Status.CANCELLED)

    @property
    def fraction(self) -> float | None:
        """How much is done, from 0 to 1, where the kind says."""
        step, total = self.progress.get("step"), self.progress.get("total")
        return step / total if step is not None and total else None

    @property
    def stage(self) -> str:
        """What the worker is at, in words; empty where the kind does not say."""
        level = str(self.progress.get("level", ""))
        return str(self.progress.get("stage", "")) or LEVELS.get(level, level)


class PreferenceFile(models.Model):
    """A file that a condition of a preference analysis reads, as it was uploaded, compressed.

    It lies in the database, so that workers on any host have it.
    """

    job = models.ForeignKey(TrainingJob, models.CASCADE, related_name="files")
    condition = models.CharField(max_length=20)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    packed = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "condition"], name="preference_file_once")
        ]

    def __str__(self) -> str:
        return self.name


class PreferenceResult(models.Model):
    """One measure of a metric under one condition (:class:`metaeval.Preference`).

    `statistic` is the share of segments with d > 0, `low` to `high` its interval. `differences`
    are d of every segment of the test set in its order, little-endian float64, nan where a segment
    was left out. `rules` is the edition of :mod:`training.perturbations.rules` that altered texts,
    `coverage` the mean share of source words that a dictionary knew, where one was used.
    """

    job = models.ForeignKey(TrainingJob, models.CASCADE, related_name="preferences")
    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="preferences")
    metric = models.CharField(max_length=60)
    condition = models.CharField(max_length=20)
    measure = models.CharField(max_length=80)
    label = models.CharField(max_length=160)
    signature = models.TextField()
    n = models.PositiveIntegerField()
    statistic = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    mean = models.FloatField(null=True)
    median = models.FloatField(null=True)
    ties = models.FloatField(null=True)
    differences = models.BinaryField()
    rules = models.PositiveSmallIntegerField(default=1)
    coverage = models.FloatField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["job", "condition", "measure"], name="preference_result_once"
            )
        ]
        indexes = [models.Index(fields=["test_set", "condition"], name="preference_of_set")]

    def __str__(self) -> str:
        return f"{self.label}, {self.condition}, of test set {self.test_set_id}"


class Translation(Work):
    """A test set as it is translated to one wanted length, until it is stored as a system.

    `request` is :class:`training.translation.requests.Request`, `model` a checkpoint's name
    or directory. `result` says what the system came from and how it keeps the wanted lengths.
    One that `is_here` is worked off by the command that asked for it; `lacks` is as a job's.
    """

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="translations")
    name = models.CharField(max_length=120)
    model = models.TextField()
    job = models.ForeignKey(
        TrainingJob, models.SET_NULL, null=True, blank=True, related_name="translations"
    )
    request = models.JSONField(default=dict)
    progress = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    system = models.OneToOneField(
        System, models.SET_NULL, null=True, blank=True, related_name="translation"
    )
    is_here = models.BooleanField(default=False)
    lacks = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["status", "queue"], name="translation_status")]

    def __str__(self) -> str:
        return self.label

    def get_absolute_url(self) -> str:
        return reverse("translation", args=[self.pk])

    @property
    def share(self) -> Decimal:
        """The wanted length as a share: the system's length ratio."""
        return Decimal(str(self.request["share"]))

    @property
    def label(self) -> str:
        """The system as people write it."""
        return system_label(self.name, self.share)

    @property
    def fraction(self) -> float | None:
        """How much is done, from 0 to 1, once that is known."""
        step, total = self.progress.get("step"), self.progress.get("total")
        return step / total if step is not None and total else None


class TranslatedText(models.Model):
    """An output with its wanted and its own length, in the unit of the request, and its pieces.

    They are kept beside the stored system: this is where an output's lengths are known from.
    """

    translation = models.ForeignKey(Translation, models.CASCADE, related_name="texts")
    segment = models.ForeignKey(Segment, models.CASCADE, related_name="+")
    text = models.TextField(blank=True)
    wanted = models.PositiveIntegerField(null=True)
    length = models.PositiveIntegerField()
    pieces = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["translation", "segment"], name="translated_once")
        ]

    def __str__(self) -> str:
        return f"{self.translation_id}:{self.segment_id}"
