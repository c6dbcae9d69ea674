"""Error spans of metrics, stored with their scores."""

from django.db import models
from django.db.models import Q

from annotation.models import Output
from metrics.models.scores import MetricSignature


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
