"""Notifications and letters as background jobs (`core.work`), retried for about an hour."""

import time
from typing import Any

from celery import shared_task
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation import notices
from annotation.models import AuditEntry, Campaign, Letter, Notification
from annotation.notifications import delivery, enclosed
from annotation.notifications import letters as mails
from core.messages import messages_of
from core.work.claims import fail, finish, hold, retry
from core.work.kinds import Lease, WorkKind
from core.work.sending import send_on_commit
from metaeval.messages import Message, message

FIRST_WAIT_SECONDS = 30
LOOK_SECONDS = 60.0
Channel = Notification.Channel


class Notifications(WorkKind[Notification]):
    """One row per channel, so that a failed webhook does not repeat an e-mail."""

    name = "notification"
    model = Notification
    max_attempts = 8
    soft_seconds, hard_seconds = 120.0, 150.0
    looked_at = -LOOK_SECONDS

    def do(self, row: Notification, lease: Lease) -> None:
        """Deliver; retry after 30 s, 60 s, … if that may help."""
        try:
            _deliver(row)
        except delivery.TemporaryError as error:
            retry(row, error.message, seconds=FIRST_WAIT_SECONDS * 2**row.attempts)
        except delivery.DeliveryError as error:
            fail(row, error.message)
        else:
            with transaction.atomic():
                if finish(row):
                    _record(row)

    def ended(self, row: Notification) -> None:
        """Record in the audit trail why it failed."""
        _record(row, row.message)

    def tidy(self) -> None:
        """Look for campaigns that have become complete, also after a crash."""
        if time.monotonic() - self.looked_at >= LOOK_SECONDS:
            self.looked_at = time.monotonic()
            notices.check_all()


notifications = Notifications()


class Letters(WorkKind[Letter]):
    """Handed over at most once: one that a mail server may have is never sent again."""

    name = "letter"
    model = Letter
    max_attempts = 8
    soft_seconds, hard_seconds = 120.0, 150.0

    def do(self, row: Letter, lease: Lease) -> None:
        """Send it with a new link. If it is refused, the previous link still works."""
        problem = UNSURE if row.begun_at else mails.missing()
        if problem:
            fail(row, problem)
            return
        try:
            server = delivery.mail_server()
        except delivery.DeliveryError as error:
            _try_again(row, error)
            return
        try:
            if (link := _begin(row)) is not None:
                _hand_over(row, server, link)
        except ValidationError as error:
            fail(row, messages_of(error)[0])
        finally:
            server.close()


letters = Letters()
UNSURE = message(
    "mail.unsure",
    "The mail server did not answer, so the e-mail may have arrived. Ask before you send another "
    "one: it replaces the link.",
)


def _begin(row: Letter) -> enclosed.MadeLink | None:
    """Make the link and record that; None if another process has the row now."""
    with transaction.atomic():
        if not hold(row, begun_at=timezone.now()):
            return None
        return enclosed.make(row)


def _hand_over(row: Letter, server: Any, link: enclosed.MadeLink) -> None:
    text = row.body.replace(Letter.LINK, link.address)
    try:
        delivery.hand_over(server, row.subject, text, row.address)
    except delivery.UnsureError:
        fail(row, UNSURE)
    except delivery.DeliveryError as error:
        with transaction.atomic():
            if hold(row, begun_at=None):
                link.undo()
        _try_again(row, error)
    else:
        finish(row, accepted_at=timezone.now(), message="")


def _try_again(row: Letter, error: delivery.DeliveryError) -> None:
    if isinstance(error, delivery.TemporaryError):
        retry(row, error.message, seconds=FIRST_WAIT_SECONDS * 2**row.attempts)
    else:
        fail(row, error.message)


@shared_task(name="annotation.tasks.notify")  # type: ignore[untyped-decorator]
def take_over(campaign_id: int, channel: str, subject: str, body: str) -> None:
    """Take over a notification of a version without rows, so that an upgrade loses none."""
    if Campaign.objects.filter(pk=campaign_id).exists():
        about = {"channel": channel, "subject": subject, "body": body, "queue": notices.QUEUE}
        send_on_commit([Notification.objects.create(campaign_id=campaign_id, **about)])


def _deliver(row: Notification) -> None:
    """Deliver to the current addresses of the campaign."""
    campaign = row.campaign
    if row.channel == Channel.EMAIL and campaign.notify_email:
        delivery.mail(row.subject, row.body, [campaign.notify_email])
    elif row.channel == Channel.WEBHOOK and campaign.notify_webhook:
        secret = delivery.secret_of(campaign.slug)
        delivery.post(campaign.notify_webhook, row.body.encode(), secret=secret)


def _record(row: Notification, problem: Message | str = "") -> None:
    AuditEntry.objects.create(
        campaign_id=row.campaign_id,
        action="notification failed" if problem else "notified",
        reason=problem,  # type: ignore[misc]  # MessageField
        details={"channel": row.channel, "subject": row.subject},
    )
