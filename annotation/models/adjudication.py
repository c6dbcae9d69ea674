"""Items on which annotators differ, and what a reviewer decided about them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.campaign import Item


class Disagreement(models.Model):
    """An item whose answers differ by more than its campaign allows.

    `gap` is the greatest difference of two values in points; `overlap` the least F1 of the
    characters that two annotators marked, None where nobody marked any.
    """

    item = models.OneToOneField(Item, models.CASCADE, related_name="disagreement")
    gap = models.FloatField()
    overlap = models.FloatField(null=True, blank=True)
    n_answers = models.PositiveSmallIntegerField()
    found_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["item"]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.gap}"


class Adjudication(models.Model):
    """A reviewer's answer to an item: no judgment of an annotator, and nowhere counted as one.

    As judgments, these are only added: a new decision has the next `revision`, and the one before
    it loses its `is_current` mark. `spans` are [side, start, end, severity, category].
    """

    item = models.ForeignKey(Item, models.PROTECT, related_name="adjudications")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    revision = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    score = models.SmallIntegerField(null=True, blank=True)
    penalty = models.FloatField(null=True, blank=True)
    ratings = models.JSONField(default=dict, blank=True)
    choices = models.JSONField(default=dict, blank=True)
    post_edit = models.TextField(null=True, blank=True)  # noqa: DJ001 - an empty text is an answer
    hter = models.FloatField(null=True, blank=True)
    spans = models.JSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    submit_key = models.UUIDField(unique=True)
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["item", "revision"]
        constraints = [
            models.UniqueConstraint(fields=["item", "revision"], name="adjudication_revision_once"),
            models.UniqueConstraint(
                fields=["item"], condition=Q(is_current=True), name="adjudication_current_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} r{self.revision}"

    @property
    def value(self) -> float:
        """What the decision comes to: higher is better."""
        return float(self.score) if self.score is not None else -float(self.penalty or 0)
