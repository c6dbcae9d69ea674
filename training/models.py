"""Parallel corpora, training jobs, results of preference analyses, translations of test sets."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from annotation.models import Project, Segment, System, TestSet
from annotation.uploads.drafts import label as system_label
from core.work.models import Work
from metaeval.messages import Message, from_json, message
from metrics.models import ConfiguredMetric
from training.contract import KINDS, LEVELS
from training.verdicts import Verdict, verdict_of

WARNINGS = "warnings"  # their key in results


class ParallelCorpus(models.Model):
    """Cleaned parallel text. Its pairs are in the database, so that workers on any host have them.

    `report` is the :class:`training.parallel.reading.Cleaning` of the upload. `sha256` is that of
    the stored pairs; results refer to it.
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
    """One fit, training or analysis, which any worker may claim.

    The kind checks `options` before the row exists. `progress` is what pages show while the job
    runs; `result` is its result. `sweep` names jobs that were started together. If `is_here`, the
    command that started the job runs it, and no worker takes it. `lacks` has, by host, what keeps
    workers from taking the job. A job of a project is seen by its members alone.
    """

    kind = models.CharField(max_length=40)
    name = models.CharField(max_length=60)
    project = models.ForeignKey(Project, models.PROTECT, null=True, blank=True, related_name="jobs")
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
        """Return when its worker last reported."""
        return self.expires_at and self.expires_at - timedelta(seconds=settings.RUN_STALE_SECONDS)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the options in the order of the form: databases do not keep that of JSON."""
        known = [option.name for option in KINDS[self.kind].options] if self.kind in KINDS else []
        names = dict.fromkeys([*known, *self.options])
        return {name: self.options[name] for name in names if name in self.options}

    @property
    def label(self) -> Message | str:
        """Return the label of the kind; its key if the kind is unknown."""
        return KINDS[self.kind].label if self.kind in KINDS else self.kind

    @property
    def title(self) -> Message:
        """Return number and name, as sentences name the job."""
        return message("training.job", "job {number}, {name}", number=str(self.pk), name=self.name)

    @property
    def lacking(self) -> dict[str, list[Message]]:
        """Return by host what it lacks for the job."""
        return lacking_by_host(self.lacks)

    @property
    def warnings(self) -> list[Message]:
        """Return the warnings of its result."""
        return warnings_in(self.result)

    @property
    def verdict(self) -> Verdict | None:
        """Return what it learned and whether to use that; None without a result."""
        return verdict_of(self.kind, self.options, self.result, self.warnings)

    @property
    def folder(self) -> Path:
        """Return the folder of its checkpoints, below TRAINED_DIR."""
        return Path(settings.TRAINED_DIR) / f"{self.pk}-{self.name}"

    @property
    def may_go_on(self) -> bool:
        """Return True if it ended before it was done."""
        return self.status in (self.Status.FAILED, self.Status.CANCELLED)

    @property
    def fraction(self) -> float | None:
        """Return how much is done, from 0 to 1; None if the kind does not report it."""
        step, total = self.progress.get("step"), self.progress.get("total")
        return step / total if step is not None and total else None

    @property
    def stage(self) -> Message | None:
        """Return what the worker is doing; None if the kind does not report it."""
        stage = self.progress.get("stage")
        return stored_message(stage) if stage else LEVELS.get(self.progress.get("level", ""))


def lacking_by_host(lacks: Mapping[str, Sequence[Any]]) -> dict[str, list[Message]]:
    """Return the messages that were stored by host."""
    return {host: [stored_message(each) for each in found] for host, found in lacks.items()}


def warnings_in(result: Mapping[str, Any]) -> list[Message]:
    """Return the warnings of a result."""
    return [stored_message(each) for each in result.get(WARNINGS, ())]


def stored_message(value: Any) -> Message:
    """Return a message from JSON; text that earlier versions stored is not translated."""
    if isinstance(value, Message):
        return value
    if isinstance(value, Mapping):
        return from_json(value)
    return message("stored.text", "{text}", text=str(value))


class PreferenceFile(models.Model):
    """An uploaded file that a condition of a preference analysis reads, compressed.

    It is in the database, so that workers on any host have it.
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
    has d of every segment of the test set in order, little-endian float64, nan for an excluded
    segment. `rules` is the version of :mod:`training.perturbations.rules` that altered the texts.
    `coverage` is the mean share of source words in the dictionary, if one was used.
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
    """A translation of a test set to one target length, which is stored as a system.

    `request` is :class:`training.translation.requests.Request`, `model` the name or folder of a
    checkpoint. `result` has the origin of the system and how well it keeps the target lengths.
    If `is_here`, the command that started the translation runs it. `lacks` is as that of a job.
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
        """Return the target length as a ratio: the length ratio of the system."""
        return Decimal(str(self.request["share"]))

    @property
    def label(self) -> str:
        """Return the name of the system with its length ratio."""
        return system_label(self.name, self.share)

    @property
    def fraction(self) -> float | None:
        """Return how much is done, from 0 to 1; None if that is not known yet."""
        step, total = self.progress.get("step"), self.progress.get("total")
        return step / total if step is not None and total else None

    @property
    def lacking(self) -> dict[str, list[Message]]:
        """Return by host what it lacks for the translation."""
        return lacking_by_host(self.lacks)


class TranslatedText(models.Model):
    """An output with its target length and its length in the unit of the request, and in pieces.

    The system does not store these lengths.
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
