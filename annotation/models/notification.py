"""Messages to send, one row per address, so that a failing webhook repeats no e-mail."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.campaign import Campaign
from annotation.models.people import Annotator
from core.work.models import Work


class Notification(Work):
    """An e-mail or a webhook to send; the campaign's audit entries record the result."""

    class Channel(models.TextChoices):
        EMAIL = "email", _("E-mail")
        WEBHOOK = "webhook", _("Webhook")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="notifications")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    subject = models.CharField(max_length=300)
    body = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["status"], name="notification_status")]

    def __str__(self) -> str:
        return self.subject


class Letter(Work):
    """An e-mail that brings one person a link: to rate, or to set the password of an account.

    `body` holds `{link}` where the link is to stand: the link is made when the letter is sent, and
    is stored nowhere. `sheet` names the form it was asked for with, so that one sent twice asks
    once. From `begun_at` on the mail server may have it, and it is never handed over again.
    """

    LINK = "{link}"

    annotator = models.ForeignKey(
        Annotator, models.CASCADE, null=True, blank=True, related_name="letters"
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="letters"
    )
    sheet = models.UUIDField()
    address = models.EmailField()
    subject = models.CharField(max_length=300)
    body = models.TextField()
    site = models.CharField(max_length=200)
    link_expires_at = models.DateTimeField(null=True, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["status"], name="letter_status")]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "annotator"], name="letter_annotator_once"),
            models.UniqueConstraint(fields=["sheet", "account"], name="letter_account_once"),
            models.CheckConstraint(
                condition=Q(annotator__isnull=True) ^ Q(account__isnull=True),
                name="letter_to_one_person",
            ),
        ]

    def __str__(self) -> str:
        return self.subject
