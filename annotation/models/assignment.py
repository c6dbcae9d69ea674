"""Which annotator got which item, in which order."""

import uuid

from django.db import models
from django.db.models import F, Q

from annotation.models.campaign import Item
from annotation.models.people import Annotator


class Assignment(models.Model):
    """An item given to an annotator, at a place in that annotator's own order.

    `public_id` is random, so that addresses tell nothing about the item. In an open pool,
    `claimed_at` is when the person got the item, and `released_at` when it went back to the pool
    unanswered; an answer that comes all the same still counts. The items of a screen are
    assigned together, at neighbouring positions. `condition` says which of an item's suggestions
    are shown in a trial; empty where there is none. Where systems are drawn for each screen,
    `inclusion` is the probability with which the item's system was, and `column` where it stands.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Constraints below begin with it.
    annotator = models.ForeignKey(
        Annotator, models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    position = models.PositiveIntegerField()
    condition = models.CharField(max_length=10, blank=True, default="")
    inclusion = models.FloatField(null=True, blank=True)
    column = models.PositiveSmallIntegerField(null=True, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["annotator", "position"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "item"], name="assignment_once"),
            models.UniqueConstraint(fields=["annotator", "position"], name="assignment_position"),
        ]
        indexes = [
            models.Index(
                F("annotator"),
                F("position"),
                name="assignment_open",
                condition=Q(completed_at__isnull=True),
            ),
            models.Index(
                F("claimed_at"),
                name="assignment_claimed",
                condition=Q(completed_at__isnull=True, released_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class ContextOpening(models.Model):
    """An annotator opened the document around the segment of an item."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="context_openings")
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "opened_at", "id"]

    def __str__(self) -> str:
        return f"{self.assignment_id} {self.opened_at}"
