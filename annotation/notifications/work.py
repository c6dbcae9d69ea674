"""Notifications as work (`config.work`): delivered, tried again for about an hour, or given up."""

import time

from celery import shared_task
from django.db import transaction

from annotation.models import AuditEntry, Campaign, Notification
from annotation.notifications import delivery, events
from config.work.claims import fail, finish, retry
from config.work.kinds import Kind
from config.work.lease import Lease
from config.work.sending import send_on_commit

FIRST_WAIT_SECONDS = 30
LOOK_SECONDS = 60.0
Channel = Notification.Channel


class Notifications(Kind[Notification]):
    """A row for each channel, so that a webhook that fails repeats no e-mail."""

    name = "notification"
    model = Notification
    max_attempts = 8
    soft_seconds, hard_seconds = 120.0, 150.0
    looked_at = -LOOK_SECONDS

    def do(self, row: Notification, lease: Lease) -> None:
        """Deliver; another try comes after 30 s, 60 s, … where that may help."""
        try:
            _deliver(row)
        except delivery.TemporaryError as error:
            retry(row, str(error), seconds=FIRST_WAIT_SECONDS * 2**row.attempts)
        except delivery.DeliveryError as error:
            fail(row, str(error))
        else:
            with transaction.atomic():
                if finish(row):
                    _record(row)

    def ended(self, row: Notification) -> None:
        """Say in the audit trail why it was given up."""
        _record(row, row.message)

    def tidy(self) -> None:
        """Look for campaigns that have become complete, also where a crash left that untold."""
        if time.monotonic() - self.looked_at >= LOOK_SECONDS:
            self.looked_at = time.monotonic()
            events.check_all()


notifications = Notifications()


@shared_task(name="annotation.tasks.notify")  # type: ignore[untyped-decorator]
def take_over(campaign_id: int, channel: str, subject: str, body: str) -> None:
    """Take over a message of the time when notifications had no rows: an upgrade loses none."""
    if Campaign.objects.filter(pk=campaign_id).exists():
        about = {"channel": channel, "subject": subject, "body": body, "queue": events.QUEUE}
        send_on_commit([Notification.objects.create(campaign_id=campaign_id, **about)])


def _deliver(row: Notification) -> None:
    """To the addresses of today: who took theirs away is told nothing more."""
    campaign = row.campaign
    if row.channel == Channel.EMAIL and campaign.notify_email:
        delivery.mail(row.subject, row.body, [campaign.notify_email])
    elif row.channel == Channel.WEBHOOK and campaign.notify_webhook:
        secret = delivery.secret_of(campaign.slug)
        delivery.post(campaign.notify_webhook, row.body.encode(), secret=secret)


def _record(row: Notification, problem: str = "") -> None:
    AuditEntry.objects.create(
        campaign_id=row.campaign_id,
        action="notification failed" if problem else "notified",
        reason=problem,
        details={"channel": row.channel, "subject": row.subject},
    )
