"""Celery shells: take an id, call the stage."""

from celery import Task, shared_task

from annotation import delivery
from annotation.models import AuditEntry, Campaign

MAX_RETRIES = 7
FIRST_WAIT_SECONDS = 30


@shared_task(bind=True, max_retries=MAX_RETRIES)  # type: ignore[untyped-decorator]
def notify(self: Task, campaign_id: int, channel: str, subject: str, body: str) -> None:
    """Deliver one notification, trying again for about an hour where that helps.

    Each channel is a task of its own, so that a failing webhook repeats no e-mail. How it ended
    is kept in the campaign's audit trail.
    """
    campaign = Campaign.objects.filter(pk=campaign_id).first()
    if campaign is None:
        return
    try:
        _deliver(campaign, channel, subject, body)
    except delivery.TemporaryError as error:
        if self.request.retries < MAX_RETRIES:
            wait = FIRST_WAIT_SECONDS * 2**self.request.retries
            raise self.retry(exc=error, countdown=wait) from error
        _record(campaign, channel, subject, str(error))
    except delivery.DeliveryError as error:
        _record(campaign, channel, subject, str(error))
    else:
        _record(campaign, channel, subject)


def _deliver(campaign: Campaign, channel: str, subject: str, body: str) -> None:
    if channel == "email" and campaign.notify_email:
        delivery.mail(subject, body, [campaign.notify_email])
    elif channel == "webhook" and campaign.notify_webhook:
        secret = delivery.secret_of(campaign.slug)
        delivery.post(campaign.notify_webhook, body.encode(), secret=secret)


def _record(campaign: Campaign, channel: str, subject: str, problem: str = "") -> None:
    AuditEntry.objects.create(
        campaign=campaign,
        action="notification failed" if problem else "notified",
        reason=problem,
        details={"channel": channel, "subject": subject},
    )
