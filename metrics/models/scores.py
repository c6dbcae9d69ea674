"""Scores, stored once per signature and content, and scores that were computed elsewhere."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models import Output, System, TestSet
from core.messages import MessageField
from core.work.models import Work


class MetricSignature(models.Model):
    """A metric in the exact form that computed its scores.

    `measures` names the values of a score row, `statistics` the additive counts behind them, from
    which a corpus score of any set of segments is computed.
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
    text that several systems or test sets share is scored once. `is_truncated` says whether the
    metric read only a part of the texts; null where that is not known, as of scores that were
    stored before it was recorded.
    """

    # The constraint below is the index.
    signature = models.ForeignKey(
        MetricSignature, models.CASCADE, related_name="scores", db_index=False
    )
    content_key = models.CharField(max_length=32)
    values = models.BinaryField()
    is_truncated = models.BooleanField(null=True)

    class Meta:
        ordering = ["signature", "content_key"]
        constraints = [
            models.UniqueConstraint(fields=["signature", "content_key"], name="segment_score_once"),
        ]

    def __str__(self) -> str:
        return f"{self.signature_id}:{self.content_key}"


class ImportedScores(models.Model):
    """One system's imported scores under the signature of an import: of outputs and of wholes.

    Stored by system and segment, not by content: imported scores may differ for equal texts
    (metrics of documents, random controls), and test sets may have no texts. `segments` packs ids
    in ascending order as int64, `values` their scores as float64, both little-endian; `value` is
    the system score, if it was imported. `parts` has the scores of documents and domains as pairs
    of a name and a score, by `document` and `domain`.
    """

    signature = models.ForeignKey(MetricSignature, models.CASCADE, related_name="imported")
    system = models.ForeignKey(System, models.CASCADE, related_name="imported_scores")
    value = models.FloatField(null=True, blank=True)
    segments = models.BinaryField(default=bytes)
    values = models.BinaryField(default=bytes)
    parts = models.JSONField(default=dict)

    class Meta:
        ordering = ["signature", "system"]
        constraints = [
            models.UniqueConstraint(fields=["signature", "system"], name="imported_system_once"),
        ]

    def __str__(self) -> str:
        return f"{self.signature_id}:{self.system_id}"


class MetricImport(models.Model):
    """One import of scores of one metric on one test set.

    `signature` contains all scores that the metric then had on the test set. The newest import that
    is not withdrawn is shown. Rows are never changed except for being withdrawn. `provenance` is
    the origin of the scores, a message or a person's own text; `files` are the names and SHA-256 of
    the files. `n_parts` counts scores of documents and domains.
    """

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="metric_imports")
    metric = models.CharField(max_length=60)
    signature = models.ForeignKey(MetricSignature, models.PROTECT, related_name="imports")
    provenance = MessageField(blank=True)
    files = models.JSONField(default=list)
    n_outputs = models.PositiveIntegerField()
    n_systems = models.PositiveIntegerField()
    n_parts = models.PositiveIntegerField(default=0)
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


class SegmentSpans(models.Model):
    """All spans that a metric found in one content; an empty list if it found none.

    Keyed by content like scores; imported spans belong to one `output`. `spans` lists side, start,
    end, severity, category and confidence (:class:`metrics.error_spans.FoundSpan`).
    """

    signature = models.ForeignKey(MetricSignature, models.CASCADE, related_name="spans")
    content_key = models.CharField(max_length=32)
    output = models.ForeignKey(Output, models.CASCADE, null=True, blank=True, related_name="+")
    spans = models.JSONField()

    class Meta:
        ordering = ["signature", "content_key"]
        constraints = [
            models.UniqueConstraint(
                fields=["signature", "content_key"],
                condition=Q(output__isnull=True),
                name="segment_spans_once",
            ),
            models.UniqueConstraint(fields=["signature", "output"], name="imported_spans_once"),
        ]

    def __str__(self) -> str:
        return f"{self.signature_id}:{self.content_key}"
