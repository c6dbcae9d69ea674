"""Computed documents of the pages. Everything here can be computed again."""

from typing import ClassVar

from django.db import models

from annotation.models import Campaign
from config.work.models import Work


class Analysis(Work):
    """The newest document of one question, and the wish for a newer one.

    A question is a kind of analysis of a campaign under some filters; what readers state
    themselves is analysed without a campaign. `payload` is the compressed JSON document, empty
    before there is one. `basis` is a hash of all that it rests on and `as_of` the time of that, so
    a document never becomes wrong, only old. `problem` is why no newer one could be computed. A
    row that has ended is not asked for again before `not_before`.
    """

    kind = models.CharField(max_length=40)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="analyses", null=True)
    filters = models.JSONField(default=dict)
    question = models.CharField(max_length=64, unique=True)
    payload = models.BinaryField(default=b"")
    basis = models.CharField(max_length=64, blank=True)
    as_of = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    problem = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["status", "queue"], name="analysis_waiting")]

    def __str__(self) -> str:
        return f"{self.kind} of campaign {self.campaign_id or 'none'}"
