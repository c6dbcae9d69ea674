"""Judgments, which are only ever added, and human scores published by others."""

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q

from annotation.models.campaign import Assignment, Campaign
from annotation.models.corpus import Output, System

MAX_SCORE = 100


class Judgment(models.Model):
    """One answer to one assignment: a score from 0 to 100.

    A revised answer is a new row with the next `revision`; the older row stays and loses only
    its `is_current` mark. `submit_key` comes from the browser, so that a repeated submit of the
    same form finds its first result instead of adding another. `started_at` is issued by the
    server when the item is shown. Imported judgments may lack times.
    """

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="judgments")
    revision = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    score = models.PositiveSmallIntegerField(validators=[MaxValueValidator(MAX_SCORE)])
    submit_key = models.UUIDField(unique=True)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "revision"]
        constraints = [
            models.CheckConstraint(
                condition=Q(score__gte=0, score__lte=MAX_SCORE), name="judgment_score_range"
            ),
            models.CheckConstraint(
                condition=Q(started_at__isnull=True) | Q(submitted_at__gte=F("started_at")),
                name="judgment_time_order",
            ),
            models.UniqueConstraint(
                fields=["assignment", "revision"], name="judgment_revision_once"
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(is_current=True),
                name="judgment_current_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} r{self.revision}: {self.score}"


class PublishedScore(models.Model):
    """A human score published with a data set: of one output, or of one whole system."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="published_scores")
    output = models.ForeignKey(Output, models.PROTECT, null=True, blank=True, related_name="+")
    system = models.ForeignKey(System, models.PROTECT, null=True, blank=True, related_name="+")
    value = models.FloatField()

    class Meta:
        ordering = ["campaign", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(output__isnull=False, system__isnull=True)
                | Q(output__isnull=True, system__isnull=False),
                name="published_score_one_level",
            ),
            models.UniqueConstraint(fields=["campaign", "output"], name="published_output_once"),
            models.UniqueConstraint(fields=["campaign", "system"], name="published_system_once"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.value}"
