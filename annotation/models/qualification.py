"""Whether people may rate: attempts at the comprehension test, and stops."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.people import Annotator


class TestAttempt(models.Model):
    """An attempt at the comprehension test; `given` holds the chosen answers, from 0."""

    __test__ = False  # no test case of pytest

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="test_attempts")
    number = models.PositiveSmallIntegerField()
    given = models.JSONField()
    n_right = models.PositiveSmallIntegerField()
    n_asked = models.PositiveSmallIntegerField()
    is_passed = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["annotator", "number"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "number"], name="test_attempt_once"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.n_right} of {self.n_asked}"


class Stop(models.Model):
    """An annotator was stopped: what they wrote, and what was decided; None while nobody did.

    `n_failed` counts the attention checks that were failed, the questions of the test, or the
    screens that were answered faster than anyone can read.
    """

    class Reason(models.TextChoices):
        TEST = "test", _("Comprehension test")
        CHECKS = "checks", _("Control items")
        SPEED = "speed", _("Faster than anyone can read")

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="stops")
    reason = models.CharField(max_length=10, choices=Reason.choices)
    n_failed = models.PositiveIntegerField()
    stopped_at = models.DateTimeField()
    message = models.TextField(blank=True)
    written_at = models.DateTimeField(null=True, blank=True)
    may_go_on = models.BooleanField(null=True, blank=True)
    reply = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["annotator", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["annotator"], condition=Q(may_go_on=None), name="stop_open_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.reason}"
