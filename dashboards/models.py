"""Computed documents of pages, which can be computed again, and saved selections."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from annotation.models import Campaign
from core.messages import MessageField
from core.work.models import Work


class Analysis(Work):
    """The newest document of one question, and the job that computes a newer one.

    A question is a kind of analysis of a campaign under some filters; input that readers state is
    analysed without a campaign. `payload` is the compressed JSON document, empty before there is
    one. `basis` is a hash of all data that it uses and `as_of` their time, so a document can be old
    but not wrong. `problem` is the reason why no newer one could be computed. A row that has ended
    is not computed again before `not_before`.
    """

    kind = models.CharField(max_length=40)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="analyses", null=True)
    filters = models.JSONField(default=dict)
    question = models.CharField(max_length=64, unique=True)
    payload = models.BinaryField(default=b"")
    basis = models.CharField(max_length=64, blank=True)
    as_of = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    problem = MessageField(blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["status", "queue"], name="analysis_waiting")]

    def __str__(self) -> str:
        return f"{self.kind} of campaign {self.campaign_id or 'none'}"


class Selection(models.Model):
    """Points of a campaign's scatter plot, with a name and a note of its owner.

    `query` is that of the plot's address, without defaults; the points are computed from the
    current data. All readers of the campaign see it; its owner deletes it.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="selections")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    note = models.TextField(blank=True, max_length=2000)
    query = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "name"], name="selection_name")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The address to share, that of the plot."""
        return reverse("selection", args=[self.campaign.slug, self.pk])
