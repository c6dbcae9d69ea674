"""Notifications of a campaign: when it is complete, when it is closed, and when someone is stopped.

`Campaign.notified_at` is set by a conditional UPDATE; who sets it sends the notification. A
campaign that lacks ratings again (reopened, or items given to somebody else) is unmarked, and
its next completion is notified again. Completion is checked when an annotator has no items left,
and by every worker now and then (`work.Notifications.tidy`), which also finds what a crash left.
"""

import json
import logging
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotator, Campaign, Notification
from annotation.models.assignment import wanted
from core.work.sending import send_on_commit

logger = logging.getLogger(__name__)
Channel = Notification.Channel
QUEUE = "mail"
COMPLETE, CLOSED, STOPPED = "complete", "closed", "stopped"
SENTENCES = {COMPLETE: "is complete", CLOSED: "is closed", STOPPED: "has stopped {annotator}"}


def wants_notice(campaign: Campaign) -> bool:
    """Return True if anybody asked for notifications."""
    return bool(campaign.notify_email or campaign.notify_webhook)


def check_complete(campaign: Campaign) -> bool:
    """Tell if the campaign has just become complete; return whether this call did so."""
    if not wants_notice(campaign):
        return False
    done, total, is_complete = wanted(campaign)
    row = Campaign.objects.filter(pk=campaign.pk)
    if not is_complete:
        row.filter(notified_at=campaign.notified_at, notified_at__isnull=False).update(
            notified_at=None
        )
        return False
    with transaction.atomic():
        is_ours = row.filter(notified_at=None).update(notified_at=timezone.now())
        if is_ours:
            _tell(campaign, COMPLETE, done, total)
    return bool(is_ours)


def check_all() -> None:
    """Look at every campaign that somebody wants to hear of, as every worker does now and then."""
    for campaign in _watched():
        check_complete(campaign)


def _watched() -> QuerySet[Campaign]:
    asked = ~Q(notify_email="") | ~Q(notify_webhook="")
    return Campaign.objects.filter(asked, status=Campaign.Status.OPEN)


def after_last_answer(campaign: Campaign) -> None:
    """Notify if the campaign is complete, after an annotator's last item.

    Errors are logged and not raised: the answer is stored and must not look lost.
    """
    try:
        check_complete(campaign)
    except Exception:
        logger.exception("Campaign %s could not be checked for completion", campaign.slug)


def tell_closed(campaign: Campaign) -> None:
    """Tell that a campaign was closed, in the transaction that closes it."""
    if wants_notice(campaign):
        done, total, _ = wanted(campaign)
        _tell(campaign, CLOSED, done, total)


def tell_stopped(person: Annotator) -> None:
    """Tell that somebody was stopped and waits for a decision, in the transaction that stops."""
    campaign = person.campaign
    if wants_notice(campaign):
        done, total, _ = wanted(campaign)
        _tell(campaign, STOPPED, done, total, annotator=person.label)


def _tell(campaign: Campaign, event: str, done: int, total: int, **more: str) -> None:
    """Ask for a notification on every channel; workers hear of it once it is stored."""
    notice = _notice(campaign, event, done, total) | more
    subject = f"{' '.join(campaign.name.split())} {SENTENCES[event].format(**more)}"
    channels = [
        (Channel.EMAIL, campaign.notify_email, _mail_text(subject, notice)),
        (Channel.WEBHOOK, campaign.notify_webhook, json.dumps(notice)),
    ]
    rows = [
        Notification(campaign=campaign, channel=channel, subject=subject, body=body, queue=QUEUE)
        for channel, address, body in channels
        if address
    ]
    send_on_commit(Notification.objects.bulk_create(rows))


def _notice(campaign: Campaign, event: str, done: int, total: int) -> dict[str, Any]:
    """Return the body of a webhook; `id` distinguishes a repeated delivery from another event."""
    address = campaign.get_absolute_url()
    if event == STOPPED:
        address = reverse("access", args=[campaign.slug])
    return {
        "id": str(uuid4()),
        "event": event,
        "campaign": campaign.slug,
        "url": f"{settings.SITE_URL}{address}",
        "done": done,
        "total": total,
        "at": timezone.now().isoformat(timespec="seconds"),
    }


def _mail_text(subject: str, notice: dict[str, Any]) -> str:
    return (
        f"{subject}: {notice['done']:,} of {notice['total']:,} judgments are there.\n\n"
        f"{notice['url']}\n"
    )
