"""What is to be told about a campaign, each channel by itself: a webhook that fails repeats no
e-mail."""

from django.db import models

from annotation.models.campaign import Campaign
from config.work.models import Work


class Notification(Work):
    """An e-mail or a webhook on its way. How it ended stands in the campaign's audit trail."""

    class Channel(models.TextChoices):
        EMAIL = "email", "E-mail"
        WEBHOOK = "webhook", "Webhook"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="notifications")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    subject = models.CharField(max_length=300)
    body = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["status"], name="notification_status")]

    def __str__(self) -> str:
        return self.subject
