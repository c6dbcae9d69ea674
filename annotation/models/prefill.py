"""Errors marked beforehand: where a campaign has them from, and what annotators made of them."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.campaign import Campaign
from annotation.models.corpus import Output
from annotation.models.judgment import Judgment


class Prefill(models.Model):
    """The source of a campaign's suggestions, and the built-in trial.

    The four shares are percentages of the documents that each annotator gets; without a trial all
    documents are prefilled. `details` has files, signature and skipped errors; `design` has the
    counts that were drawn when the campaign was opened. `seed` draws conditions, planted
    errors and withheld ones.
    """

    class Source(models.TextChoices):
        FILE = "file", _("An uploaded file")
        METRIC = "metric", _("A metric")
        PEARMUT = "pearmut", _("The campaign of Pearmut")

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="prefill")
    source = models.CharField(max_length=10, choices=Source.choices)
    label = models.CharField(max_length=200)
    gold_label = models.CharField(max_length=200, blank=True)
    blank = models.PositiveSmallIntegerField(default=0)
    prefilled = models.PositiveSmallIntegerField(default=100)
    planted = models.PositiveSmallIntegerField(default=0)
    withheld = models.PositiveSmallIntegerField(default=0)
    seed = models.PositiveBigIntegerField(default=1)
    details = models.JSONField(default=dict, blank=True)
    design = models.JSONField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.label}"

    @property
    def is_trial(self) -> bool:
        """Whether some documents are shown otherwise than prefilled."""
        return self.prefilled < 100


class OutputSuggestions(models.Model):
    """What is to be suggested of one output, and its adjudicated errors, until items are made.

    Each is a list of [side, start, end, severity, category]; None where nobody looked.
    """

    prefill = models.ForeignKey(Prefill, models.CASCADE, related_name="outputs")
    output = models.ForeignKey(Output, models.CASCADE, related_name="+")
    spans = models.JSONField(null=True, blank=True)
    gold = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["prefill", "output"]
        constraints = [
            models.UniqueConstraint(fields=["prefill", "output"], name="output_suggestions_once"),
        ]

    def __str__(self) -> str:
        return f"{self.prefill_id}: {self.output_id}"


class SuggestionFate(models.Model):
    """What became of one suggestion in one judgment.

    `number` is its place among those that were shown, from 0. The span is as the annotator left
    it; of a deleted one, as it was shown. What is left of a planted error stands here alone and is
    no error span of the judgment, so that nothing that reads those can take it for one.
    """

    class Origin(models.TextChoices):
        SUGGESTED = "suggested", _("Suggested")
        PLANTED = "planted", _("Planted")

    class Fate(models.TextChoices):
        KEPT = "kept", _("Kept")
        MOVED = "moved", _("Moved")
        SEVERITY = "severity", _("Severity changed")
        CATEGORY = "category", _("Category changed")
        DELETED = "deleted", _("Deleted")

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="fates")
    number = models.PositiveSmallIntegerField()
    origin = models.CharField(max_length=10, choices=Origin.choices)
    fate = models.CharField(max_length=10, choices=Fate.choices)
    side = models.CharField(max_length=6)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    severity = models.CharField(max_length=20)
    category = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["judgment", "number"]
        constraints = [
            models.UniqueConstraint(fields=["judgment", "number"], name="suggestion_fate_once"),
        ]

    def __str__(self) -> str:
        return f"{self.judgment_id} {self.number}: {self.fate}"
